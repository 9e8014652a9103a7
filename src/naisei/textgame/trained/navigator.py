"""`navigate to <item>`: one candidate for a whole way, walked by breadth-first search.

Source: the text-game thesis, §6.2.1. Candidates appear once the cookbook was read. Left out are
items that are here (or held), and foods that the cookbook does not list. What counts as an item:
the cookbook's ingredients, the knife, the cookbook and the appliances; furniture is none.
"""

from __future__ import annotations

from naisei.textgame.planner.kitchen import KNIFE
from naisei.textgame.trained.notebook import Notebook

__all__ = ["NAVIGATE", "item_of", "navigate_candidates", "next_step"]

NAVIGATE = "navigate to "


def navigate_candidates(notebook: Notebook) -> tuple[str, ...]:
    """The commands that can be offered now, in a fixed order."""
    recipe = notebook.kitchen.recipe
    if recipe is None:
        return ()
    names = [need.name for need in recipe.needs]
    names += [KNIFE, "cookbook", *sorted(notebook.kitchen.appliances)]
    return tuple(NAVIGATE + name for name in names if _is_elsewhere(notebook, name))


def _is_elsewhere(notebook: Notebook, name: str) -> bool:
    at = notebook.where(name)
    world = notebook.kitchen.world
    return at is not None and at not in (-1, world.here) and world.route(at) is not None


def item_of(command: str) -> str:
    """The item of a navigation command; empty for any other."""
    return command.removeprefix(NAVIGATE) if command.startswith(NAVIGATE) else ""


def next_step(notebook: Notebook, place: int) -> str:
    """The next command on the way to a place: `go …`, or `open …` where a door is shut.

    Empty on arrival, or if no known way leads there any more.
    """
    world = notebook.kitchen.world
    route = world.route(place)
    if not route:
        return ""
    here = world.place
    shut = route[0] in here.shut
    return f"open {here.doors[route[0]]}" if shut else f"go {route[0]}"
