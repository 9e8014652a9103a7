"""Names that the table does not know, compared by meaning with its classes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from naisei.core import Embed, Flow
from naisei.textgame.tidy.household import household
from naisei.textgame.tidy.naming import NamedThing
from naisei.textgame.tidy.prior import Ranks
from naisei.textgame.tidy.tuning import Tuning

__all__ = ["meanings"]

#: Words of a class that stand for it.
_WORDS = 8
#: Classes that a name is taken for, and how sharply the nearer ones are preferred, in standard
#: deviations of its similarities.
_NEAREST, _SHARPNESS = 5, 1.5


def meanings(things: Sequence[NamedThing], tuning: Tuning) -> Flow[dict[str, Ranks]]:
    """Name → weights of kinds of receptacles, the best about 1, mixed over the nearest classes."""
    names, texts = _classes()
    vectors = yield from Embed((*texts, *(thing.name for thing in things)))
    classes, asked = vectors[: len(names)], vectors[len(names) :]
    table = household().classes
    out = {}
    for thing, vector in zip(things, asked, strict=True):
        near = classes @ vector
        # Cosines of e5 lie close together: only how they differ says something.
        scores = (near - near.mean()) / (near.std() or 1.0)
        best = np.argsort(-scores, kind="stable")[:_NEAREST]
        shares = np.exp(_SHARPNESS * (scores[best] - scores[best[0]]))
        shares /= shares.sum()
        ranks: Ranks = {}
        for share, index in zip(shares, best, strict=True):
            for rank, kinds in enumerate(table[names[int(index)]].places):
                for kind in kinds:
                    ranks[kind] = ranks.get(kind, 0.0) + float(share) * tuning.decay**rank
        out[thing.name] = ranks
    return out


@lru_cache(maxsize=1)
def _classes() -> tuple[list[str], tuple[str, ...]]:
    """Names of the classes, and a text that stands for each."""
    table = household().classes
    texts = tuple(", ".join(each.words[:_WORDS]) for each in table.values())
    return list(table), texts
