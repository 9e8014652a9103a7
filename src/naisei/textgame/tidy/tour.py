"""Finds the order of rooms with the highest expected points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: Place number for everything behind unexplored ways.
UNKNOWN = -1
#: An unknown room: expected things, steps per thing, and probability of a point.
_NEW_THINGS, _NEW_STEPS, _NEW_CHANCE = 3, 2, 0.7
#: Discount of a point per step.
_LATER = 0.004
#: Most rooms of a tour after the first, and most rooms considered.
_LEGS, _ROOMS = 3, 6
#: Smaller probabilities of a point are ignored.
_WORTH = 0.08


@dataclass(frozen=True, slots=True)
class Chance:
    """A thing not put away yet. at: its place, `None` if held. by_place: place (or `UNKNOWN`) →
    probability that the next try there is right."""

    name: str
    at: int | None
    by_place: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Tour:
    """stops: places in order, starting with the current one. value: expected points. target:
    thing → index of the stop where it is put. lifted: thing → index of the stop where it is
    taken."""

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
    """The best tour. distance: place → place → commands. frontier: place → commands to leave it
    into unexplored rooms."""
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
    """Places where something can be done, nearest first."""
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
