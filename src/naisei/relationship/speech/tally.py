"""What one side of a dialogue has given away so far."""

from __future__ import annotations

import math
from collections import deque

from naisei.relationship.speech.heard import COUNTS, Heard

__all__ = ["Tally"]

#: Counts that become traits: the rate per sentence at which a trait is two thirds of its most.
_SCALES = {
    "honorific": 0.8,
    "direct": 0.3,
    "defer": 0.3,
    "comply": 0.3,
    "casual": 0.7,
    "laughter": 0.4,
    "close": 0.6,
    "stranger": 0.4,
    "hostile": 0.3,
    "work": 0.7,
    "leisure": 0.7,
}
_AT = {name: at for at, name in enumerate(COUNTS)}
#: So many lines are kept as grounds for each count: the latest.
_LINES = 4


class Tally:
    """Sums of `Heard.counts` over one side, and the latest lines in which each was heard.

    Adding a line takes constant time, so that a dialogue can be read turn by turn.
    """

    def __init__(self) -> None:
        self.sums = [0.0] * len(COUNTS)
        self.lines = 0
        self._traits: dict[str, float] | None = None
        self.grounds: dict[str, deque[tuple[int, tuple[str, ...]]]] = {}

    def add(self, at: int, heard: Heard) -> None:
        """Add the line at index `at` of the dialogue."""
        self.lines += 1
        self._traits = None
        self.sums = [a + b for a, b in zip(self.sums, heard.counts, strict=True)]
        for count, words in heard.cues.items():
            self.grounds.setdefault(count, deque(maxlen=_LINES)).append((at, words))

    def count(self, name: str) -> float:
        """The sum of one count."""
        return self.sums[_AT[name]]

    def traits(self) -> dict[str, float]:
        """The side's traits, each shrunk toward the unremarkable while little has been said.

        polite: share of polite endings, 0–1. look_up: how the other is addressed, about −1…2
        (0.2 unknown); near: likewise, −1…1. All others: 0–1, saturating with the rate per
        sentence.
        """
        # Asked for once a direction.
        if self._traits is None:
            self._traits = self._computed()
        return self._traits

    def _computed(self) -> dict[str, float]:
        ended = self.count("polite") + self.count("plain")
        called = self.count("addresses")
        traits = {
            "polite": (self.count("polite") + 0.5) / (ended + 1),
            "look_up": (self.count("looked_up") + 0.1) / (called + 0.5),
            "near": self.count("nearness") / (called + 0.5),
        }
        said = self.count("sentences") + 1
        for name, scale in _SCALES.items():
            traits[name] = 1 - math.exp(-self.count(name) / said / scale)
        return traits
