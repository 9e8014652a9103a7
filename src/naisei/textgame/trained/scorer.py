"""What the trained player asks of a model: how good are these actions here, how wrong are those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from naisei.textgame.trained.situation import Situation

__all__ = ["Judge", "Scorer"]


class Scorer(Protocol):
    """Rates actions."""

    def score(self, situation: Situation, actions: Sequence[str]) -> Sequence[float]:
        """One number of 0–1 an action, in order; the better the higher."""
        ...


class Judge(Protocol):
    """Tells wrong actions (thesis §5.2.2)."""

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        """Of each action, in order. cookbook: empty while it was not read."""
        ...
