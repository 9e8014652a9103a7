"""What the engine's own list of commands leaves out."""

from __future__ import annotations

from naisei.textgame.reading import read_foods
from naisei.textgame.schemas import View

__all__ = ["completed"]

_EAT = "eat meal"


def completed(view: View) -> View:
    """With `eat meal` among the candidates whenever a meal is held.

    In games that limit what is carried, textworld 1.7 lists none of `eat`, `drop`, `put` and
    `insert` while one thing only is in hand. The game accepts them all the same, and the last
    command of such a game is one of them.
    """
    if view.done or _EAT in view.candidates or "meal" not in read_foods(view.inventory):
        return view
    return view.model_copy(update={"candidates": (*view.candidates, _EAT)})
