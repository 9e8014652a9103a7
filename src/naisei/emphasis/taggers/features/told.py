"""What another tagger says of each token, as features: stacked generalisation (Wolpert 1992)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.taggers.features.codes import Codes, binned, column, shifted
from naisei.emphasis.taggers.features.page import Page

__all__ = ["told_columns"]

#: Of log-odds. Emphasis is rare: most of what is said lies far below 0.
_ODDS = (-8, -7, -6, -5.5, -5, -4.5, -4, -3.5, -3, -2.5, -2, -1.5, -1, -0.5, 0, 1, 2)
_SHARES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995)


def told_columns(page: Page, told: Sequence[NDArray[np.float64]]) -> list[Codes]:
    """Columns along the page's row. told: a probability per sentence and token.

    Besides its own, each token sees those of its neighbours, the highest and the mean log-odds
    of its sentence, and where it stands among the article's.
    """
    p = np.concatenate([np.zeros(0), *told])
    odds = np.log(p + 1e-6) - np.log1p(1e-6 - p)
    rank = np.searchsorted(np.sort(p), p, side="right") / max(1, len(p))
    highest = [float(_logit(row).max(initial=-15.0)) for row in told]
    mean = [float(_logit(row).mean()) if len(row) else -15.0 for row in told]
    own, pos = page.bins(odds, _ODDS), page.words(lambda t: t.pos)
    lemma = page.words(lambda t: t.lemma)
    most = page.spread(binned(highest, _ODDS))
    return [
        column("told", own),
        column("told-pos", own, pos),
        column("told-lemma", own, lemma),
        column("told-place", page.bins(rank, _SHARES)),
        column("told-most", own, most),
        column("told-mean", page.spread(binned(mean, _ODDS))),
        column("told-around", shifted(own, -1), own, shifted(own, 1)),
        *(column(f"told{by}", shifted(own, by)) for by in (-2, -1, 1, 2)),
    ]


def _logit(p: NDArray[np.float64]) -> NDArray[np.float64]:
    odds: NDArray[np.float64] = np.log(p + 1e-6) - np.log1p(1e-6 - p)
    return odds
