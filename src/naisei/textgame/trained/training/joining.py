"""Games put together from two, so that a model reads longer recipes than its games have.

Train games ask for three ingredients at most, test games for five. Not in the thesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from naisei.textgame.trained.dataset import Choice
from naisei.textgame.trained.training.items import Processing, Source
from naisei.textgame.trained.training.joined_states import begun, finished
from naisei.textgame.trained.training.recipes import both_recipes, food_of, parts

__all__ = ["Joiner", "joined"]

_PREPARE, _EAT = "prepare meal", "eat meal"
#: Other games that are tried before an example stays as it is.
_TRIES = 8


class Joiner:
    """Knows the examples. share: of those that are joined with another."""

    def __init__(self, sources: Sequence[Source], *, share: float) -> None:
        self._sources, self._share = sources, share
        self._meals = [s for s in sources if isinstance(s, Choice) and s.action == _PREPARE]

    def source(self, number: int, *, seed: str) -> Source:
        """The example of this number, or it and another as one; which, the seed decides."""
        one = self._sources[number]
        draw = Random(f"join/{seed}")
        if draw.random() >= self._share:
            return one
        if isinstance(one, Choice):
            return self._choice(one, draw)
        other = draw.choice(self._sources)
        assert isinstance(other, Processing), "a training is of one task"
        return joined(one, other) or one

    def _choice(self, one: Choice, draw: Random) -> Choice:
        """One that has read a recipe, beside another game's that is cooked or not yet begun."""
        if not one.situation.cookbook or one.action == _EAT or not self._meals:
            return one
        done = one.action == _PREPARE or draw.random() < 0.5
        for _ in range(_TRIES):
            other = draw.choice(self._meals)
            both = finished(one, other, draw) if done else begun(one, other)
            if both is not None:
                return both
        return one


def joined(one: Processing, other: Processing) -> Processing | None:
    """Both recipes as one. `None` where they share an ingredient, or a cookbook is laid out in
    another way.

    Actions on a food of the other's recipe are left out: their label is of a game in which nothing
    asked for them.
    """
    recipe = both_recipes(one.cookbook, other.cookbook)
    if recipe is None:
        return None
    first, second = parts(one.cookbook), parts(other.cookbook)
    assert first and second, "or there would be no recipe of both"
    labels: dict[str, int] = {}
    for source, foreign in ((one, second[0]), (other, first[0])):
        for action, wrong in zip(source.actions, source.wrong, strict=True):
            if food_of(action) not in foreign:
                # Right in either, right in both: a food that neither recipe has is wrong in each.
                labels[action] = min(wrong, labels.get(action, wrong))
    return Processing(recipe, tuple(labels), tuple(labels.values())) if labels else None
