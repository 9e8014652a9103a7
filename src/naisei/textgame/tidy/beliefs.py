"""The observed house, and probabilities of where things belong, from the table's ranks, meanings
and earlier tries."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from naisei.core import Embed, Flow
from naisei.textgame.game_state import GameState
from naisei.textgame.schemas import View
from naisei.textgame.tidy.household import (
    NamedReceptacle,
    NamedThing,
    household,
    name_receptacle,
    name_thing,
    places_in_state,
    room_kind,
    singular,
)

#: A receptacle: (place, name).
At = tuple[int, str]
_PUT = re.compile(r"^(?:put|insert) (.+) (?:on|into|onto|in) (.+)$")
_DOOR = re.compile(r"\b(?:door|gate|hatch|doorway|entrance|passageway|portal|gateway)$", re.I)


class TidyState(GameState[None]):
    """The observed state of a tidying game.

    receptacles: (place, name). lying: thing → (place, receptacle; "": the floor). done: things put
    where they belong.
    """

    def __init__(self) -> None:
        super().__init__()
        self.receptacles: dict[At, None] = {}
        self.lying: dict[str, At] = {}
        self.done: set[str] = set()

    def see(self, view: View, last: str) -> None:
        super().see(view, last)
        here = self.here
        self.lying = {
            thing: at
            for thing, at in self.lying.items()
            if at[0] != here and thing not in self.held
        }
        for thing, holder in self.scene.lying.items():
            self.lying[thing] = (here, holder)
        self._note_receptacles()

    def read_held(self, view: View) -> dict[str, None]:
        can = sorted(self.scene.can)
        held = [c.removeprefix("drop ") for c in can if c.startswith("drop ")]
        if not held:
            # Without `drop`, the things that can be put somewhere are held.
            held = sorted({m[1] for c in can if (m := _PUT.match(c))})
        return dict.fromkeys(held or [t for t in self.held if t in view.inventory])

    def _note_receptacles(self) -> None:
        here, place = self.here, self.world.place
        names = set(self.scene.lying.values()) | self.scene.closed
        if takes := self._takes():
            # Only now is it known what can hold things; a window cannot.
            names |= takes
            for at in [a for a in self.receptacles if a[0] == here and a[1] not in names]:
                del self.receptacles[at]
        else:
            names |= self.scene.seen
        doors = set(place.doors.values()) | {name for name in names if _DOOR.search(name)}
        for name in sorted(names - doors - self.portable - {""}):
            self.receptacles.setdefault((here, name))

    def _takes(self) -> set[str]:
        """Receptacles here that a held thing can be put on or into."""
        return {
            command.removeprefix(start)
            for thing in self.held
            for start in (f"put {thing} on ", f"insert {thing} into ")
            for command in self.scene.can
            if command.startswith(start)
        }

    def put(self, thing: str, receptacle: str) -> str:
        """The command that puts a held thing there, opening it if needed; "" if impossible."""
        for command in (f"put {thing} on {receptacle}", f"insert {thing} into {receptacle}"):
            if command in self.scene.can:
                return command
        return f"open {receptacle}" if receptacle in self.scene.closed else ""

    def hidden(self) -> list[At]:
        """Closed containers that may hold something and can be opened."""
        return [
            (place.number, name)
            for place in self.world.places
            for name in sorted(place.closed)
            if (place.number, name) not in self.stuck and not _DOOR.search(name)
        ]


#: Factors by likeness (same word and state, same class and state, same family and state) for a
#: place that was right, one that was wrong, and one where such a thing was at first.
_RIGHT = (40.0, 12.0, 3.0)
_WRONG = (0.05, 0.15, 0.5)
_FOUND = (0.3, 0.5, 0.9)


@dataclass
class Evidence:
    """Results of tries; receptacles are identified by (place, name)."""

    right: list[tuple[NamedThing, tuple[int, str]]] = field(default_factory=list)
    wrong: list[tuple[NamedThing, tuple[int, str]]] = field(default_factory=list)
    found: list[tuple[NamedThing, tuple[int, str]]] = field(default_factory=list)

    def refused(self, thing: NamedThing, at: tuple[int, str]) -> bool:
        """Whether this thing was put there without earning a point."""
        return any(other.name == thing.name and place == at for other, place in self.wrong)

    def lay(self, thing: NamedThing, at: tuple[int, str]) -> bool:
        """Whether the thing was there when first seen."""
        return any(other.name == thing.name and place == at for other, place in self.found)

    def factor(self, thing: NamedThing, at: tuple[int, str]) -> float:
        """Factor on the prior from experience, > 0; 1 without experience. If several similar
        experiences apply, the strongest counts."""
        right = max((_RIGHT[k] for k in self._like(self.right, thing, at)), default=1.0)
        wrong = min((_WRONG[k] for k in self._like(self.wrong, thing, at)), default=1.0)
        found = min((_FOUND[k] for k in self._like(self.found, thing, at)), default=1.0)
        return right * wrong * found

    @staticmethod
    def _like(
        known: list[tuple[NamedThing, tuple[int, str]]], thing: NamedThing, at: tuple[int, str]
    ) -> list[int]:
        out = []
        for other, place in known:
            if place == at and (level := likeness(thing, other)) is not None:
                out.append(level)
        return out


def likeness(first: NamedThing, second: NamedThing) -> int | None:
    """0: same word and state; 1: same class; 2: same family; `None`: not alike."""
    if _state(first) != _state(second):
        return None
    if first.head == second.head and first.kind == second.kind:
        return 0
    if first.kind and first.kind == second.kind:
        return 1
    # A state that determines the place does so for the whole family.
    sent = first.places == second.places and first.state and first.state != "clean"
    if sent and first.family == second.family:
        return 1
    return 2 if first.family and first.family == second.family else None


def _state(thing: NamedThing) -> str:
    """The state; things are clean unless stated otherwise."""
    return "" if thing.state == "clean" else thing.state


#: Weight of a rank relative to the previous rank.
_DECAY = 0.3
#: Weight of a place that is not in the table.
_FLOOR = 0.004
#: Probability that an unseen kind of receptacle is in an unvisited room.
_UNSEEN = 0.5
#: Weight of a thing's first place as evidence of a right place.
_MOVED = 0.03
#: Kind of receptacle → weight; the best has 1.
Ranks = dict[str, float]
#: Factor of a receptacle whose name fits the thing.
_CUE = 1.2
#: Lowest `use` of a receptacle kind that counts as storage (a `play mat` is below).
_KEEPS = 0.2
#: Factor of a receptacle whose name fits other things.
_FOR_OTHERS = 0.3
#: Share of a kind's weight that a receptacle of unknown kind gets in that kind's room.
_SAME_ROOM = 0.08
#: Factor of a kind that is only sometimes in the remaining rooms.
_SECOND_ROOM = 0.4


def ranks_of(thing: NamedThing) -> Ranks:
    """The table's ranks as weights; empty for an unknown thing."""
    out: Ranks = {}
    for rank, kinds in enumerate(thing.places):
        for kind in kinds:
            out.setdefault(kind, _DECAY**rank)
    return out


def cue_fits(thing: NamedThing, receptacle: NamedReceptacle) -> bool:
    """Whether the receptacle's name fits the thing: a `shoe trolley` is for shoes. Names in the
    table need no such guess."""
    if receptacle.sure or not thing.cues:
        return False
    words = {singular(word) for word in receptacle.words}
    return singular(thing.head) in words or bool(thing.cues & words)


def _for_others(receptacle: NamedReceptacle) -> bool:
    return not receptacle.sure and bool(receptacle.words & _all_cues())


@lru_cache(maxsize=1)
def _all_cues() -> frozenset[str]:
    return frozenset(cue for each in household().classes.values() for cue in each.cues)


def weight(thing: NamedThing, ranks: Ranks, receptacle: NamedReceptacle) -> float:
    """Unnormalised weight of a receptacle, > 0, about 1 for the best place."""
    kinds = household().kinds
    near = max(
        (w for kind, w in ranks.items() if receptacle.room in kinds[kind].rooms), default=0.0
    )
    known = kinds.get(receptacle.kind)
    use = known.use if known else 0.7
    base = _FLOOR * (0.2 + use) * (1 + 4 * near)
    if known is None:
        base += _SAME_ROOM * near
    if cue_fits(thing, receptacle) and use >= _KEEPS:
        return _CUE
    found = max(ranks.get(receptacle.kind, 0.0), base)
    return found * (_FOR_OTHERS if _for_others(receptacle) else 1.0)


def unseen_weight(ranks: Ranks, seen: Collection[str], entered: Collection[str]) -> float:
    """Weight of places in rooms that were not visited.

    seen: kinds of receptacles so far. entered: names of visited rooms.
    """
    kinds, known = household().kinds, {room_kind(room) for room in entered}
    best, total = 0.0, 0.0
    for kind, w in ranks.items():
        rooms = kinds[kind].rooms
        if kind in seen or all(room in known for room in rooms):
            continue
        share = w * (1.0 if rooms[0] not in known else _SECOND_ROOM)
        best, total = max(best, share), total + share
    return _UNSEEN * (best + 0.1 * (total - best)) + _FLOOR


#: A thing that starts where such things belong may be in place already: factor on its probability
#: of a point, and the least weight of such a place.
_IN_PLACE, _KEPT_HERE = 0.3, 0.9
#: Weight of the case that a thing has no right place.
_NOWHERE = 0.02


@dataclass(frozen=True, slots=True)
class Belief:
    """at: untried receptacle → probability. unseen: probability that the right place was not
    visited."""

    at: dict[At, float]
    unseen: float


@dataclass
class Beliefs:
    """Beliefs about all things. meanings: name → ranks by meaning, for names not in the table."""

    evidence: Evidence = field(default_factory=Evidence)
    meanings: dict[str, Ranks] = field(default_factory=dict)
    _ranks: dict[str, Ranks] = field(default_factory=dict)

    def of(self, thing: str, state: TidyState) -> Belief:
        """Probabilities over receptacles; with `unseen` their sum is < 1."""
        named = name_thing(thing)
        ranks = self._ranks_of(named)
        weights: dict[At, float] = {}
        kinds = set()
        chance = 1.0
        for at in state.receptacles:
            receptacle = self.receptacle(at, state)
            kinds.add(receptacle.kind)
            if self.evidence.refused(named, at):
                continue
            w = weight(named, ranks, receptacle)
            if self.evidence.lay(named, at):
                chance = _IN_PLACE if w >= _KEPT_HERE else 1.0
                w *= _MOVED
            weights[at] = w * self.evidence.factor(named, at)
        unseen = 0.0
        if state.world.frontier():
            entered = [place.room for place in state.world.places]
            unseen = unseen_weight(ranks, kinds, entered)
        total = sum(weights.values()) + unseen + _NOWHERE
        share = chance / total
        return Belief({at: w * share for at, w in weights.items()}, unseen * share)

    def _ranks_of(self, named: NamedThing) -> Ranks:
        if named.name not in self._ranks:
            known = ranks_of(named)
            if not known and named.name not in self.meanings:
                return known
            self._ranks[named.name] = known or self.meanings[named.name]
        return self._ranks[named.name]

    @staticmethod
    def receptacle(at: At, state: TidyState) -> NamedReceptacle:
        """A receptacle's kind, by its name and room."""
        return name_receptacle(at[1], state.world.places[at[0]].room)


#: Example texts per class, and words per text.
_TEXTS, _WORDS = 3, 6
#: Nearest classes to mix, and the softmax temperature, in standard
#: deviations of the similarities.
_NEAREST, _SHARPNESS = 5, 1.5


def meanings(things: Sequence[NamedThing]) -> Flow[dict[str, Ranks]]:
    """Name → weights of receptacle kinds (best about 1), mixed over the nearest classes."""
    names, texts = _classes()
    vectors = yield from Embed((*texts, *(thing.plain for thing in things)))
    near = vectors[: len(texts)] @ vectors[len(texts) :].T
    out = {}
    for thing, column in zip(things, near.T, strict=True):
        # e5 cosines are all close together, so only differences are informative.
        scores = (column - column.mean()) / (column.std() or 1.0)
        best: dict[str, float] = {}
        for index in np.argsort(-scores, kind="stable"):
            best.setdefault(names[index], float(scores[index]))
            if len(best) == _NEAREST:
                break
        out[thing.name] = _mixed(best, thing.state)
    return out


def _mixed(scores: dict[str, float], state: str) -> Ranks:
    top = max(scores.values())
    shares = {name: math.exp(_SHARPNESS * (s - top)) for name, s in scores.items()}
    total = sum(shares.values())
    ranks: Ranks = {}
    for name, share in shares.items():
        places = places_in_state(household().classes[name], state)
        for rank, kinds in enumerate(places):
            for kind in kinds:
                ranks[kind] = ranks.get(kind, 0.0) + share / total * _DECAY**rank
    return ranks


@lru_cache(maxsize=1)
def _classes() -> tuple[list[str], tuple[str, ...]]:
    """Class names and their example texts; every class has some."""
    names, texts = [], []
    for each in household().classes.values():
        for start in range(0, min(len(each.words), _TEXTS * _WORDS), _WORDS):
            names.append(each.name)
            texts.append(", ".join(each.words[start : start + _WORDS]))
    return names, tuple(texts)
