"""A moment of one game beside another game whose recipe is cooked, or not yet begun.

What the walkthrough did stays right: of two recipes in one cookbook either can be cooked first.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from naisei.textgame.reading import read_foods
from naisei.textgame.trained.dataset import Choice
from naisei.textgame.trained.training.recipes import both_recipes, food_of, parts

__all__ = ["begun", "finished"]

_CARRYING = "You are carrying: "
_ENDINGS = ("prepare meal", "drop knife")


def begun(one: Choice, other: Choice) -> Choice | None:
    """Nothing of the other recipe is here or in hand; it is only to be read. `None` where the
    games share a food, or where what comes next ends the first recipe: preparing the meal, putting
    the knife down."""
    if one.action in _ENDINGS:
        return None
    recipe = both_recipes(one.situation.cookbook, other.situation.cookbook)
    if recipe is None or _shared(one, other):
        return None
    return replace(one, situation=one.situation.model_copy(update={"cookbook": recipe}))


def finished(one: Choice, other: Choice, draw: Random) -> Choice | None:
    """What the other recipe asks for is in hand as it must be; dropping it, or cooking it again
    where something here could, is wrong. other: a moment at which its meal is prepared. `None`
    where the games share a food, or the other's are not all in hand."""
    recipe = both_recipes(one.situation.cookbook, other.situation.cookbook)
    asked = parts(other.situation.cookbook)
    if recipe is None or asked is None or _shared(one, other):
        return None
    ready = {
        name: phrase
        for phrase in _phrases(other.situation.inventory)
        for name in read_foods(f"{_CARRYING}{phrase}.")
    }
    if set(asked[0]) - set(ready):
        return None
    held = _phrases(one.situation.inventory)
    for food in asked[0]:
        held.insert(draw.randint(0, len(held)), ready[food])
    tools = {tool for action in (one.action, *one.others) if (tool := _tool(action))}
    spoiling = tuple(
        action
        for action in other.others
        if (action.removeprefix("drop ") in asked[0])
        or (_tool(action) in tools and food_of(action) in asked[0])
    )
    texts = {"cookbook": recipe, "inventory": _listed(held)}
    situation = one.situation.model_copy(update=texts)
    return replace(one, situation=situation, others=(*one.others, *spoiling))


def _shared(one: Choice, other: Choice) -> bool:
    """Whether the one game shows or holds, anywhere, a food that the other's recipe asks for."""
    asked = parts(other.situation.cookbook)
    texts = (one.situation.text, one.action, *one.others)
    return asked is None or any(food in text for food in asked[0] for text in texts)


def _tool(action: str) -> str:
    return action.rpartition(" with ")[2] if " with " in action else ""


def _phrases(inventory: str) -> list[str]:
    """`a knife`, `a sliced carrot`, in order."""
    _, colon, listed = inventory.partition(_CARRYING)
    if not colon:
        return []
    front, _, last = listed.strip().rstrip(".").rpartition(" and ")
    return [*(front.split(", ") if front else ()), last]


def _listed(phrases: list[str]) -> str:
    front = ", ".join(phrases[:-1])
    return f"{_CARRYING}{f'{front} and ' if front else ''}{phrases[-1]}."
