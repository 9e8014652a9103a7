"""What the player knows of the house, and the order of rooms that promises most points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from naisei.textgame.reading import Scene, read_scene
from naisei.textgame.schemas import View
from naisei.textgame.world_map import WorldMap

__all__ = ["UNKNOWN", "At", "Chance", "House", "Tour", "best_tour"]


#: A receptacle: (place, name).
At = tuple[int, str]
_PUT = re.compile(r"^(?:put|insert) (.+) (?:on|into|onto|in) (.+)$")
_DOOR = re.compile(r"\b(?:door|gate|hatch|doorway|entrance|passageway|portal|gateway)$", re.I)


@dataclass
class House:
    """Kept up to date with every view.

    receptacles: (place, name). lying: thing → (place, receptacle; empty for the floor). held:
    what is carried, in order. done: what was put where it belongs. capacity: how many things can
    be carried, where that was found out.
    """

    world: WorldMap = field(default_factory=WorldMap)
    receptacles: dict[At, None] = field(default_factory=dict)
    lying: dict[str, At] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    capacity: int | None = None
    #: Closed things that would not open: (place, name).
    stuck: set[At] = field(default_factory=set)
    scene: Scene = field(default_factory=lambda: read_scene(View()))
    portable: set[str] = field(default_factory=set)

    @property
    def here(self) -> int:
        return self.world.here

    def see(self, view: View, last: str) -> None:
        """Take in the answer to the last command (empty at the start)."""
        self.scene = read_scene(view)
        verb, _, rest = last.partition(" ")
        moved = verb == "go" and ("-= " in view.feedback or view.room != self._room())
        self.world.arrive(self.scene, rest if moved else "")
        self._note_things(view)
        self._note_receptacles()
        if verb == "open" and rest in self.scene.closed:
            self.stuck.add((self.here, rest))
        thing = rest.partition(" from ")[0]
        if verb == "take" and thing not in self.held:
            self.capacity = len(self.held)

    def _room(self) -> str:
        return self.world.place.room if self.world.places else ""

    def _note_things(self, view: View) -> None:
        held = [c.removeprefix("drop ") for c in sorted(self.scene.can) if c.startswith("drop ")]
        if not held:
            # Without `drop`, what is carried is what can be put somewhere.
            held = sorted({m[1] for c in self.scene.can if (m := _PUT.match(c))})
        if not held:
            held = [t for t in self.held if t in view.inventory]
        self.held = held
        here = self.here
        self.lying = {
            thing: at for thing, at in self.lying.items() if at[0] != here and thing not in held
        }
        for thing, holder in self.scene.lying.items():
            self.lying[thing] = (here, holder)
        self.portable |= set(held) | set(self.scene.lying)

    def _note_receptacles(self) -> None:
        here, place = self.here, self.world.place
        names = set(self.scene.lying.values()) | self.scene.closed
        if takes := self._takes():
            # Now it is known what can hold something; a window cannot.
            names |= takes
            for at in [a for a in self.receptacles if a[0] == here and a[1] not in names]:
                del self.receptacles[at]
        else:
            names |= self.scene.seen
        doors = set(place.doors.values()) | {name for name in names if _DOOR.search(name)}
        for name in sorted(names - doors - self.portable - {""}):
            self.receptacles.setdefault((here, name))

    def _takes(self) -> set[str]:
        """What something that is held can be put on or into here."""
        return {
            command.removeprefix(start)
            for thing in self.held
            for start in (f"put {thing} on ", f"insert {thing} into ")
            for command in self.scene.can
            if command.startswith(start)
        }

    def put(self, thing: str, receptacle: str) -> str:
        """The command that puts a held thing there, opening it if need be; empty if none does."""
        for command in (f"put {thing} on {receptacle}", f"insert {thing} into {receptacle}"):
            if command in self.scene.can:
                return command
        return f"open {receptacle}" if receptacle in self.scene.closed else ""

    def take(self, thing: str) -> str:
        """The command that takes a thing that lies here."""
        holder = self.lying[thing][1]
        return f"take {thing} from {holder}" if holder else f"take {thing}"

    def hidden(self) -> list[At]:
        """Closed containers that may hold something, and can be opened."""
        return [
            (place.number, name)
            for place in self.world.places
            for name in sorted(place.closed)
            if (place.number, name) not in self.stuck and not _DOOR.search(name)
        ]


#: Stands for whatever lies behind a way that nobody has gone.
UNKNOWN = -1
#: What an unknown room is expected to hold: things that can be put away, in steps each.
_NEW_THINGS, _NEW_STEPS, _NEW_CHANCE = 3, 2, 0.7
#: A point soon is worth a little more than one late.
_LATER = 0.004
#: Rooms of a tour after the first, and rooms that are considered at all.
_LEGS, _ROOMS = 3, 6
#: A chance of a point that is smaller is no reason to go anywhere.
_WORTH = 0.08


@dataclass(frozen=True, slots=True)
class Chance:
    """A thing that is not put away. at: its place, `None` if it is held. by_place: place (or
    `UNKNOWN`) → probability that the next try there is right."""

    name: str
    at: int | None
    by_place: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Tour:
    """stops: places in order, the first is here. value: expected points. target: thing → number
    of the stop where it is put. lifted: thing → number of the stop where it is taken up."""

    stops: tuple[int, ...]
    value: float
    target: Mapping[str, int]
    lifted: Mapping[str, int]


def best_tour(
    things: Sequence[Chance],
    distance: Mapping[int, Mapping[int, int]],
    here: int,
    *,
    steps: int,
    frontier: Mapping[int, int],
) -> Tour:
    """distance: place → place → commands. frontier: place → commands to leave it into the
    unknown."""
    rooms = _rooms(things, distance[here], here)
    best = _value((here,), 0, (0,), things, steps)
    stack: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((here,), (0,))]
    while stack:
        stops, when = stack.pop()
        if len(stops) > _LEGS or stops[-1] == UNKNOWN:
            continue
        nexts = [(r, distance[stops[-1]][r]) for r in rooms if r != stops[-1]]
        out = [distance[stops[-1]][p] + cost for p, cost in frontier.items()]
        nexts += [(UNKNOWN, min(out))] if out else []
        for room, cost in nexts:
            if when[-1] + cost < steps:
                further = (*stops, room), (*when, when[-1] + cost)
                stack.append(further)
                tour = _value(further[0], further[1][-1], further[1], things, steps)
                if tour.value > best.value + 1e-9:
                    best = tour
    return best


def _rooms(things: Sequence[Chance], near: Mapping[int, int], here: int) -> list[int]:
    """Places where there is something to do, the nearest first."""
    wanted = {t.at for t in things if t.at is not None} | {here}
    wanted |= {p for t in things for p, chance in t.by_place.items() if chance >= _WORTH}
    known = [p for p in wanted if p in near]
    return sorted(known, key=lambda p: (near[p], p))[:_ROOMS]


def _value(
    stops: tuple[int, ...],
    moves: int,
    when: tuple[int, ...],
    things: Sequence[Chance],
    steps: int,
) -> Tour:
    left = steps - moves
    jobs: list[tuple[float, int, int, Chance | None, int]] = []
    for thing in things:
        first = 0 if thing.at is None else (stops.index(thing.at) if thing.at in stops else None)
        if first is None:
            continue
        tries = [
            (thing.by_place.get(stop, 0.0) * (1 - _LATER * when[i]), -i)
            for i, stop in enumerate(stops)
            if i >= first
        ]
        gain, stage = max(tries)
        if gain > 0:
            jobs.append((gain, 1 if thing.at is None else 2, -stage, thing, first))
    if UNKNOWN in stops:
        new = _NEW_CHANCE - _LATER * moves
        jobs += [(new, _NEW_STEPS, len(stops) - 1, None, 0)] * _NEW_THINGS
    jobs.sort(key=lambda job: -job[0] / job[1])
    value = 0.0
    target: dict[str, int] = {}
    lifted: dict[str, int] = {}
    for gain, cost, stage, who, first in jobs:
        if cost > left:
            continue
        left -= cost
        value += gain
        if who is not None:
            target[who.name] = stage
            if who.at is not None:
                lifted[who.name] = first
    return Tour(stops, value - _LATER * moves, target, lifted)
