"""What a corpus consists of (thesis, section 4.1), and how it is split (section 4.4.1)."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from naisei.core import InputError
from naisei.emphasis.schemas import Article
from naisei.lang import say

__all__ = ["Fold", "Statistics", "describe", "folds"]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Means per article. rate: emphasised share of the words that are counted, 0 to 1; NaN
    where no word is counted."""

    articles: int
    sentences: float
    tokens: float
    emphasised: float
    rate: float


@dataclass(frozen=True, slots=True)
class Fold:
    """train, test: articles. dev: articles that hold the sentences set aside; an article may be
    cut, its sentences in `train` and in `dev` being different ones."""

    train: tuple[Article, ...]
    dev: tuple[Article, ...]
    test: tuple[Article, ...]


def describe(articles: Sequence[Article]) -> Statistics:
    """Raises:
    InputError: no article.
    """
    if not articles:
        raise InputError(say("記事がありません", "there is no article"))
    sentences = [s for a in articles for s in a.sentences]
    tokens = sum(len(s.tokens) for s in sentences)
    counted = sum(sum(s.counted) for s in sentences)
    emphasised = sum(sum(s.labels) for s in sentences)
    n = len(articles)
    rate = emphasised / counted if counted else math.nan
    return Statistics(n, len(sentences) / n, tokens / n, emphasised / n, rate)


def folds(
    articles: Sequence[Article], *, parts: int = 5, dev: int = 500, seed: int | None = None
) -> tuple[Fold, ...]:
    """Cross-validation by document: each article is tested on once.

    seed: of the order in which they are dealt out; `None` leaves the order of the corpus, in
    which those of one book stand together. dev: sentences taken from the end of each training
    part; of a training part with fewer than twice as many, a half.

    Raises:
        InputError: fewer articles than parts, fewer than two parts, or a negative `dev`.
    """
    if parts < 2 or dev < 0 or len(articles) < parts:
        message = say(
            f"{len(articles)} 記事を {parts} 分割することはできません(dev {dev} 文)",
            f"{len(articles)} articles cannot be split into {parts} parts (dev {dev} sentences)",
        )
        raise InputError(message)
    if seed is not None:
        articles = random.Random(seed).sample(articles, len(articles))
    edges = [round(part * len(articles) / parts) for part in range(parts + 1)]
    found: list[Fold] = []
    for first, last in pairwise(edges):
        rest = (*articles[:first], *articles[last:])
        there = sum(len(a.sentences) for a in rest)
        train, aside = _cut(rest, there - min(dev, there // 2))
        found.append(Fold(train, aside, tuple(articles[first:last])))
    return tuple(found)


def _cut(articles: Sequence[Article], kept: int) -> tuple[tuple[Article, ...], tuple[Article, ...]]:
    """The first `kept` sentences, and the others."""
    before: list[Article] = []
    after: list[Article] = []
    for article in articles:
        here = max(0, min(kept, len(article.sentences)))
        kept -= here
        if here or not article.sentences:
            before.append(Article(article.id, article.title, article.sentences[:here]))
        if here < len(article.sentences):
            after.append(Article(article.id, article.title, article.sentences[here:]))
    return tuple(before), tuple(after)
