"""The commands that the trained player chooses from.

Source: the text-game thesis, §6.3.3. In games that limit what can be carried, textworld's list
can lack `eat meal` while the meal is in hand and nothing else is (the meal fills none of the
places that are counted); the game accepts it all the same. It is offered whenever a meal is held.
"""

from __future__ import annotations

from naisei.textgame.player import FILTERS
from naisei.textgame.reading import read_foods
from naisei.textgame.schemas import View

__all__ = ["accepted", "offered"]

_EAT = "eat meal"


def accepted(view: View) -> tuple[str, ...]:
    """The engine's list, completed."""
    if _EAT not in view.candidates and "meal" in read_foods(view.inventory):
        return (*view.candidates, _EAT)
    return view.candidates


def offered(view: View) -> tuple[str, ...]:
    """After the filter; all of them where it leaves none."""
    return FILTERS["thesis"](accepted(view)) or view.candidates
