"""Classifiers of wrong actions: learned, by the recipe, and the extreme one of Table 5.4.

A cookbook that was not read yet asks for nothing: cooking and cutting are wrong until then.
"""

from __future__ import annotations

from collections.abc import Sequence

from naisei.textgame.planner.kitchen import APPLIANCES, KNIFE
from naisei.textgame.reading import Recipe, read_recipe
from naisei.textgame.trained.labels import is_processing
from naisei.textgame.trained.scorer import Scorer
from naisei.textgame.trained.situation import Situation

__all__ = ["ExtremeJudge", "LearnedJudge", "NoJudge", "RecipeJudge"]


class NoJudge:
    """Nothing is wrong."""

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        return [False] * len(actions)


class LearnedJudge:
    """A classifier of (cookbook, action), asked about cooking and cutting only (§5.2.3).

    threshold: the rating from which on an action counts as wrong.
    """

    def __init__(self, classifier: Scorer, *, threshold: float = 0.5) -> None:
        self._classifier, self._threshold = classifier, threshold

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        if not cookbook:
            return [is_processing(action) for action in actions]
        asked = [a for a in actions if is_processing(a)]
        rated = self._classifier.score(Situation(cookbook=cookbook), asked) if asked else ()
        of = dict(zip(asked, rated, strict=True))
        return [of.get(action, 0.0) > self._threshold for action in actions]


class ExtremeJudge:
    """Calls every action wrong that can bring a point (§5.5.2): cooking, cutting, taking food,
    preparing and eating the meal."""

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        return [_may_score(action) for action in actions]


def _may_score(action: str) -> bool:
    verb, _, rest = action.partition(" ")
    takes_food = verb == "take" and rest.partition(" from ")[0] not in (KNIFE, "cookbook")
    return is_processing(action) or takes_food or action in ("prepare meal", "eat meal")


class RecipeJudge:
    """By the text of the cookbook: cooking and cutting that it does not ask for is wrong."""

    def wrong(self, cookbook: str, actions: Sequence[str]) -> Sequence[bool]:
        if not cookbook:
            return [is_processing(action) for action in actions]
        recipe = read_recipe(cookbook)
        return [recipe is not None and _against(recipe, action) for action in actions]


def _against(recipe: Recipe, action: str) -> bool:
    if not is_processing(action):
        return False
    verb, _, rest = action.partition(" ")
    name, _, tool = rest.rpartition(" with ")
    need = next((n for n in recipe.needs if n.name == name), None)
    if need is None:
        return True
    if verb == "cook":
        return tool not in APPLIANCES.get(need.cook, ())
    return verb != need.cut
