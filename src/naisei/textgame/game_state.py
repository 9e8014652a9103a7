"""A player's knowledge of a game: the map, the inventory, and the resulting commands."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Generic, TypeVar

from naisei.textgame.schemas import View
from naisei.textgame.texts import OPPOSITE, STEP, Scene, read_scene

#: The place of a thing in hand.
HELD = -1
#: Phrases that state the carrying limit.
_LIMIT = re.compile(r"\bcapacity (?:is|of) (\d{1,4})\b")
#: The pseudo-place of held things.
Held = TypeVar("Held")


@dataclass(slots=True)
class Room:
    """A visited room.

    at: (steps east, steps north) of the start, along the first path. ways: direction → place
    beyond, `None` if unexplored. doors: direction → door. shut: directions whose door is
    closed. things: thing → what it lies on (empty: the floor; `None`: in sight, but not known
    where). closed: containers that were not opened yet.
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
    """Rooms, ways and doors, as explored: places numbered in order of first visit.

    Source: the navigator of the text-game thesis, §6.2.1. There a room is its name. Here rooms of
    one name can be several: they are told apart by position.
    """

    def __init__(self) -> None:
        self.places: list[Room] = []
        self.here = -1
        self._distances: dict[int, dict[int, int]] = {}

    @property
    def place(self) -> Room:
        return self.places[self.here]

    def arrive(self, scene: Scene, came: str = "") -> Room:
        """Enter the room of a scene. came: the direction that was gone; empty at the start and
        after a command that does not move."""
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
        """The place of that name that closes a circle in the map, if it is one.

        It must have an unexplored way back and the right grid position. If two rooms share a
        position, the house does not fit a grid; then a unique name suffices.
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
            # With full hands nothing can be taken, and only its name is in sight.
            things.setdefault(name, place.things.get(name))
        place.things = things

    def route(self, target: int, *, start: int | None = None) -> list[str] | None:
        """Directions of a shortest way over known ways; `None` if there is none."""
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
        """Commands to every place that known ways lead to, opening doors included."""
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
    """The observed state of a game; families of games extend it."""

    def __init__(self) -> None:
        self.world = WorldMap()
        self.scene: Scene = read_scene(View())
        #: The inventory, in order.
        self.held: dict[str, Held] = {}
        #: Things that were held or takeable at some time.
        self.portable: set[str] = set()
        #: The carrying limit; `None` until known.
        self.capacity: int | None = None
        #: (container, whether something was in it) for every container that was opened.
        self.openings: list[tuple[str, bool]] = []
        #: Closed things that would not open: (place, name).
        self.stuck: set[tuple[int, str]] = set()

    @abstractmethod
    def read_held(self, view: View) -> dict[str, Held]:
        """Read the inventory by name."""

    @property
    def here(self) -> int:
        return self.world.here

    def see(self, view: View, last: str) -> None:
        """Take in the answer to the last command (empty at the start)."""
        self.scene = read_scene(view)
        verb, _, rest = last.partition(" ")
        moved = verb == "go" and ("-= " in view.feedback or view.room != self.world.place.room)
        place = self.world.arrive(self.scene, rest if moved else "")
        self.held = self.read_held(view)
        if told := _LIMIT.search(view.inventory):
            self.capacity = int(told[1])
        if verb == "open" and rest in self.scene.closed:
            self.stuck.add((place.number, rest))
        elif verb == "open" and rest not in place.doors.values():
            self.openings.append((rest, rest in self.scene.lying.values()))
        refused = verb == "take" and rest.partition(" from ")[0] not in self.held
        if refused or self._nothing_can_be_taken():
            self.capacity = len(self.held)
        self.portable |= set(self.held) | set(self.scene.lying)

    def _nothing_can_be_taken(self) -> bool:
        """Whether things that could be taken before are in sight, and cannot be taken now."""
        in_sight = (set(self.world.place.things) & self.portable) - set(self.held)
        return bool(self.held and not self.scene.lying and in_sight)

    def where(self, thing: str) -> int | None:
        """The nearest known place of a thing; `HELD` if held, `None` if unknown."""
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
        """The command that goes there, or opens the door first."""
        here = self.world.place
        return f"open {here.doors[direction]}" if direction in here.shut else f"go {direction}"

    def walk(self, place: int) -> str:
        """The next command on the way to a place; empty if it is here, or no known way leads
        there."""
        route = self.world.route(place)
        return self.go(route[0]) if route else ""

    def take(self, thing: str) -> str:
        """The command to take a thing here."""
        holder = self.scene.lying.get(thing)
        return f"take {thing} from {holder}" if holder else f"take {thing}"
