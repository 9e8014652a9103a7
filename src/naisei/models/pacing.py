"""Pacing of calls: concurrency, rate limits, retries, no idle pauses."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from naisei.models.base import ModelSettings, Transient

# Calls that run until they really have to wait.
#
# HTTP libraries often yield only to be fair to other tasks. With dozens of concurrent calls
# this creates waves: all requests are prepared in turns and sent together, all replies arrive
# together, and the endpoint idles while they are processed. Skipping such yields sends each
# request as soon as it is ready, so preparing one overlaps with waiting for the others.

T = TypeVar("T")

#: Most pauses skipped in a row; more mean waiting for another task.
_IN_A_ROW = 100


class Eager(Generic[T]):
    """`await Eager(coroutine)`: like `await coroutine`, without its bare pauses.

    A bare pause is what `asyncio.sleep(0)` does. Real waits are unaffected.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, T]:
        coroutine, passed = self._coroutine, 0
        thrown: BaseException | None = None
        try:
            while True:
                try:
                    if thrown is None:
                        waits_for = coroutine.send(None)
                    else:
                        waits_for = coroutine.throw(thrown)
                except StopIteration as stop:
                    result: T = stop.value
                    return result
                thrown = None
                if waits_for is None and passed < _IN_A_ROW:
                    passed += 1
                    continue
                passed = 0
                try:
                    yield waits_for
                except GeneratorExit:
                    raise
                except BaseException as error:
                    thrown = error
        finally:
            coroutine.close()


class Bucket:
    """A token bucket: refills evenly with `per_minute` units, up to `burst`.

    The balance may be negative: the next caller waits until it is refilled.

    Args:
        per_minute: > 0.
        burst: units that may be taken at once; a second's worth (at least 1) by default.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        per_minute: float,
        *,
        burst: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate = per_minute / 60
        self._burst = max(1.0, self._rate) if burst is None else burst
        self._clock = clock
        self._level, self._at = self._burst, clock()

    def take(self, units: float) -> float:
        """Take `units`, on credit if necessary. Returns seconds to wait first."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        wait = max(0.0, (min(units, self._burst) - self._level) / self._rate)
        self._level -= units
        return wait

    def give_back(self, units: float) -> None:
        """Correct an estimate: return unused units (negative: used in excess)."""
        self._level = min(self._burst, self._level + units)


class Throttle:
    """Limits the load on a model's endpoint; every request in flight holds it."""

    def __init__(self, settings: ModelSettings | None = None) -> None:
        given = settings or ModelSettings()
        self._slots = asyncio.Semaphore(given.concurrency)
        requests, tokens = given.requests_per_minute, given.tokens_per_minute
        self._requests = None if requests is None else Bucket(requests)
        # Replies are bursts of some thousand tokens: allow half a minute's worth at once.
        self._tokens = None if tokens is None else Bucket(tokens, burst=tokens / 2)

    @asynccontextmanager
    async def request(self, estimate: int) -> AsyncIterator[None]:
        """Wait until the limits allow a request of about `estimate` tokens."""
        async with self._slots:
            wait = self._requests.take(1) if self._requests else 0.0
            if self._tokens:
                wait = max(wait, self._tokens.take(estimate))
            if wait > 0:
                await asyncio.sleep(wait)
            yield

    def used(self, tokens: int, estimate: int) -> None:
        """Replace a finished request's estimate by its actual tokens."""
        if self._tokens:
            self._tokens.give_back(estimate - tokens)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retry policy of a call.

    attempts: total requests, ≥ 1. first_wait, longest_wait: seconds; the wait doubles from
    one to the other, half of it random, so that calls that failed together do not retry
    together. max_retry_after: the longest `Retry-After` honoured. connect_attempts: attempts at
    an endpoint that has never answered. resends: how often the identical request is resent after
    an unusable reply.
    """

    attempts: int = 10
    first_wait: float = 0.25
    longest_wait: float = 30.0
    max_retry_after: float = 300.0
    connect_attempts: int = 3
    resends: int = 5

    def wait(self, attempt: int, error: Transient) -> float:
        """Seconds to wait after attempt `attempt`: the endpoint's request, or backoff."""
        steps = min(attempt - 1, 30)
        backoff = min(self.longest_wait, self.first_wait * 2.0**steps)
        backoff *= random.uniform(0.5, 1.0)
        if (wish := error.retry_after) is None:
            return backoff
        # Do not hammer an endpoint that keeps requesting an immediate retry.
        return max(wish * random.uniform(1.0, 1.1), backoff if steps > 2 else 0.0)
