"""Where a word stands in its paragraph, what beside it cannot be emphasised, and how it is made."""

from __future__ import annotations

import numpy as np

from naisei.emphasis.taggers.features.codes import Codes, Ids, binned, column, shifted
from naisei.emphasis.taggers.features.page import Page

__all__ = ["layout_columns"]

#: What parts a term from what is said of it.
_PARTING = frozenset(":：—–-=")
_FAR = 99


def layout_columns(page: Page, script: Ids) -> list[Codes]:
    """Columns along the page's row. script: the kinds of writing in each word."""
    word, pos = page.words(lambda t: t.surface), page.words(lambda t: t.pos)
    lemma = page.words(lambda t: t.lemma)
    fixed = page.row(np.array([1 + (t.label is None) for t in page.tokens], np.uint64))
    place, size = _in_paragraph(page)
    parting = page.bins(_to_parting(page), (1, 2, 3, 5, 8))
    first, last = page.words(lambda t: t.surface[:1]), page.words(lambda t: t.surface[-1:])
    return [
        column("fixed", shifted(fixed, -1), shifted(fixed, 1)),
        column("fixed-pos", shifted(fixed, -1), pos, shifted(fixed, 1)),
        column("fixed2", shifted(fixed, -2), shifted(fixed, 2)),
        column("place-size", place, size),
        column("place-parting", place, parting),
        column("place-parting-pos", place, parting, pos),
        column("size-pos", size, pos),
        column("place-script", place, script),
        column("first-letter", first, script),
        column("last-letter", last, script),
        column("lemma-pos1", lemma, shifted(pos, 1)),
        column("lemma-1-script", shifted(lemma, -1), script),
        column("lemma1-script", shifted(lemma, 1), script),
        column("words-1-1", shifted(word, -1), shifted(word, 1)),
    ]


def _in_paragraph(page: Page) -> tuple[Ids, Ids]:
    """How many words of the paragraph come before each, and how many it has."""
    seen: dict[int, int] = {}
    before: list[int] = []
    for sentence in page.article.sentences:
        start = seen.get(sentence.block, 0)
        before += range(start, start + len(sentence.tokens))
        seen[sentence.block] = start + len(sentence.tokens)
    sizes = binned([seen[s.block] for s in page.article.sentences], (3, 6, 10, 20, 40, 80))
    return page.bins(before, (1, 2, 3, 5, 8, 13)), page.spread(sizes)


def _to_parting(page: Page) -> list[int]:
    """How many words lie between each word and the next colon or dash of its sentence."""
    out: list[int] = []
    for sentence in page.article.sentences:
        left, row = _FAR, []
        for token in reversed(sentence.tokens):
            row.append(left)
            left = 0 if token.surface in _PARTING else left + 1
        out += reversed(row)
    return out
