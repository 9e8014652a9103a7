"""Names that the table does not know, compared by meaning with its classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from naisei.core import Embed, Flow
from naisei.textgame.tidy.household import household
from naisei.textgame.tidy.naming import NamedThing, places_in_state
from naisei.textgame.tidy.prior import Ranks
from naisei.textgame.tidy.tuning import Tuning

__all__ = ["meanings"]

#: Texts that stand for a class, and words in each.
_TEXTS, _WORDS = 3, 6
#: Classes that a name is taken for, and how sharply the nearer ones are preferred, in standard
#: deviations of its similarities.
_NEAREST, _SHARPNESS = 5, 1.5


def meanings(things: Sequence[NamedThing], tuning: Tuning) -> Flow[dict[str, Ranks]]:
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
        out[thing.name] = _mixed(best, thing.state, tuning)
    return out


def _mixed(scores: dict[str, float], state: str, tuning: Tuning) -> Ranks:
    top = max(scores.values())
    shares = {name: math.exp(_SHARPNESS * (s - top)) for name, s in scores.items()}
    total = sum(shares.values())
    ranks: Ranks = {}
    for name, share in shares.items():
        places = places_in_state(household().classes[name], state)
        for rank, kinds in enumerate(places):
            for kind in kinds:
                ranks[kind] = ranks.get(kind, 0.0) + share / total * tuning.decay**rank
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
