"""What is held, and how it has been cut and cooked, from an inventory in words."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["COOKED", "CUT", "Food", "read_foods", "read_states"]

#: Participle → the verb that a recipe uses.
CUT = {"sliced": "slice", "diced": "dice", "chopped": "chop"}
COOKED = {"fried": "fry", "roasted": "roast", "grilled": "grill", "burned": "burn"}
_STATES = {*CUT, *COOKED, "raw", "uncut"}
_SEPARATOR = re.compile(r",\s*(?:and\s+)?|\s+and\s+|\n+")
_ARTICLE = re.compile(r"^(?:an?|some|the)\s+", re.I)


@dataclass(frozen=True, slots=True)
class Food:
    """A thing and its states. cut, cooked: the verb of what was done to it, or empty.

    burned: it was cooked twice, and no recipe can use it any more.
    """

    name: str
    cut: str = ""
    cooked: str = ""

    @property
    def burned(self) -> bool:
        return self.cooked == "burn"


def read_foods(inventory: str) -> dict[str, Food]:
    """Name → thing, from `You are carrying: a raw pork chop, some water and a knife.`

    Empty for `You are carrying nothing.` A name that itself holds ` and ` is not told apart from
    two things.
    """
    _, colon, listed = inventory.partition(":")
    if not colon:
        return {}
    found = {}
    for phrase in _SEPARATOR.split(listed.strip().rstrip(".")):
        if phrase.strip():
            food = read_states(phrase.strip())
            found[food.name] = food
    return found


def read_states(phrase: str) -> Food:
    """One thing with its states, from `a sliced fried block of cheese`."""
    words = _ARTICLE.sub("", phrase.strip()).split()
    cut = cooked = ""
    while len(words) > 1 and words[0] in _STATES:
        state = words.pop(0)
        cut = CUT.get(state, cut)
        cooked = COOKED.get(state, cooked)
    return Food(" ".join(words), cut, cooked)
