"""Which articles a tagger learns from, and which are set aside to judge it while it learns."""

from __future__ import annotations

import random
from collections.abc import Sequence

from naisei.emphasis.schemas import Article

__all__ = ["set_aside"]


def set_aside(
    articles: Sequence[Article], sentences: int, *, seed: int = 0
) -> tuple[list[Article], list[Article]]:
    """Articles to learn from, and whole articles with about `sentences` sentences: chosen by the
    seed, at most half of the articles, none if there is only one article with emphasis."""
    order = random.Random(seed).sample(list(articles), len(articles))
    aside: list[Article] = []
    held = 0
    while order and held < sentences and len(aside) < len(articles) // 2:
        held += len(order[-1].sentences)
        aside.append(order.pop())
    if not any(any(s.labels) for a in order for s in a.sentences):
        return [*order, *aside[::-1]], []
    return order, aside[::-1]
