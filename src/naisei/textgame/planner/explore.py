"""Where to look next: the unexplored way, or the closed container, that promises most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from naisei.textgame.planner.prior import FAR, Prior
from naisei.textgame.world_map import WorldMap

__all__ = ["Look", "best_look"]

#: Opening a container of which nobody knows anything, in commands of disappointment.
_UNKNOWN_CONTAINER = 2.0
#: A container that was never worth opening is the last resort.
_HOPELESS = 50.0


@dataclass(frozen=True, slots=True)
class Look:
    """Go to `place`, then `go` in a direction or `open` a container there. cost: commands that
    finding something is expected to take."""

    place: int
    go: str = ""
    open: str = ""
    cost: float = 0.0


def best_look(
    world: WorldMap, wanted: Sequence[str], prior: Prior, *, stuck: set[tuple[int, str]]
) -> Look | None:
    """The look with the least expected commands until one of `wanted` is found; `None` when
    everything was explored and opened."""
    distance = world.distances()
    known = {place.room.lower() for place in world.places}
    beyond_of = cache(lambda room, door: _further(room, door, wanted, known, prior))
    looks = []
    for number, direction in world.frontier():
        if number not in distance:
            continue
        place = world.places[number]
        door = place.doors.get(direction, "")
        shut = direction in place.shut
        if shut and (number, door) in stuck:
            continue
        travel = distance[number] + 1 + shut
        looks.append(Look(number, go=direction, cost=travel + beyond_of(place.room, door)))
    for place in world.places:
        if place.number not in distance:
            continue
        for container in place.closed:
            if (place.number, container) in stuck:
                continue
            worth = prior.worth_opening(container)
            doubt = (
                _UNKNOWN_CONTAINER
                if worth is None
                else _HOPELESS
                if worth == 0
                else min(1 / worth - 1, _HOPELESS)
            )
            looks.append(
                Look(
                    place.number,
                    open=container,
                    cost=distance[place.number]
                    + 1
                    + doubt * _rarely_there(place.room, wanted, prior),
                )
            )
    return min(looks, key=lambda look: (look.cost, look.place, look.go, look.open), default=None)


def _further(room: str, door: str, wanted: Sequence[str], known: set[str], prior: Prior) -> float:
    """Expected commands from beyond a way to the nearest of what is wanted."""
    beyond = prior.behind(room, door, known)
    if not beyond:
        return FAR
    return sum(
        p * _to_something(next_room, wanted, known, prior) for next_room, p in beyond.items()
    )


def _to_something(room: str, wanted: Sequence[str], known: set[str], prior: Prior) -> float:
    """Expected further commands from `room` to the nearest of what is wanted."""
    hops = prior.hops(room)
    best = FAR
    for thing in wanted:
        rooms = prior.rooms_of(thing, known)
        if rooms:
            best = min(best, sum(p * hops.get(r, FAR) for r, p in rooms.items()))
    return best


def _rarely_there(room: str, wanted: Sequence[str], prior: Prior) -> float:
    """1 where what is wanted is never found in this room, less where it often is."""
    shares = [prior.rooms_of(thing, ()).get(room.lower(), 0.0) for thing in wanted]
    return 1 - max(shares, default=0.0)
