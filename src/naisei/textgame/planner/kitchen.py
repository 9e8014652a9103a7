"""What the planner knows of a cooking game, and what former games taught about houses."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, PrivateAttr

from naisei.textgame.reading import (
    COOKED,
    CUT,
    Food,
    Recipe,
    Scene,
    read_foods,
    read_recipe,
    read_scene,
    read_states,
)
from naisei.textgame.schemas import View
from naisei.textgame.world_map import WorldMap

__all__ = ["APPLIANCES", "FAR", "KNIFE", "Kitchen", "Prior", "learned"]


KNIFE = "knife"
#: Verb of a recipe → the appliances that do it, the first that is found.
APPLIANCES = {"fry": ("stove",), "roast": ("oven",), "grill": ("BBQ", "toaster")}
_STATE = "(?:" + "|".join([*CUT, *COOKED, "raw", "uncut"]) + ")"
_APPLIANCE = re.compile(r"\b(stove|oven|BBQ|toaster)\b", re.I)


@dataclass(frozen=True, slots=True)
class Task:
    """What is still to be done with an ingredient. spoilt: it can never be right again."""

    name: str
    cut: str
    cook: str
    spoilt: bool = False


class Kitchen:
    """Kept up to date with every view."""

    def __init__(self) -> None:
        self.world = WorldMap()
        self.scene: Scene = read_scene(View())
        self.held: dict[str, Food] = {}
        self.recipe: Recipe | None = None
        #: Where the meal can be prepared; -1 until it is known.
        self.cooking_place = -1
        self.appliances: dict[str, int] = {}
        #: How many things can be held; `None` while nothing was seen of a limit.
        self.capacity: int | None = None
        self.unlimited = False
        #: (container, whether something was in it) for every container that was opened.
        self.openings: list[tuple[str, bool]] = []
        #: Closed things that would not open.
        self.stuck: set[tuple[int, str]] = set()
        #: States of things when they were last held.
        self.last_seen: dict[str, Food] = {}
        #: What was held, or could be taken, at some time.
        self._portable: set[str] = set()

    def see(self, view: View, last: str) -> None:
        """Take in the answer to the last command (empty at the start)."""
        self.scene = read_scene(view)
        verb, _, rest = last.partition(" ")
        moved = verb == "go" and "-= " in view.feedback
        place = self.world.arrive(self.scene, rest if moved else "")
        self.held = read_foods(view.inventory)
        self._note_states(view)
        for m in _APPLIANCE.finditer(view.description):
            name = "BBQ" if m[1].lower() == "bbq" else m[1].lower()
            self.appliances.setdefault(name, place.number)
        if "prepare meal" in self.scene.can:
            self.cooking_place = place.number
        if (recipe := read_recipe(view.feedback)) is not None:
            self.recipe = recipe
            if self.cooking_place < 0:
                self.cooking_place = place.number
        if verb == "open" and rest in self.scene.closed:
            self.stuck.add((place.number, rest))
        elif verb == "open" and rest not in place.doors.values():
            self.openings.append((rest, rest in self.scene.lying.values()))
        self._note_capacity(verb, rest)

    def _note_states(self, view: View) -> None:
        """How things are, from what is held, and from the words before their names in the room."""
        for name in self.world.place.things:
            if m := re.search(rf"\b((?:{_STATE} )+){re.escape(name)}\b", view.description):
                self.last_seen[name] = read_states(f"{m[1]}{name}")
        self.last_seen.update(self.held)

    def _note_capacity(self, verb: str, rest: str) -> None:
        if verb == "take" and rest.partition(" from ")[0] not in self.held:
            self.capacity = len(self.held)  # listed, and yet refused
        elif self.held and not self.scene.lying:
            if (set(self.world.place.things) & self._portable) - set(self.held):
                self.capacity = len(self.held)  # what could be taken cannot be taken now
        elif self.recipe is not None and len(self.held) >= max(len(self.recipe.needs), 2):
            self.unlimited = True
        self._portable |= set(self.held) | set(self.scene.lying)

    @property
    def hands(self) -> int:
        """How many things are taken to fit: known, or a limit as low as it can be, since games
        with one allow as many things as the recipe has ingredients (and two at least where
        something must be cut)."""
        if self.capacity is not None:
            return self.capacity
        if self.unlimited or self.recipe is None:
            return 99
        return max(len(self.recipe.needs), 2)

    def tasks(self) -> list[Task]:
        """What the recipe still asks for, by ingredient. A state is known once it is held."""
        if self.recipe is None:
            return []
        out = []
        for need in self.recipe.needs:
            food = self.held.get(need.name, self.last_seen.get(need.name, Food(need.name)))
            spoilt = (
                food.burned
                or (bool(food.cut) and food.cut != need.cut)
                or (bool(food.cooked) and food.cooked != need.cook)
            )
            out.append(
                Task(
                    need.name,
                    "" if food.cut == need.cut else need.cut,
                    "" if food.cooked == need.cook else need.cook,
                    spoilt,
                )
            )
        return out

    def where(self, thing: str) -> int | None:
        """The nearest place where a thing is known to lie; -1 if it is held."""
        if thing in self.held:
            return -1
        places = [p.number for p in self.world.places if thing in p.things]
        if not places:
            return None
        distance = self.world.distances()
        return min(places, key=lambda p: (distance.get(p, 10**6), p))


# What former games taught about houses: which room lies behind which door, and what lies where.
#
# Learned from own play on training games (`tools/cooking_prior.py`, and the card beside the
# counts); an empty prior knows nothing, and every unknown room is as good as another.

#: Commands to a place of which nothing is known.
FAR = 3.0
#: Stands for any door, or none.
_ANY = ""
#: Stands for any thing.
_THING = ""


class Prior(BaseModel):
    """Counts over training games.

    beyond: `room|door` → room behind it → count; without a door `room|`. lies: thing → room →
    count; the empty name is over all things. opened: container → how often something was in it
    when it was opened, and how often it was opened.
    """

    model_config = ConfigDict(extra="forbid")

    beyond: dict[str, dict[str, int]] = {}
    lies: dict[str, dict[str, int]] = {}
    opened: dict[str, tuple[int, int]] = {}

    _kept_hops: dict[str, dict[str, int]] = PrivateAttr(default_factory=dict)

    def add(self, world: WorldMap, openings: Sequence[tuple[str, bool]] = ()) -> None:
        """Count what a finished game's map shows, and what was in the containers opened."""
        self._kept_hops.clear()
        for container, something in openings:
            found, times = self.opened.get(container, (0, 0))
            self.opened[container] = (found + something, times + 1)
        for place in world.places:
            for direction, beyond in place.ways.items():
                if beyond is not None:
                    room = world.places[beyond].room.lower()
                    key = f"{place.room.lower()}|{place.doors.get(direction, _ANY)}"
                    _count(self.beyond, key, room)
            for thing, holder in place.things.items():
                if holder is not None:
                    _count(self.lies, thing, place.room.lower())
                    _count(self.lies, _THING, place.room.lower())

    def behind(self, room: str, door: str, known: Collection[str]) -> dict[str, float]:
        """Room → probability that it lies behind a way out of `room`. known: rooms that lie
        elsewhere already. Empty where nothing is known."""
        counts = self.beyond.get(f"{room.lower()}|{door}", {})
        open_counts = {r: c for r, c in counts.items() if r not in known}
        total = sum(open_counts.values())
        return {r: c / total for r, c in open_counts.items()} if total else {}

    def rooms_of(self, thing: str, searched: Collection[str]) -> dict[str, float]:
        """Room → probability that the thing lies there. searched: rooms where it is not."""
        counts = self.lies.get(thing) or self._alike(thing) or self.lies.get(_THING, {})
        left = {r: c for r, c in counts.items() if r not in searched}
        total = sum(left.values())
        return {r: c / total for r, c in left.items()} if total else {}

    def _alike(self, thing: str) -> dict[str, int]:
        """Counts of things whose last word is the same: a yellow onion lies where onions lie."""
        last = thing.split()[-1]
        alike: dict[str, int] = {}
        for name, counts in self.lies.items():
            if name.split()[-1:] == [last]:
                for room, count in counts.items():
                    alike[room] = alike.get(room, 0) + count
        return alike

    def hops(self, start: str) -> dict[str, int]:
        """Doors and ways to every room from `start`, in the union of the houses seen."""
        if start not in self._kept_hops:
            self._kept_hops[start] = _hops(self._links(), start)
        return self._kept_hops[start]

    def _links(self) -> Mapping[str, frozenset[str]]:
        links: dict[str, set[str]] = {}
        for key, rooms in self.beyond.items():
            links.setdefault(key.partition("|")[0], set()).update(rooms)
        return {room: frozenset(others) for room, others in links.items()}

    def worth_opening(self, container: str) -> float | None:
        """How often something was in it; `None` if nobody knows."""
        found, times = self.opened.get(container, (0, 0))
        return found / times if times else None


def _count(table: dict[str, dict[str, int]], key: str, value: str) -> None:
    row = table.setdefault(key, {})
    row[value] = row.get(value, 0) + 1


def _hops(links: Mapping[str, frozenset[str]], start: str) -> dict[str, int]:
    found = {start: 0}
    queue = deque([start])
    while queue:
        at = queue.popleft()
        for other in links.get(at, frozenset()):
            if other not in found:
                found[other] = found[at] + 1
                queue.append(other)
    return found


@lru_cache(maxsize=1)
def learned() -> Prior:
    """The prior that ships with the package."""
    text = (files("naisei") / "data" / "cooking_prior" / "prior.json").read_text(encoding="utf-8")
    return Prior.model_validate_json(text)
