"""The features of Murata and Abe as the thesis names them (§4.4.4): word, part of speech,
TF-IDF, paragraph, title. They look at one sentence, its place and the title, nothing else."""

from __future__ import annotations

import numpy as np

from naisei.emphasis.taggers.features.codes import Codes, Ids, binned, column, named, shifted
from naisei.emphasis.taggers.features.page import Page, content_lemmas, place_in_block
from naisei.emphasis.taggers.features.terms import Terms, is_content, title_lemmas

__all__ = ["murata_columns"]


def murata_columns(page: Page, terms: Terms) -> list[Codes]:
    """Columns along the page's row."""
    word, pos = page.words(lambda t: t.surface), page.words(lambda t: t.pos)
    lemma = page.words(lambda t: t.lemma)
    tfidf, title = _tfidf(page, terms), _in_title(page)
    out = [column("bias", np.ones(page.size, np.uint64))]
    for by in range(-2, 3):
        out += [
            column(f"word{by}", shifted(word, by)),
            column(f"pos{by}", shifted(pos, by)),
        ]
    for by in (-1, 0, 1):
        out += [
            column(f"tfidf{by}", shifted(tfidf, by)),
            column(f"title{by}", shifted(title, by)),
        ]
    for by in (-1, 0):
        out += [
            column(f"words{by}", shifted(word, by), shifted(word, by + 1)),
            column(f"pos-pos{by}", shifted(pos, by), shifted(pos, by + 1)),
        ]
    paragraph, share = _paragraph(page), page.spread(_title_share(page))
    return [
        *out,
        column("pos3", shifted(pos, -1), pos, shifted(pos, 1)),
        column("lemma", lemma),
        column("tfidf-pos", tfidf, pos),
        column("title-pos", title, pos),
        *(column(f"paragraph{i}", p) for i, p in enumerate(paragraph)),
        column("title-share", share),
        column("title-share-pos", share, pos),
    ]


def _tfidf(page: Page, terms: Terms) -> Ids:
    weights = terms.weighted(t.lemma for t in page.tokens if is_content(t.pos))
    ranked = sorted(weights.values())
    values = [weights[t.lemma] if is_content(t.pos) else -1.0 for t in page.tokens]
    # Where the word stands among those of its article, so that long articles compare.
    place = np.searchsorted(ranked, values, side="right") / max(1, len(ranked))
    place[np.array(values) < 0] = -1
    return page.bins(place, (0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98))


def _in_title(page: Page) -> Ids:
    title = title_lemmas(page.article.title)
    return page.row(
        np.array([1 + is_content(t.pos) + (t.lemma in title) for t in page.tokens], np.uint64)
    )


def _title_share(page: Page) -> Ids:
    """How much of the title each sentence names."""
    title = title_lemmas(page.article.title)
    shares = [
        len(title.intersection(content_lemmas(s))) / len(title) if title else -1.0
        for s in page.article.sentences
    ]
    return binned(shares, (0, 0.01, 0.25, 0.5, 0.75))


def _paragraph(page: Page) -> list[Ids]:
    before, after = place_in_block(page.article)
    blocks = {b: i for i, b in enumerate(dict.fromkeys(s.block for s in page.article.sentences))}
    number = [blocks[s.block] for s in page.article.sentences]
    first = binned(before, (1, 2, 3, 5))
    last = binned(after, (1, 2, 3, 5))
    paragraph = binned(number, (1, 2, 3, 5, 10, 20))
    final = named(["last" if n == len(blocks) - 1 else "other" for n in number])
    return [page.spread(values) for values in (first, last, paragraph, final)]
