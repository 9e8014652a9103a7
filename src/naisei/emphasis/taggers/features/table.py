"""The code tables of an article that a CRF is trained on and tags."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.crf.sparse import BLOCKED, NOTHING
from naisei.emphasis.taggers.features.codes import Codes, binned, column, shifted
from naisei.emphasis.taggers.features.context import context_columns
from naisei.emphasis.taggers.features.murata import murata_columns
from naisei.emphasis.taggers.features.page import Page
from naisei.emphasis.taggers.features.terms import Terms

__all__ = ["token_tables"]

#: Of the log-odds that a sentence holds emphasis.
_ODDS = (-5, -4, -3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 2)
_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.999)


def token_tables(
    page: Page,
    terms: Terms,
    *,
    sentences: NDArray[np.float64] | None = None,
) -> list[Codes]:
    """One table (tokens, columns) a sentence.

    sentences: for each sentence, the probability that it holds emphasis; with it come the
    columns of the whole article, without it only those of Murata and Abe.
    """
    columns = murata_columns(page, terms)
    if sentences is not None:
        columns += [*context_columns(page), *_likely(page, sentences)]
    tables = page.cut(columns)
    for table, sentence in zip(tables, page.article.sentences, strict=True):
        still = ~np.array(sentence.counted, bool)
        table[still] = NOTHING
        table[still, 0] = BLOCKED
    return tables


def _likely(page: Page, p: NDArray[np.float64]) -> list[Codes]:
    odds = binned(np.log(p + 1e-6) - np.log1p(1e-6 - p), _ODDS)
    rank = np.searchsorted(np.sort(p), p, side="right") / max(1, len(p))
    own, place = page.spread(odds), page.spread(binned(rank, _SHARES))
    pos = page.words(lambda t: t.pos)
    lemma = page.words(lambda t: t.lemma)
    return [
        column("likely", own),
        column("likely-pos", own, pos),
        column("likely-lemma", own, lemma),
        column("likely-place", place),
        column("likely-place-pos", place, pos),
        column("likely-before", page.spread(shifted(odds, -1))),
        column("likely-after", page.spread(shifted(odds, 1))),
    ]
