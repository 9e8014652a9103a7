"""Limits of an endpoint: requests and tokens per minute, requests in flight."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from naisei.models.settings import ModelSettings

__all__ = ["Bucket", "Throttle"]


class Bucket:
    """A token bucket: `per_minute` units flow in evenly, at most `burst` of them wait.

    A unit may be owed: whoever comes next waits until the debt is paid.

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
    """What one model's endpoint is spared: held by every request while it is under way."""

    def __init__(self, settings: ModelSettings | None = None) -> None:
        given = settings or ModelSettings()
        self._slots = asyncio.Semaphore(given.concurrency)
        self._requests = _bucket(given.requests_per_minute)
        # Replies come in lumps of some thousand tokens: half a minute's worth may come at once.
        tokens = given.tokens_per_minute
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


def _bucket(per_minute: float | None) -> Bucket | None:
    return None if per_minute is None else Bucket(per_minute)
