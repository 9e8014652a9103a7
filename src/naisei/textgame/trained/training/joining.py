"""Cookbooks put together from two, so that a classifier reads longer ones than its games have.

Train games ask for three ingredients at most, test games for five. Not in the thesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from naisei.textgame.trained.training.items import Processing, Source

__all__ = ["Joiner", "joined"]

_HEADS = ("Ingredients:", "Directions:")
_LAST = "prepare meal"


class Joiner:
    """Knows the examples. share: of those that are joined with another."""

    def __init__(self, sources: Sequence[Source], *, share: float) -> None:
        self._sources, self._share = sources, share

    def source(self, number: int, *, seed: str) -> Source:
        """The example of this number, or it and another as one; which, the seed decides."""
        one = self._sources[number]
        draw = Random(f"join/{seed}")
        if draw.random() >= self._share or not isinstance(one, Processing):
            return one
        other = draw.choice(self._sources)
        assert isinstance(other, Processing), "a training is of one task"
        return joined(one, other) or one


def joined(one: Processing, other: Processing) -> Processing | None:
    """Both recipes as one: the ingredients and directions of the first, then the second's.

    `None` where they share an ingredient, or a cookbook is laid out in another way. Actions on a
    food of the other's recipe are left out: their label is of a game in which nothing asked for
    them.
    """
    first, second = _parts(one.cookbook), _parts(other.cookbook)
    if first is None or second is None or set(first[0]) & set(second[0]):
        return None
    directions = [line for line in (*first[1], *second[1]) if line != _LAST]
    lines = [_HEADS[0], *first[0], *second[0], _HEADS[1], *directions, _LAST]
    labels: dict[str, int] = {}
    for source, foreign in ((one, second[0]), (other, first[0])):
        for action, wrong in zip(source.actions, source.wrong, strict=True):
            if _food(action) not in foreign:
                # Right in either, right in both: a food that neither recipe has is wrong in each.
                labels[action] = min(wrong, labels.get(action, wrong))
    if not labels:
        return None
    return Processing("\n".join(lines), tuple(labels), tuple(labels.values()))


def _parts(cookbook: str) -> tuple[list[str], list[str]] | None:
    lines = cookbook.splitlines()
    if not lines or lines[0] != _HEADS[0] or _HEADS[1] not in lines:
        return None
    middle = lines.index(_HEADS[1])
    return lines[1:middle], lines[middle + 1 :]


def _food(action: str) -> str:
    """`red onion` of `slice red onion with knife`."""
    return action.partition(" ")[2].rpartition(" with ")[0]
