"""When to try again, and when to stop: the waits between attempts at one call."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tenacity import RetryCallState

from naisei.models.base import Transient

__all__ = ["Patience"]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a call is tried.

    attempts: requests in all, ≥ 1. first_wait, longest_wait: seconds; the wait doubles from
    one to the other, half of it by chance, so that calls that failed together do not return
    together. longest_wish: the longest `Retry-After` that is waited for. knocks: attempts at
    an endpoint that has never answered. resends: how often the identical request is sent
    again after a reply that is no answer.
    """

    attempts: int = 10
    first_wait: float = 0.25
    longest_wait: float = 30.0
    longest_wish: float = 300.0
    knocks: int = 3
    resends: int = 5

    def wait(self, state: RetryCallState) -> float:
        """Seconds before the next attempt: what the endpoint wishes, or the backoff."""
        error = state.outcome.exception() if state.outcome else None
        steps = min(state.attempt_number - 1, 30)
        backoff = min(self.longest_wait, self.first_wait * 2.0**steps)
        backoff *= random.uniform(0.5, 1.0)
        wish = error.retry_after if isinstance(error, Transient) else None
        if wish is None:
            return backoff
        # An endpoint that says "at once" again and again is not hammered for it.
        return max(wish * random.uniform(1.0, 1.1), backoff if steps > 2 else 0.0)
