"""The cheapest order of errands when everything needed is known: an exact search.

A state says where the planner is, where each thing is, and what has been cut and cooked. What
can be done on the spot without loss (cook what is held where the appliance stands, cut what is
held with the knife in hand) is done at once, which keeps the search small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

__all__ = ["HELD", "Errand", "Errands", "Job", "plan_errands"]

#: The place of a thing in hand.
HELD = -1


@dataclass(frozen=True, slots=True)
class Job:
    """A thing to be held in the end. cook_at: where it must be cooked, `None` if it need not."""

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
    """What a search starts from.

    jobs: the ingredients. knife_at: where the knife is (`HELD`, or `None` without one).
    spare: things in hand that nobody needs. hands: how many things fit. here, goal: places.
    distance: place → place → commands.
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
    """Commands that are certainly still needed."""
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
            # What nobody needs is put down first; which of it makes no difference.
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
