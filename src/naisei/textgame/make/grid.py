"""The configurations of First TextWorld Problems: which skills a cooking game asks for.

Source: the text-game thesis, §5.3.1 (4,440 training, 222 validation and 514 test games), and
the competition's file names, whose skills these grids enumerate.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal

__all__ = ["SPLITS", "CookingConfig", "Split", "grid", "repeats"]

Split = Literal["train", "valid", "test"]
SPLITS: tuple[Split, ...] = ("train", "valid", "test")

_ONE = (1,)
_MANY = (6, 9, 12)
_ALL = (*_ONE, *_MANY)

#: split → (recipe, take, numbers of rooms) whose every combination of skills is a configuration.
_BLOCKS: dict[Split, tuple[tuple[int, int, tuple[int, ...]], ...]] = {
    "train": (
        *((r, 0, _ALL) for r in (1, 2, 3)),
        (1, 1, _ONE),
        (2, 2, _ONE),
        (3, 3, _ALL),
    ),
    "test": (
        (1, 0, _ONE),
        (1, 1, _ALL),
        (2, 0, _ONE),
        (2, 2, _ALL),
        (3, 0, _ALL),
        (3, 3, _ALL),
        (4, 0, _ONE),
        (4, 3, _ALL),
        (4, 4, _ALL),
        (5, 0, _ONE),
        (5, 4, _ALL),
        (5, 5, _ALL),
    ),
}
_BLOCKS["valid"] = _BLOCKS["train"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CookingConfig:
    """What one cooking game asks for.

    recipe: ingredients, 1–5. take: those that must be fetched, 0–recipe. go: rooms: 1, 6, 9 or
    12. cook, cut: whether ingredients need it. drop: whether hands are limited. open: whether
    doors and containers are closed.
    """

    recipe: int
    take: int
    go: int
    cook: bool
    cut: bool
    drop: bool
    open: bool

    @property
    def name(self) -> str:
        """As in the competition's file names: `recipe3+take3+cook+cut+drop+go6`."""
        parts = [f"recipe{self.recipe}"]
        parts += [f"take{self.take}"] if self.take else []
        parts += [skill for skill in ("cook", "cut", "open", "drop") if getattr(self, skill)]
        return "+".join([*parts, f"go{self.go}"])


def grid(split: Split) -> tuple[CookingConfig, ...]:
    """All configurations of a split, in a fixed order: 222 for train and valid, 514 for test."""
    return tuple(
        CookingConfig(recipe=r, take=t, go=go, cook=cook, cut=cut, drop=drop, open=opened)
        for r, t, rooms in _BLOCKS[split]
        for go in rooms
        for cook, cut, drop, opened in product((False, True), repeat=4)
        if _possible(t, go, cut=cut, drop=drop, opened=opened)
    )


def _possible(take: int, go: int, *, cut: bool, drop: bool, opened: bool) -> bool:
    """With nothing to fetch, only the knife fills a hand, and one room leaves nothing to open."""
    if take:
        return True
    return (cut or not drop) and not (opened and go == 1)


def repeats(split: Split) -> int:
    """How many games of each configuration the competition has."""
    return 20 if split == "train" else 1
