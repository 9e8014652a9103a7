"""What another tagger says, as columns of codes."""

from __future__ import annotations

import numpy as np

from emphasis.corpus_by_hand import article
from naisei.emphasis.taggers.features.page import Page
from naisei.emphasis.taggers.features.told import told_columns


def test_codes_follow_what_is_told() -> None:
    page = Page.of(article(1))
    low = [np.full(len(s.tokens), 1e-4) for s in page.article.sentences]
    high = [row.copy() for row in low]
    high[2][3] = 0.9
    before, after = page.cut(told_columns(page, low)), page.cut(told_columns(page, high))
    changed = [
        (i, j)
        for i, (a, b) in enumerate(zip(before, after, strict=True))
        for j in range(len(a))
        if (a[j] != b[j]).any()
    ]
    # The token, its neighbours, and its sentence's highest: no other sentence is told of it
    # but by where its words stand in the article.
    assert (2, 3) in changed
    assert {i for i, _ in changed} == {2} or all(
        (before[i][j] != after[i][j]).sum() == 1 for i, j in changed if i != 2
    )
    again = page.cut(told_columns(page, high))
    assert all((a == b).all() for a, b in zip(after, again, strict=True))


def test_an_article_without_sentences() -> None:
    empty = Page.of(type(article(1))("a", "", ()))
    assert all(len(c) == empty.size for c in told_columns(empty, []))
