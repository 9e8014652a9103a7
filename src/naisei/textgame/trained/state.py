"""The state of a cooking game as the trained player sees it: the texts that a scorer reads, the
candidate commands, and the ways of the navigator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from naisei.textgame.planner.kitchen import KNIFE, Kitchen
from naisei.textgame.player import FILTERS
from naisei.textgame.reading import read_foods
from naisei.textgame.schemas import View

__all__ = [
    "NAVIGATE",
    "Notebook",
    "Situation",
    "accepted",
    "cookbook_text",
    "fit",
    "item_of",
    "navigate_candidates",
    "next_step",
    "offered",
]


# What a scorer reads of a moment: `<inventory count> <inventory> <cookbook> <environment>`.
#
# Source: the text-game thesis, §§5.2.1, 6.2.3. The action is the second part of the pair.

_SPACE = re.compile(r"\s+")
_HEADING = re.compile(r"^\s*-= .+? =-\s*")
T = TypeVar("T")


class Situation(BaseModel):
    """The texts of a moment. cookbook: empty until it was read.

    fresh: directions from here that nobody has gone. toward: the direction in which the nearest
    such way lies, if none is here; empty if there is none at all. These two are of the map, no
    part of the text that the thesis's scorer reads.
    """

    model_config = ConfigDict(frozen=True)

    inventory: str = ""
    cookbook: str = ""
    room: str = ""
    description: str = ""
    fresh: tuple[str, ...] = ()
    toward: str = ""

    @classmethod
    def of(
        cls, view: View, cookbook: str, *, fresh: tuple[str, ...] = (), toward: str = ""
    ) -> Situation:
        return cls(
            fresh=fresh,
            toward=toward,
            inventory=view.inventory,
            cookbook=cookbook,
            room=view.room,
            description=_HEADING.sub("", view.description),
        )

    @property
    def held(self) -> str:
        """How many things are held, and what the game says of them."""
        return _flat(f"{len(read_foods(self.inventory))} {self.inventory}")

    @property
    def possessions(self) -> str:
        """The part that is never cut short while the environment can be."""
        return _flat(f"{self.held} {self.cookbook}")

    @property
    def environment(self) -> str:
        """Name of the room, and what is to be seen in it."""
        return _flat(f"{self.room}. {self.description}")

    @property
    def text(self) -> str:
        """Both parts, as the encoder's first segment."""
        return f"{self.possessions} {self.environment}"


def cookbook_text(answer: str) -> str:
    """The recipe in the answer to `examine cookbook`, line by line, without what stands around.

    Empty where the answer holds none.
    """
    _, found, rest = answer.partition("Ingredients:")
    if not found:
        return ""
    body, meal, _ = rest.partition("prepare meal")
    lines = f"{found}{body}{meal}".splitlines()
    return "\n".join(line.strip() for line in lines if line.strip())


def fit(
    possessions: Sequence[T], environment: Sequence[T], action: Sequence[T], *, limit: int
) -> tuple[list[T], list[T]]:
    """The first segment and the action within `limit` tokens together.

    The end of the environment goes first (§5.2.1); where that is not enough, the end of the
    possessions; the action is cut only where it is longer than the limit by itself.
    """
    second = list(action[:limit])
    room = limit - len(second)
    first = list(possessions[:room])
    return first + list(environment[: room - len(first)]), second


def _flat(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


class Notebook:
    """The map, where things lie, and the cookbook once it was read (thesis §6.2.1)."""

    def __init__(self) -> None:
        self.kitchen = Kitchen()
        self.cookbook = ""
        #: Where the cookbook was read; -1 until it was.
        self.cookbook_at = -1

    def see(self, view: View, last: str) -> Situation:
        """Take in the answer to the last command (empty at the start)."""
        self.kitchen.see(view, last)
        if text := cookbook_text(view.feedback):
            self.cookbook = text
            self.cookbook_at = self.kitchen.world.here
        fresh, toward = self._unexplored()
        return Situation.of(view, self.cookbook, fresh=fresh, toward=toward)

    def _unexplored(self) -> tuple[tuple[str, ...], str]:
        world = self.kitchen.world
        fresh = tuple(sorted(d for d, beyond in world.place.ways.items() if beyond is None))
        distance = world.distances()
        places = [place for place, _ in world.frontier() if place in distance]
        if fresh or not places:
            return fresh, ""
        route = world.route(min(places, key=lambda place: (distance[place], place)))
        return (), route[0] if route else ""

    def is_door(self, thing: str) -> bool:
        return thing in self.kitchen.world.place.doors.values()

    def where(self, item: str) -> int | None:
        """The place of an item; -1 if it is held, `None` if it was never seen."""
        if item == "cookbook":
            return self.cookbook_at if self.cookbook_at >= 0 else None
        if item in self.kitchen.appliances:
            return self.kitchen.appliances[item]
        return self.kitchen.where(item)


# `navigate to <item>`: one candidate for a whole way, walked by breadth-first search.
#
# Source: the text-game thesis, §6.2.1. Candidates appear once the cookbook was read. Left out are
# items that are here (or held), and foods that the cookbook does not list. What counts as an item:
# the cookbook's ingredients, the knife, the cookbook and the appliances; furniture is none.

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


# The commands that the trained player chooses from.
#
# Source: the text-game thesis, §6.3.3. In games that limit what can be carried, textworld's list
# can lack `eat meal` while the meal is in hand and nothing else is (the meal fills none of the
# places that are counted); the game accepts it all the same. It is offered whenever a meal is held.

_EAT = "eat meal"


def accepted(view: View) -> tuple[str, ...]:
    """The engine's list, completed."""
    if _EAT not in view.candidates and "meal" in read_foods(view.inventory):
        return (*view.candidates, _EAT)
    return view.candidates


def offered(view: View) -> tuple[str, ...]:
    """After the filter; all of them where it leaves none."""
    return FILTERS["thesis"](accepted(view)) or view.candidates
