"""Where every thing belongs, as far as common sense and the score so far can tell."""

from __future__ import annotations

from dataclasses import dataclass, field

from naisei.textgame.tidy.evidence import Evidence
from naisei.textgame.tidy.house import At, House
from naisei.textgame.tidy.naming import NamedReceptacle, NamedThing, name_receptacle, name_thing
from naisei.textgame.tidy.prior import Ranks, ranks_of, unseen_weight, weight
from naisei.textgame.tidy.tuning import Tuning

__all__ = ["Belief", "Beliefs"]

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

    tuning: Tuning
    evidence: Evidence = field(default_factory=Evidence)
    meanings: dict[str, Ranks] = field(default_factory=dict)
    _ranks: dict[str, Ranks] = field(default_factory=dict)

    def of(self, thing: str, house: House) -> Belief:
        """Probabilities over the receptacles of the house; they and `unseen` add up to < 1."""
        named = name_thing(thing)
        ranks = self._ranks_of(named)
        weights: dict[At, float] = {}
        kinds = set()
        chance = 1.0
        for at in house.receptacles:
            receptacle = self.receptacle(at, house)
            kinds.add(receptacle.kind)
            if self.evidence.refused(named, at):
                continue
            w = weight(named, ranks, receptacle, self.tuning)
            if self.evidence.lay(named, at):
                chance = _IN_PLACE if w >= _KEPT_HERE else 1.0
                w *= self.tuning.moved
            weights[at] = w * self.evidence.factor(named, at)
        unseen = 0.0
        if house.world.frontier():
            entered = [place.room for place in house.world.places]
            unseen = unseen_weight(ranks, kinds, entered, self.tuning)
        total = sum(weights.values()) + unseen + _NOWHERE
        share = chance / total
        return Belief({at: w * share for at, w in weights.items()}, unseen * share)

    def _ranks_of(self, named: NamedThing) -> Ranks:
        if named.name not in self._ranks:
            known = ranks_of(named, self.tuning)
            if not known and named.name not in self.meanings:
                return known
            self._ranks[named.name] = known or self.meanings[named.name]
        return self._ranks[named.name]

    @staticmethod
    def receptacle(at: At, house: House) -> NamedReceptacle:
        """Its kind, by its name and its room."""
        return name_receptacle(at[1], house.world.places[at[0]].room)
