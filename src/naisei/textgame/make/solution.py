"""A way to tidy up a house that is known: the walkthrough of a generated game.

Nearest first: all that can be put away here, all that can be taken here, then the nearest room
where something can be done. Not always the shortest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from naisei.textgame.make.mess import FLOOR, HELD, Mess, Stray

__all__ = ["solution"]

_BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}


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
