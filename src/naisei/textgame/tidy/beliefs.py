"""What was seen of a house, and how likely things belong where in it: the table's ranks, meaning,
and what was tried."""

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
    """What was seen of a game of tidying up.

    receptacles: (place, name). lying: thing → (place, receptacle; empty for the floor). done:
    what was put where it belongs.
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
            # Without `drop`, what is carried is what can be put somewhere.
            held = sorted({m[1] for c in can if (m := _PUT.match(c))})
        return dict.fromkeys(held or [t for t in self.held if t in view.inventory])

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

    def hidden(self) -> list[At]:
        """Closed containers that may hold something, and can be opened."""
        return [
            (place.number, name)
            for place in self.world.places
            for name in sorted(place.closed)
            if (place.number, name) not in self.stuck and not _DOOR.search(name)
        ]


#: By likeness (same word and state, same class and state, same family and state): how much a
#: right place gains, what is left of a wrong one, and of one where such a thing lay about.
_RIGHT = (40.0, 12.0, 3.0)
_WRONG = (0.05, 0.15, 0.5)
_FOUND = (0.3, 0.5, 0.9)


@dataclass
class Evidence:
    """Receptacles are told apart by (place, name)."""

    right: list[tuple[NamedThing, tuple[int, str]]] = field(default_factory=list)
    wrong: list[tuple[NamedThing, tuple[int, str]]] = field(default_factory=list)
    found: list[tuple[NamedThing, tuple[int, str]]] = field(default_factory=list)

    def refused(self, thing: NamedThing, at: tuple[int, str]) -> bool:
        """Whether this very thing got no point there."""
        return any(other.name == thing.name and place == at for other, place in self.wrong)

    def lay(self, thing: NamedThing, at: tuple[int, str]) -> bool:
        """Whether the thing lay there when it was first seen."""
        return any(other.name == thing.name and place == at for other, place in self.found)

    def factor(self, thing: NamedThing, at: tuple[int, str]) -> float:
        """What experience makes of the prior, > 0; 1 without any. Of several experiences of a
        sort the strongest counts, since they are much the same evidence."""
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


def likeness(one: NamedThing, other: NamedThing) -> int | None:
    """0: the same word in the same state; 1: the same class; 2: the same family; `None`."""
    if _state(one) != _state(other):
        return None
    if one.head == other.head and one.kind == other.kind:
        return 0
    if one.kind and one.kind == other.kind:
        return 1
    # Where a state decides, it decides for the whole family.
    sent = one.places == other.places and one.state and one.state != "clean"
    if sent and one.family == other.family:
        return 1
    return 2 if one.family and one.family == other.family else None


def _state(thing: NamedThing) -> str:
    """Clean is how things are when nothing is said."""
    return "" if thing.state == "clean" else thing.state


#: Weight of a rank of receptacles over that of the rank before.
_DECAY = 0.3
#: Weight of a place that the table does not name.
_FLOOR = 0.004
#: Chance that a kind of receptacle that was not seen stands in a room that was not entered.
_UNSEEN = 0.5
#: How far a thing's first place counts as its right one.
_MOVED = 0.03
#: Kind of receptacle → weight, the best has 1.
Ranks = dict[str, float]
#: A receptacle whose name says that it is made for such things.
_CUE = 1.2
#: From this use on a kind of receptacle is for keeping things: no `play mat` is.
_KEEPS = 0.2
#: What is left of the weight of one whose name says that it is made for other things.
_FOR_OTHERS = 0.3
#: How much of a kind's weight a receptacle of unknown kind gets for standing in its room.
_SAME_ROOM = 0.08
#: A kind that is only sometimes found in the rooms that are left.
_SECOND_ROOM = 0.4


def ranks_of(thing: NamedThing) -> Ranks:
    """The table's ranks as weights; empty for a thing that it does not know."""
    out: Ranks = {}
    for rank, kinds in enumerate(thing.places):
        for kind in kinds:
            out.setdefault(kind, _DECAY**rank)
    return out


def cue_fits(thing: NamedThing, receptacle: NamedReceptacle) -> bool:
    """A `shoe trolley` is for shoes and a `crayon box` for crayons, whatever a trolley is; a
    name that is in the table needs no such guess."""
    if receptacle.sure or not thing.cues:
        return False
    said = {singular(word) for word in receptacle.words}
    return singular(thing.head) in said or bool(thing.cues & said)


def _for_others(receptacle: NamedReceptacle) -> bool:
    return not receptacle.sure and bool(receptacle.words & _all_cues())


@lru_cache(maxsize=1)
def _all_cues() -> frozenset[str]:
    return frozenset(cue for each in household().classes.values() for cue in each.cues)


def weight(thing: NamedThing, ranks: Ranks, receptacle: NamedReceptacle) -> float:
    """> 0, about 1 for the best place. Not normalised."""
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
    """Weight of the places that a thing may have in rooms that nobody entered yet.

    seen: kinds of receptacles met so far. entered: names of rooms entered.
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


#: A thing that lay where its like is kept may well be in place: what is left of its chances of
#: a point, and the weight from which on a place is such.
_IN_PLACE, _KEPT_HERE = 0.3, 0.9
#: Weight of there being no right place at all.
_NOWHERE = 0.02


@dataclass(frozen=True, slots=True)
class Belief:
    """at: receptacle that was not tried → probability. unseen: that it belongs where nobody has
    been."""

    at: dict[At, float]
    unseen: float


@dataclass
class Beliefs:
    """meanings: name → ranks by meaning, for names that the table does not know."""

    evidence: Evidence = field(default_factory=Evidence)
    meanings: dict[str, Ranks] = field(default_factory=dict)
    _ranks: dict[str, Ranks] = field(default_factory=dict)

    def of(self, thing: str, state: TidyState) -> Belief:
        """Probabilities over the receptacles of the house; they and `unseen` add up to < 1."""
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
        """Its kind, by its name and its room."""
        return name_receptacle(at[1], state.world.places[at[0]].room)


#: Texts that stand for a class, and words in each.
_TEXTS, _WORDS = 3, 6
#: Classes that a name is taken for, and how sharply the nearer ones are preferred, in standard
#: deviations of its similarities.
_NEAREST, _SHARPNESS = 5, 1.5


def meanings(things: Sequence[NamedThing]) -> Flow[dict[str, Ranks]]:
    """Name → weights of kinds of receptacles, the best about 1, mixed over the nearest classes."""
    names, texts = _classes()
    vectors = yield from Embed((*texts, *(thing.plain for thing in things)))
    near = vectors[: len(texts)] @ vectors[len(texts) :].T
    out = {}
    for thing, column in zip(things, near.T, strict=True):
        # Cosines of e5 lie close together: only how they differ says something.
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
    """Names of the classes, and the texts that stand for them; every class has some."""
    names, texts = [], []
    for each in household().classes.values():
        for start in range(0, min(len(each.words), _TEXTS * _WORDS), _WORDS):
            names.append(each.name)
            texts.append(", ".join(each.words[start : start + _WORDS]))
    return names, tuple(texts)
