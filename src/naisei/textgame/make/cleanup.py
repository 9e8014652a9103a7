"""Tidying games like TWC's, generated with textworld from our own things and places."""

from __future__ import annotations

import tomllib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any, Literal

from naisei.core import InputError
from naisei.lang import say
from naisei.textgame.make.cooking import Split
from naisei.textgame.make.many import Made, compiled

# The bundled rooms, furniture and things, and where each thing belongs.
#
# Data and card: `naisei/data/tidy_objects/`.


@dataclass(frozen=True, slots=True)
class Furniture:
    """Furniture for things. open: things are put into it, not on it."""

    name: str
    room: str
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A movable thing.

    name: without article. plural: takes `some`. colours: whether it comes in colours. places: state
    ("": none) → furniture where it then belongs.
    """

    name: str
    kind: str
    split: str
    plural: bool
    colours: bool
    places: Mapping[str, tuple[str, ...]]


@cache
def furniture() -> Mapping[str, Furniture]:
    """Name → furniture of all rooms."""
    return {
        name: Furniture(name, room, open=how == "in")
        for room, inside in _table("rooms.toml").items()
        for how in ("in", "on")
        for name in inside[how]
    }


@cache
def rooms() -> tuple[str, ...]:
    """The names of all rooms."""
    return tuple(_table("rooms.toml"))


@cache
def things(split: Split) -> tuple[Thing, ...]:
    """The things of a split; splits share none."""
    return tuple(
        Thing(
            name=name.removeprefix("some "),
            kind=kind,
            split=split,
            plural=name.startswith("some "),
            colours=entry["colours"],
            places={state: tuple(places) for state, places in entry["places"].items()},
        )
        for kind, entry in _table("kinds.toml").items()
        for name in entry["things"][split]
    )


def _table(name: str) -> dict[str, Any]:
    text = (files("naisei.data") / "tidy_objects" / name).read_text(encoding="utf-8")
    return tomllib.loads(text)


# An untidy house: rooms, misplaced things and their goals.
#
# Pure functions of a seed, without the game engine.

Level = Literal["easy", "medium", "hard"]
#: Level → number of things and default rooms. Source: the text-game thesis, §3.3.1.
LEVELS: dict[Level, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "easy": ((1,), (1,)),
    "medium": ((2, 3), (1,)),
    "hard": ((6, 7), (1, 2)),
}
HELD, FLOOR = "<held>", "<floor>"

_COLOURS = ("red", "blue", "green", "yellow", "white", "grey", "brown", "purple", "striped")
_DOORS = ("sliding door", "panelled door", "glazed door", "swing door", "oak door", "painted door")
_SIDES = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}
#: Shares: coloured things among those that come in colours; things on the floor among
#: those not held; ways that have a door.
_COLOURED, _ON_FLOOR, _WITH_DOOR = 0.6, 0.35, 0.4


@dataclass(frozen=True, slots=True)
class Stray:
    """A misplaced thing.

    name: as the game prints it. at: room, "" if held. start: furniture, `FLOOR` or `HELD`. goals:
    furniture in this house where it belongs, at least one.
    """

    name: str
    plural: bool
    at: str
    start: str
    goals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A way from one room to another, in a direction. door: its name, or ""."""

    room: str
    side: str
    other: str
    door: str


@dataclass(frozen=True, slots=True)
class Mess:
    """A tidying game. rooms: the player starts in the first."""

    rooms: tuple[str, ...]
    links: tuple[Link, ...]
    furniture: tuple[Furniture, ...]
    strays: tuple[Stray, ...]

    @property
    def take(self) -> int:
        """Number of things that must be picked up first, as in TWC's file names."""
        return sum(stray.start != HELD for stray in self.strays)


def draw_mess(split: Split, level: Level, *, number_of_rooms: int | None, random: Random) -> Mess:
    """A random house of a level. number_of_rooms: default by level.

    Raises:
        InputError: more rooms than the list has.
    """
    counts, usual = LEVELS[level]
    if number_of_rooms is not None and not 1 <= number_of_rooms <= len(rooms()):
        raise InputError(
            say(
                f"部屋は全部で {len(rooms())} です。{number_of_rooms} にはできません",
                f"there are {len(rooms())} rooms, not {number_of_rooms}",
            ),
            place="--rooms",
            remedy=say(f"1〜{len(rooms())} を指定してください", f"use 1 to {len(rooms())}"),
        )
    many = random.choice(usual) if number_of_rooms is None else number_of_rooms
    count = random.choice(counts)
    while True:
        chosen = random.sample(rooms(), many)
        inside = {n: f for n, f in furniture().items() if f.room in chosen}
        belonging = _belonging(split, set(inside), random)
        # Too few things may belong in a small house.
        if len(belonging) >= count:
            break
    picked = _picked(belonging, count, inside, many, random)
    held = random.choice(range(count // 3 + 1))
    strays = tuple(
        _stray(thing, state, inside, random, held=number < held)
        for number, (thing, state) in enumerate(picked)
    )
    return Mess(tuple(chosen), _links(chosen, random), tuple(inside.values()), strays)


def _belonging(split: Split, inside: set[str], random: Random) -> list[tuple[Thing, str]]:
    """Things that belong somewhere in the house, each with one state, in random order."""
    found = []
    for thing in things(split):
        states = [state for state, places in thing.places.items() if inside & set(places)]
        if states:
            found.append((thing, random.choice(states)))
    random.shuffle(found)
    return found


def _picked(
    belonging: Sequence[tuple[Thing, str]],
    count: int,
    inside: dict[str, Furniture],
    many: int,
    random: Random,
) -> list[tuple[Thing, str]]:
    """Choose things so that, if possible, something belongs in every room."""
    picked: list[tuple[Thing, str]] = []
    served: set[str] = set()
    for pair in belonging:
        at = {inside[p].room for p in pair[0].places[pair[1]] if p in inside}
        if not at & served and len(served) < min(many, count):
            picked.append(pair)
            served |= at
    picked += [pair for pair in belonging if pair not in picked]
    picked = picked[:count]
    random.shuffle(picked)
    return picked


def _stray(
    thing: Thing, state: str, inside: dict[str, Furniture], random: Random, *, held: bool
) -> Stray:
    goals = tuple(place for place in thing.places[state] if place in inside)
    colour = random.choice(_COLOURS) if thing.colours and random.random() < _COLOURED else ""
    name = " ".join(word for word in (state, colour, thing.name) if word)
    if held:
        return Stray(name, thing.plural, "", HELD, goals)
    if random.random() < _ON_FLOOR:
        at = random.choice(sorted({f.room for f in inside.values()}))
        return Stray(name, thing.plural, at, FLOOR, goals)
    # A thing never starts where it belongs in another state.
    wrong = sorted(set(inside) - {p for places in thing.places.values() for p in places})
    start = inside[random.choice(wrong)]
    return Stray(name, thing.plural, start.room, start.name, goals)


def _links(chosen: Sequence[str], random: Random) -> tuple[Link, ...]:
    """A random tree over the rooms."""
    cells = {(0, 0): chosen[0]}
    doors = random.sample(_DOORS, len(_DOORS))
    links = []
    for room in chosen[1:]:
        free = [
            ((x, y), side)
            for (x, y) in cells
            for side, (dx, dy) in _SIDES.items()
            if (x + dx, y + dy) not in cells
        ]
        (x, y), side = random.choice(free)
        door = doors.pop() if doors and random.random() < _WITH_DOOR else ""
        links.append(Link(cells[x, y], side, room, door))
        cells[x + _SIDES[side][0], y + _SIDES[side][1]] = room
    return tuple(links)


# The walkthrough of a generated game.
#
# Greedy: put away what fits here, take everything here, then go to the nearest room with
# something to do. Not always shortest.

_BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}


def solution(mess: Mess) -> tuple[str, ...]:
    """Commands that put everything where it belongs."""
    ways = _ways(mess)
    place = {f.name: f for f in mess.furniture}
    held = [s for s in mess.strays if s.start == HELD]
    lying = [s for s in mess.strays if s.start != HELD]
    here, commands = mess.rooms[0], list[str]()

    def goal(stray: Stray, room: str) -> str:
        return next((g for g in stray.goals if place[g].room == room), "")

    while held or lying:
        for stray in [s for s in lying if s.at == here]:
            commands.append(_take(stray))
            lying.remove(stray)
            held.append(stray)
        for stray in [s for s in held if goal(s, here)]:
            name = goal(stray, here)
            verb = f"insert {stray.name} into" if place[name].open else f"put {stray.name} on"
            commands.append(f"{verb} {name}")
            held.remove(stray)
        wanted = {s.at for s in lying} | {place[g].room for s in held for g in s.goals}
        route, here = _nearest(ways, here, wanted) if wanted else ([], here)
        commands += [f"go {side}" for side in route]
    return tuple(commands)


def _take(stray: Stray) -> str:
    return f"take {stray.name}" + ("" if stray.start == FLOOR else f" from {stray.start}")


def _ways(mess: Mess) -> dict[str, dict[str, str]]:
    ways: dict[str, dict[str, str]] = {room: {} for room in mess.rooms}
    for link in mess.links:
        ways[link.room][link.side] = link.other
        ways[link.other][_BACK[link.side]] = link.room
    return ways


def _nearest(
    ways: Mapping[str, Mapping[str, str]], start: str, wanted: set[str]
) -> tuple[list[str], str]:
    queue = deque([(start, list[str]())])
    seen = {start}
    while queue:
        room, route = queue.popleft()
        if room in wanted:
            return route, room
        for side, beyond in ways[room].items():
            if beyond not in seen:
                seen.add(beyond)
                queue.append((beyond, [*route, side]))
    raise AssertionError("the rooms of a house hang together")


# As in TWC: containers and doors are open, the player can hold everything, each thing earns one
# point when it is first put where it belongs, and the game is won when all are in place.

_OBJECTIVE = (
    "This house is in a mess. Some things lie about that belong elsewhere, and you may be "
    "holding some. Find everything that is out of place, and put it away where it belongs."
)


def mess_of(split: Split, level: Level, *, rooms: int | None, seed: int, number: int) -> Mess:
    """The house of a game; equal arguments give the same house on every platform.

    Raises:
        InputError: more rooms than the list has.
    """
    random = Random(f"{seed}/{split}/{level}/{rooms or 0}/{number}")
    return draw_mess(split, level, number_of_rooms=rooms, random=random)


def file_name(mess: Mess, split: Split, level: Level, *, seed: int, number: int) -> str:
    """`tw-cleanup-test-hard-objects7-take5-rooms2-0.3.z8`."""
    size = f"objects{len(mess.strays)}-take{mess.take}-rooms{len(mess.rooms)}"
    return f"tw-cleanup-{split}-{level}-{size}-{seed}.{number}.z8"


def make_cleanup(
    mess: Mess, split: Split, level: Level, folder: Path, *, seed: int, number: int
) -> Made:
    """Compile the game of a house. `.z8` and `.json` appear only when complete.

    Raises:
        InputError: textworld is not installed.
        InstrumentFailure: the compiler failed.
    """
    from textworld import GameOptions

    options = GameOptions()
    draw = Random(f"texts/{seed}/{split}/{level}/{number}")
    seeds = {name: draw.randrange(65536) for name in ("map", "objects", "quest", "grammar")}
    options.seeds = seeds
    walkthrough = solution(mess)
    game = _game(mess, options)
    game.objective = _OBJECTIVE
    game.metadata |= {
        "max_score": len(mess.strays),
        "walkthrough": list(walkthrough),
        "goal_locations": {stray.name: list(stray.goals) for stray in mess.strays},
        "desc": "Generated by naisei.",
    }
    path = compiled(game, options, folder / file_name(mess, split, level, seed=seed, number=number))
    return Made(
        file=path.name,
        family="cleanup",
        split=split,
        settings={
            "level": level,
            "objects": len(mess.strays),
            "take": mess.take,
            "rooms": len(mess.rooms),
        },
        seeds=seeds,
        max_score=len(mess.strays),
        walkthrough=len(walkthrough),
    )


def _game(mess: Mess, options: Any) -> Any:
    from textworld import GameMaker
    from textworld.generator.game import Event, Quest

    maker = GameMaker(options)
    rooms = {name: maker.new_room(name) for name in mess.rooms}
    maker.set_player(rooms[mess.rooms[0]])
    for link in mess.links:
        there, back = rooms[link.room].exits[link.side], rooms[link.other].exits[_BACK[link.side]]
        path = maker.connect(there, back)
        if link.door:
            maker.new_door(path, name=link.door).add_property("open")
    places = {}
    for piece in mess.furniture:
        place = maker.new("c" if piece.open else "s", name=piece.name)
        if piece.open:
            place.add_property("open")
        rooms[piece.room].add(place)
        places[piece.name] = place
    quests = []
    for stray in mess.strays:
        thing = maker.new("o", name=stray.name)
        if stray.plural:
            thing.infos.indefinite = "some"
        if stray.start == HELD:
            maker.inventory.add(thing)
        else:
            (rooms[stray.at] if stray.start == FLOOR else places[stray.start]).add(thing)
        facts = [
            maker.new_fact("in" if places[goal].type == "c" else "on", thing, places[goal])
            for goal in stray.goals
        ]
        quests.append(Quest(win_events=[Event(conditions={fact}) for fact in facts], reward=1))
    maker.quests = quests
    return maker.build()
