"""Faults of an endpoint: which one a request meets is drawn by seed, content and attempt."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

#: Everything that can go wrong. The first group is HTTP's, the second is the body's, the
#: third is a well-formed reply with bad content. Besides these there is `trickle`: a good
#: reply, byte by byte, over `slow_s` seconds.
KINDS = (
    "429",
    "429-after",
    "500",
    "503",
    "cut",
    "slow",
    "truncated",
    "html",
    "not-a-completion",
    "length",
    "prose",
    "empty",
)


@dataclass(frozen=True)
class Faults:
    """A share `rate` of the answers is faulty, of the `kinds` given, with equal chances.

    The draw depends on the seed, the request's content and how often that content has been
    asked before: the same run meets the same faults whatever the order of its requests.
    most: no content meets more faults than this (`None`: no bound).
    """

    rate: float = 0.0
    kinds: tuple[str, ...] = KINDS
    seed: int = 0
    retry_after: str = "0.05"
    slow_s: float = 0.3
    most: int | None = None

    def draw(self, content: str, attempt: int) -> str | None:
        """The fault of this attempt (counted from 0), or `None`."""
        if self.most is not None and attempt >= self.most:
            return None
        digest = hashlib.sha256(f"{self.seed}|{attempt}|{content}".encode()).digest()
        if int.from_bytes(digest[:8], "big") / 2**64 >= self.rate:
            return None
        return self.kinds[int.from_bytes(digest[8:12], "big") % len(self.kinds)]
