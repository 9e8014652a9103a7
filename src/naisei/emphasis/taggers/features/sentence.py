"""Features of whole sentences: which of them an editor would pick, given the article."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.taggers.features.codes import Codes, binned, column, named, shifted
from naisei.emphasis.taggers.features.page import Page, content_lemmas, place_in_block
from naisei.emphasis.taggers.features.terms import Terms, cosine, title_lemmas

__all__ = ["sentence_columns"]

#: Words of a sentence that are told; the further ones of a longer sentence are not.
_WORDS = 40
_LIKE = (0.001, 0.05, 0.1, 0.2, 0.3, 0.5)
_SHARES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95)


def sentence_columns(page: Page, terms: Terms) -> Codes:
    """(sentences, columns) codes; 0 where a sentence has no such feature."""
    sentences = page.article.sentences
    n = len(sentences)
    weights = [terms.weighted(content_lemmas(s)) for s in sentences]
    whole = terms.weighted(lemma for s in sentences for lemma in content_lemmas(s))
    title = {lemma: terms.idf(lemma) for lemma in title_lemmas(page.article.title)}
    to_title = np.array([cosine(w, title) for w in weights])
    to_whole = np.array([cosine(w, whole) for w in weights])
    before, after = place_in_block(page.article)
    first, last = binned(before, (1, 2, 3, 5)), binned(after, (1, 2, 3, 5))
    place = binned(np.arange(n) / max(1, n), _SHARES)
    length = binned([len(s.tokens) for s in sentences], (4, 8, 15, 25, 40, 60))
    likes = binned(to_title, _LIKE), binned(to_whole, _LIKE)
    ranks = tuple(binned(_rank(v), _SHARES) for v in (to_title, to_whole))
    marks = named(["".join(sorted(_marks(s.text))) for s in sentences])
    ending = named(["".join(t.lemma for t in s.tokens[-3:]) for s in sentences])
    opening = named([s.tokens[0].lemma if s.tokens else "" for s in sentences])
    single = {
        "first": first, "last": last, "place": place, "length": length, "marks": marks,
        "title": likes[0], "whole": likes[1], "title-rank": ranks[0], "whole-rank": ranks[1],
        "ending": ending, "opening": opening, "count": binned([n] * n, (5, 10, 20, 40, 80)),
    }  # fmt: skip
    out = [column(name, values) for name, values in single.items()]
    out += [
        column("first-last", first, last),
        column("place-first", place, first),
        column("title-first", likes[0], first),
        column("length-first", length, first),
    ]
    for by in (-1, 1):
        for name in ("title", "whole", "length", "opening", "ending", "marks"):
            out.append(column(f"{name}{by}", shifted(single[name], by)))
    table = np.concatenate([np.stack(out, 1), _bag(weights)], 1)
    return table.astype(np.int32)


def _bag(weights: list[dict[str, float]]) -> NDArray[np.int32]:
    """The heaviest words of each sentence, one a column."""
    bag = np.zeros((len(weights), _WORDS), np.int32)
    for row, weighted in zip(bag, weights, strict=True):
        words = sorted(weighted, key=lambda w: (-weighted[w], w))[:_WORDS]
        row[: len(words)] = column("has", named(words))
    return bag


def _marks(text: str) -> set[str]:
    return {c for c in text if c in '「『“"(（！？!?：:→・％%'}


def _rank(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the article's sentences that a sentence is above."""
    if not len(values):
        return values
    placed: NDArray[np.float64] = np.searchsorted(np.sort(values), values) / len(values)
    return placed
