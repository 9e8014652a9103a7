"""The pace of calls: concurrency, rate, retries, and no idle pauses."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from naisei.models.base import ModelSettings, Transient

# Calls that run on until they really wait.
#
# HTTP libraries pause at many points only to be fair to other tasks. With some dozens of
# calls at a time that fairness makes waves: all requests are prepared in turns and leave
# together, all replies come together, and the endpoint idles while they are worked on.
# Passing over such pauses lets each request leave as soon as it is ready, so that preparing
# one overlaps with waiting for the others.

T = TypeVar("T")

#: Number of pauses skipped in a row; more mean waiting for another task.
_IN_A_ROW = 100


class Eager(Generic[T]):
    """`await Eager(coroutine)`: as `await coroutine`, without the bare pauses in it.

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
    """A token bucket: `per_minute` units flow in evenly, at most `burst` of them wait.

    Units may be owed: the next caller waits until the debt is paid.

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
        """Take `units`, on credit if need be; returns how many seconds to wait first."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        wait = max(0.0, (min(units, self._burst) - self._level) / self._rate)
        self._level -= units
        return wait

    def give_back(self, units: float) -> None:
        """Correct an estimate: units that were taken and not used (negative: used beyond)."""
        self._level = min(self._burst, self._level + units)


class Throttle:
    """Limits the load on one model's endpoint; held by each request in flight."""

    def __init__(self, settings: ModelSettings | None = None) -> None:
        given = settings or ModelSettings()
        self._slots = asyncio.Semaphore(given.concurrency)
        requests, tokens = given.requests_per_minute, given.tokens_per_minute
        self._requests = None if requests is None else Bucket(requests)
        # Replies come in lumps of some thousand tokens: half a minute's worth may come at once.
        self._tokens = None if tokens is None else Bucket(tokens, burst=tokens / 2)

    @asynccontextmanager
    async def request(self, estimate: int) -> AsyncIterator[None]:
        """A slot for one request of about `estimate` tokens, once the limits allow it."""
        async with self._slots:
            wait = self._requests.take(1) if self._requests else 0.0
            if self._tokens:
                wait = max(wait, self._tokens.take(estimate))
            if wait > 0:
                await asyncio.sleep(wait)
            yield

    def used(self, tokens: int, estimate: int) -> None:
        """A request came back: its true tokens replace the estimate."""
        if self._tokens:
            self._tokens.give_back(estimate - tokens)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retry policy of a call.

    attempts: requests in all, ≥ 1. first_wait, longest_wait: seconds; the wait doubles from
    one to the other, half of it by chance, so that calls that failed together do not return
    together. max_retry_after: the longest `Retry-After` that is waited for. connect_attempts:
    attempts at an endpoint that has never answered. resends: how often the identical request is
    sent again after a reply that is no answer.
    """

    attempts: int = 10
    first_wait: float = 0.25
    longest_wait: float = 30.0
    max_retry_after: float = 300.0
    connect_attempts: int = 3
    resends: int = 5

    def wait(self, attempt: int, error: Transient) -> float:
        """Seconds after attempt number `attempt`: as the endpoint requests, or the backoff."""
        steps = min(attempt - 1, 30)
        backoff = min(self.longest_wait, self.first_wait * 2.0**steps)
        backoff *= random.uniform(0.5, 1.0)
        if (wish := error.retry_after) is None:
            return backoff
        # An endpoint that says "at once" again and again is not hammered for it.
        return max(wish * random.uniform(1.0, 1.1), backoff if steps > 2 else 0.0)
