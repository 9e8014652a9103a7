"""How likely a thing belongs to a receptacle before anything was tried."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from naisei.textgame.tidy.household import household
from naisei.textgame.tidy.naming import NamedReceptacle, NamedThing
from naisei.textgame.tidy.rooms import room_kind
from naisei.textgame.tidy.tuning import Tuning
from naisei.textgame.tidy.words import singular

__all__ = ["Ranks", "cue_fits", "ranks_of", "unseen_weight", "weight"]

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


def ranks_of(thing: NamedThing, tuning: Tuning) -> Ranks:
    """The table's ranks as weights; empty for a thing that it does not know."""
    out: Ranks = {}
    for rank, kinds in enumerate(thing.places):
        for kind in kinds:
            out.setdefault(kind, tuning.decay**rank)
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


def weight(thing: NamedThing, ranks: Ranks, receptacle: NamedReceptacle, tuning: Tuning) -> float:
    """> 0, about 1 for the best place. Not normalised."""
    kinds = household().kinds
    near = max(
        (w for kind, w in ranks.items() if receptacle.room in kinds[kind].rooms), default=0.0
    )
    known = kinds.get(receptacle.kind)
    use = known.use if known else 0.7
    base = tuning.floor * (0.2 + use) * (1 + 4 * near)
    if known is None:
        base += _SAME_ROOM * near
    if cue_fits(thing, receptacle) and use >= _KEEPS:
        return _CUE
    found = max(ranks.get(receptacle.kind, 0.0), base)
    return found * (_FOR_OTHERS if _for_others(receptacle) else 1.0)


def unseen_weight(
    ranks: Ranks, seen: Collection[str], entered: Collection[str], tuning: Tuning
) -> float:
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
    return tuning.unseen * (best + 0.1 * (total - best)) + tuning.floor
