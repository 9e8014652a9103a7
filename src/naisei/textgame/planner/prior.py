"""What former games taught about houses: which room lies behind which door, and what lies where.

Learned from own play on training games (`tools/cooking_prior.py`, and the card beside the
counts); an empty prior knows nothing, and every unknown room is as good as another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, PrivateAttr

from naisei.textgame.world_map import WorldMap

__all__ = ["FAR", "Prior", "learned"]

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
