"""Where to search next, by statistics of houses; and the cheapest order of errands."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from heapq import heappop, heappush
from importlib.resources import files
from itertools import count

from pydantic import BaseModel, ConfigDict, PrivateAttr

from naisei.textgame.game_state import HELD, WorldMap

# Statistics of houses: rooms behind doors, and places of things.
#
# Counted in the planner's plays of training games (`tools/cooking_prior.py`; see the card).
# With an empty prior all unknown rooms are equal.

#: Assumed commands to an unknown place.
FAR = 3.0
#: Key for any door or no door.
_ANY = ""
#: Key for any thing.
_THING = ""


class Prior(BaseModel):
    """Counts over training games.

    beyond: `room|door` → room behind it → count (no door: `room|`). lies: thing → room → count
    (empty name: all things). opened: container → times it held something, times it was opened.
    """

    model_config = ConfigDict(extra="forbid")

    beyond: dict[str, dict[str, int]] = {}
    lies: dict[str, dict[str, int]] = {}
    opened: dict[str, tuple[int, int]] = {}

    _kept_hops: dict[str, dict[str, int]] = PrivateAttr(default_factory=dict)

    def add(self, world: WorldMap, openings: Sequence[tuple[str, bool]] = ()) -> None:
        """Count a finished game's map and opened containers."""
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
        """Room → probability that it is behind a way out of `room`; empty if unknown. known: rooms
        already visited elsewhere."""
        counts = self.beyond.get(f"{room.lower()}|{door}", {})
        open_counts = {r: c for r, c in counts.items() if r not in known}
        total = sum(open_counts.values())
        return {r: c / total for r, c in open_counts.items()} if total else {}

    def rooms_of(self, thing: str, searched: Collection[str]) -> dict[str, float]:
        """Room → probability that the thing is there. searched: rooms without it."""
        counts = self.lies.get(thing) or self._alike(thing) or self.lies.get(_THING, {})
        left = {r: c for r, c in counts.items() if r not in searched}
        total = sum(left.values())
        return {r: c / total for r, c in left.items()} if total else {}

    def knows(self, thing: str) -> bool:
        """Whether such a thing was ever seen; if not, `rooms_of` uses the counts of all things."""
        return bool(self.lies.get(thing) or self._alike(thing))

    def _alike(self, thing: str) -> dict[str, int]:
        """Counts of things with the same last word: a yellow onion counts as an onion."""
        last = thing.split()[-1]
        alike: dict[str, int] = {}
        for name, counts in self.lies.items():
            if name.split()[-1:] == [last]:
                for room, count in counts.items():
                    alike[room] = alike.get(room, 0) + count
        return alike

    def hops(self, start: str) -> dict[str, int]:
        """Room → doors and ways from `start`, in the union of the seen houses."""
        if start not in self._kept_hops:
            self._kept_hops[start] = _hops(self._links(), start)
        return self._kept_hops[start]

    def _links(self) -> Mapping[str, frozenset[str]]:
        links: dict[str, set[str]] = {}
        for key, rooms in self.beyond.items():
            links.setdefault(key.partition("|")[0], set()).update(rooms)
        return {room: frozenset(others) for room, others in links.items()}

    def worth_opening(self, container: str) -> float | None:
        """Share of times the container held something; `None` if unknown."""
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
    """The bundled prior."""
    text = (files("naisei") / "data" / "cooking_prior" / "prior.json").read_text(encoding="utf-8")
    return Prior.model_validate_json(text)


# Where to search next: the most promising unexplored way or closed container.

#: Cost in commands of opening an unknown container.
_UNKNOWN_CONTAINER = 2.0
#: Most extra cost of a container, for one that never held anything.
_HOPELESS = 50.0


@dataclass(frozen=True, slots=True)
class Look:
    """Go to `place`, then `go` in a direction or `open` a container. cost: expected commands until
    something is found."""

    place: int
    go: str = ""
    open: str = ""
    cost: float = 0.0


def best_look(
    world: WorldMap, wanted: Sequence[str], prior: Prior, *, stuck: set[tuple[int, str]]
) -> Look | None:
    """The search step with the fewest expected commands until one of `wanted` is found; `None` if
    everything is explored and open."""
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
    """Expected commands from the room behind a way to the nearest wanted thing."""
    beyond = prior.behind(room, door, known)
    if not beyond:
        return FAR
    return sum(
        p * _to_something(next_room, wanted, known, prior) for next_room, p in beyond.items()
    )


def _to_something(room: str, wanted: Sequence[str], known: set[str], prior: Prior) -> float:
    """Expected commands from `room` to the nearest wanted thing."""
    hops = prior.hops(room)
    best = FAR
    for thing in wanted:
        rooms = prior.rooms_of(thing, known)
        if rooms:
            best = min(best, sum(p * hops.get(r, FAR) for r, p in rooms.items()))
    return best


def _rarely_there(room: str, wanted: Sequence[str], prior: Prior) -> float:
    """1 if wanted things are never in this room; lower the more often they are."""
    shares = [prior.rooms_of(thing, ()).get(room.lower(), 0.0) for thing in wanted]
    return 1 - max(shares, default=0.0)


# The cheapest order of errands once everything is found: an exact search.
#
# A state has the planner's place, each thing's place, and what is cut and cooked. Actions without
# a downside (cook held things at the appliance, cut held things with the knife) are taken
# immediately, which keeps the search small.


@dataclass(frozen=True, slots=True)
class Job:
    """A thing to hold at the end. cook_at: where to cook it, or `None`."""

    name: str
    at: int
    cut: bool = False
    cook_at: int | None = None


@dataclass(frozen=True, slots=True)
class Errand:
    """One command, or a walk. kind: take, drop, cut, cook or walk."""

    kind: str
    thing: int = -1
    place: int = -1


@dataclass(frozen=True, slots=True)
class Errands:
    """The start of a search.

    jobs: the ingredients. knife_at: where the knife is (possibly `HELD`; `None` without one).
    spare: unneeded things in hand. hands: carrying limit. here, goal: places. distance: place →
    place → commands.
    """

    jobs: Sequence[Job]
    knife_at: int | None
    spare: int
    hands: int
    here: int
    goal: int
    distance: Mapping[int, Mapping[int, int]]


_State = tuple[int, tuple[int, ...], int, int, int, int]


def plan_errands(errands: Errands, *, limit: int = 60_000) -> tuple[int, list[Errand]] | None:
    """(commands, errands) of a cheapest plan; `None` if there is none within `limit` states."""
    jobs = errands.jobs
    n = len(jobs)
    cut = sum(1 << i for i, job in enumerate(jobs) if job.cut)
    cook = sum(1 << i for i, job in enumerate(jobs) if job.cook_at is not None)
    knife = errands.knife_at if errands.knife_at is not None else -2
    start: _State = (
        errands.here,
        tuple(job.at for job in jobs),
        cut,
        cook,
        knife,
        errands.spare,
    )
    sites = _sites(errands)
    order = count()
    best: dict[_State, int] = {start: 0}
    came: dict[_State, tuple[_State, Errand]] = {}
    queue = [(_least(start), next(order), start)]
    while queue:
        _, _, state = heappop(queue)
        cost = best[state]
        place, at, cut, cook, _, _ = state
        if place == errands.goal and not cut and not cook and all(p == HELD for p in at):
            return cost, _path(came, start, state)
        if len(best) > limit:
            return None
        for errand, after, price in _moves(state, errands, sites, n):
            if cost + price < best.get(after, 10**9):
                best[after] = cost + price
                came[after] = (state, errand)
                heappush(queue, (cost + price + _least(after), next(order), after))
    return None


def _sites(errands: Errands) -> list[int]:
    found = {errands.goal}
    for job in errands.jobs:
        found |= {job.at} if job.at != HELD else set()
        found |= {job.cook_at} if job.cook_at is not None else set()
    if errands.knife_at is not None and errands.knife_at != HELD:
        found.add(errands.knife_at)
    return sorted(found)


def _least(state: _State) -> int:
    """A lower bound on the remaining commands."""
    _, at, cut, cook, knife, _ = state
    missing = sum(p != HELD for p in at)
    return missing + cut.bit_count() + cook.bit_count() + (1 if cut and knife != HELD else 0)


def _path(
    came: Mapping[_State, tuple[_State, Errand]], start: _State, state: _State
) -> list[Errand]:
    steps = []
    while state != start:
        state, errand = came[state]
        steps.append(errand)
    return steps[::-1]


def _moves(
    state: _State, errands: Errands, sites: Sequence[int], n: int
) -> list[tuple[Errand, _State, int]]:
    place, at, cut, cook, knife, spare = state
    for i in range(n):
        bit = 1 << i
        if at[i] == HELD and cook & bit and errands.jobs[i].cook_at == place:
            return [(Errand("cook", i), (place, at, cut, cook & ~bit, knife, spare), 1)]
        if at[i] == HELD and cut & bit and knife == HELD:
            return [(Errand("cut", i), (place, at, cut & ~bit, cook, knife, spare), 1)]
    held = sum(p == HELD for p in at) + (knife == HELD) + spare
    found = []
    wants = False
    for i in range(n):
        if at[i] == place:
            wants = True
            if held < errands.hands:
                after = (*at[:i], HELD, *at[i + 1 :])
                found.append((Errand("take", i), (place, after, cut, cook, knife, spare), 1))
    if cut and knife == place:
        wants = True
        if held < errands.hands:
            found.append((Errand("take", n), (place, at, cut, cook, HELD, spare), 1))
    if wants and held >= errands.hands:
        if spare:
            # Drop unneeded things first, in any order.
            return [(Errand("drop", n + 1), (place, at, cut, cook, knife, spare - 1), 1)]
        if knife == HELD:
            found.append((Errand("drop", n), (place, at, cut, cook, place, spare), 1))
        for i in range(n):
            if at[i] == HELD:
                after = (*at[:i], place, *at[i + 1 :])
                found.append((Errand("drop", i), (place, after, cut, cook, knife, spare), 1))
    reach = errands.distance.get(place, {})
    targets = {*sites, *(p for p in at if p != HELD), *([knife] if knife >= 0 else [])}
    found += [
        (Errand("walk", place=site), (site, at, cut, cook, knife, spare), reach[site])
        for site in sorted(targets)
        if site != place and site in reach
    ]
    return found
