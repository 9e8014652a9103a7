"""A player's knowledge of a game: map, inventory, and commands derived from them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Generic, TypeVar

from naisei.textgame.schemas import View
from naisei.textgame.texts import OPPOSITE, STEP, Scene, read_scene

#: Place number of a held thing.
HELD = -1
#: Phrases that state the carrying limit.
_LIMIT = re.compile(r"\bcapacity (?:is|of) (\d{1,4})\b")
#: Type of a held thing.
Held = TypeVar("Held")


@dataclass(slots=True)
class Room:
    """A visited room.

    at: (steps east, steps north) from the start, along the first path. ways: direction → next
    place, `None` if unexplored. doors: direction → door. shut: directions with a closed door.
    things: thing → what it is on ("": the floor; `None`: seen, place unknown). closed: unopened
    containers.
    """

    number: int
    room: str
    at: tuple[int, int] = (0, 0)
    ways: dict[str, int | None] = field(default_factory=dict)
    doors: dict[str, str] = field(default_factory=dict)
    shut: set[str] = field(default_factory=set)
    things: dict[str, str | None] = field(default_factory=dict)
    fixtures: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)


class WorldMap:
    """Explored rooms, ways and doors; places are numbered by first visit.

    Source: the navigator of the text-game thesis, §6.2.1, where a room is its name. Here several
    rooms may share a name; positions distinguish them.
    """

    def __init__(self) -> None:
        self.places: list[Room] = []
        self.here = -1
        self._distances: dict[int, dict[int, int]] = {}

    @property
    def place(self) -> Room:
        return self.places[self.here]

    def arrive(self, scene: Scene, came: str = "") -> Room:
        """Enter the room of a scene. came: the direction walked; "" at the start and after other
        commands."""
        self._distances.clear()
        if self.here < 0:
            self.here = self._new(scene.room, (0, 0))
        elif came:
            beyond = self.place.ways.get(came)
            if beyond is None:
                beyond = self._known_by_layout(scene, came)
                if beyond is None:
                    beyond = self._new(scene.room, self._beyond(came))
                self.place.ways[came] = beyond
                self.places[beyond].ways[OPPOSITE[came]] = self.here
            self.here = beyond
        self._note(scene)
        return self.place

    def _new(self, room: str, at: tuple[int, int]) -> int:
        self.places.append(Room(len(self.places), room, at))
        return len(self.places) - 1

    def _beyond(self, came: str) -> tuple[int, int]:
        east, north = self.place.at
        by_east, by_north = STEP[came]
        return east + by_east, north + by_north

    def _known_by_layout(self, scene: Scene, came: str) -> int | None:
        """The known place with the scene's name that closes a loop in the map, if any.

        It must have an unexplored way back and the right grid position. If two rooms share a
        position, the house does not fit a grid, and a unique name suffices.
        """
        back, spot = OPPOSITE[came], self._beyond(came)
        named = [place for place in self.places if place.room == scene.room]
        fits = [
            place
            for place in named
            if place.number != self.here
            and back in place.ways
            and place.ways[back] is None
            and set(scene.exits) <= set(place.ways)
            and (place.at == spot or (not self._squared() and len(named) == 1))
        ]
        return fits[0].number if len(fits) == 1 else None

    def _squared(self) -> bool:
        """Whether all places have different positions."""
        return len({place.at for place in self.places}) == len(self.places)

    def _note(self, scene: Scene) -> None:
        place = self.place
        for direction, door in scene.doors.items():
            place.doors[direction] = door
            place.ways.setdefault(direction, None)
        for direction in scene.exits:
            place.ways.setdefault(direction, None)
        place.shut = {d for d, door in place.doors.items() if door in scene.closed}
        doors = set(place.doors.values())
        place.closed = set(scene.closed) - doors
        place.fixtures |= {holder for holder in scene.lying.values() if holder} | place.closed
        things: dict[str, str | None] = dict(scene.lying)
        for name in scene.seen - place.fixtures - doors:
            # With full hands nothing can be taken; only names are visible.
            things.setdefault(name, place.things.get(name))
        place.things = things

    def route(self, target: int, *, start: int | None = None) -> list[str] | None:
        """Directions of a shortest known path; `None` if there is none."""
        start = self.here if start is None else start
        before: dict[int, tuple[int, str]] = {start: (start, "")}
        queue = deque([start])
        while queue:
            at = queue.popleft()
            if at == target:
                break
            for direction, beyond in self.places[at].ways.items():
                if beyond is not None and beyond not in before:
                    before[beyond] = (at, direction)
                    queue.append(beyond)
        if target not in before:
            return None
        steps: list[str] = []
        while target != start:
            target, direction = before[target]
            steps.append(direction)
        return steps[::-1]

    def distances(self, start: int | None = None) -> dict[int, int]:
        """Place → commands to reach it over known ways, including opening doors."""
        start = self.here if start is None else start
        if start not in self._distances:
            self._distances[start] = self._measured(start)
        return self._distances[start]

    def _measured(self, start: int) -> dict[int, int]:
        best = {start: 0}
        queue = [(0, start)]
        while queue:
            cost, at = heappop(queue)
            if cost > best[at]:
                continue
            place = self.places[at]
            for direction, beyond in place.ways.items():
                if beyond is None:
                    continue
                further = cost + 1 + (direction in place.shut)
                if further < best.get(beyond, further + 1):
                    best[beyond] = further
                    heappush(queue, (further, beyond))
        return best

    def frontier(self) -> list[tuple[int, str]]:
        """(place, direction) of every unexplored way."""
        return [
            (place.number, direction)
            for place in self.places
            for direction, beyond in place.ways.items()
            if beyond is None
        ]


class GameState(ABC, Generic[Held]):
    """The observed state of a game; subclasses add what a family of games needs."""

    def __init__(self) -> None:
        self.world = WorldMap()
        self.scene: Scene = read_scene(View())
        #: The inventory in order.
        self.held: dict[str, Held] = {}
        #: Things once held or takeable.
        self.portable: set[str] = set()
        #: The carrying limit; `None` if unknown.
        self.capacity: int | None = None
        #: (container, whether it held something) for each opened container.
        self.openings: list[tuple[str, bool]] = []
        #: (place, name) of closed things that did not open.
        self.stuck: set[tuple[int, str]] = set()

    @abstractmethod
    def read_held(self, view: View) -> dict[str, Held]:
        """Read the inventory by name."""

    @property
    def here(self) -> int:
        return self.world.here

    def see(self, view: View, last: str) -> None:
        """Update from the answer to the last command ("" at the start)."""
        self.scene = read_scene(view)
        verb, _, rest = last.partition(" ")
        moved = verb == "go" and ("-= " in view.feedback or view.room != self.world.place.room)
        place = self.world.arrive(self.scene, rest if moved else "")
        self.held = self.read_held(view)
        if limit := _LIMIT.search(view.inventory):
            self.capacity = int(limit[1])
        if verb == "open" and rest in self.scene.closed:
            self.stuck.add((place.number, rest))
        elif verb == "open" and rest not in place.doors.values():
            self.openings.append((rest, rest in self.scene.lying.values()))
        refused = verb == "take" and rest.partition(" from ")[0] not in self.held
        if refused or self._nothing_can_be_taken():
            self.capacity = len(self.held)
        self.portable |= set(self.held) | set(self.scene.lying)

    def _nothing_can_be_taken(self) -> bool:
        """Whether portable things are visible and none can be taken."""
        in_sight = (set(self.world.place.things) & self.portable) - set(self.held)
        return bool(self.held and not self.scene.lying and in_sight)

    def where(self, thing: str) -> int | None:
        """The nearest known place of a thing; `HELD`, or `None` if unknown."""
        if thing in self.held:
            return HELD
        distance = self.world.distances()
        places = [
            p.number
            for p in self.world.places
            if p.number in distance and (thing in p.things or thing in p.fixtures)
        ]
        return min(places, key=lambda p: (distance[p], p), default=None)

    def go(self, direction: str) -> str:
        """The command to go in a direction, or to open its door first."""
        here = self.world.place
        return f"open {here.doors[direction]}" if direction in here.shut else f"go {direction}"

    def walk(self, place: int) -> str:
        """The next command on the way to a place; "" if already there or unreachable."""
        route = self.world.route(place)
        return self.go(route[0]) if route else ""

    def take(self, thing: str) -> str:
        """The command to take a thing here."""
        holder = self.scene.lying.get(thing)
        return f"take {thing} from {holder}" if holder else f"take {thing}"
