"""Games of tidying up like those of TWC, of our own things and places, made with textworld."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from naisei.textgame.make.cooking import Split
from naisei.textgame.make.many import Made, compiled
from naisei.textgame.make.mess import FLOOR, HELD, Level, Mess, Stray, draw_mess

__all__ = ["file_name", "make_cleanup", "mess_of", "solution"]


# A way to tidy up a house that is known: the walkthrough of a generated game.
#
# Nearest first: all that can be put away here, all that can be taken here, then the nearest room
# where something can be done. Not always the shortest.

_BACK_solution = {"north": "south", "south": "north", "east": "west", "west": "east"}


def solution(mess: Mess) -> tuple[str, ...]:
    """Commands that bring everything where it belongs."""
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
        ways[link.other][_BACK_solution[link.side]] = link.room
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


# Games of tidying up like those of TWC, of our own things and places, made with textworld.
#
# As there: containers stand open, doors too, hands hold any number of things, a point for each
# thing the first time that it is in or on a place where it belongs, won when all are.

_OBJECTIVE = (
    "This house is in a mess. Some things lie about that belong elsewhere, and you may be "
    "holding some. Find everything that is out of place, and put it away where it belongs."
)
_BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}


def mess_of(split: Split, level: Level, *, rooms: int | None, seed: int, number: int) -> Mess:
    """The house of a game; the same arguments give the same house, on every platform.

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
    """Compile the game of a house. The files, `.z8` and `.json`, appear when they are whole.

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
