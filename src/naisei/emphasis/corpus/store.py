"""Corpora on disk: storing, statistics, splits."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from pydantic import TypeAdapter

from naisei.core import InputError
from naisei.emphasis.schemas import Article
from naisei.files import written_beside
from naisei.lang import say
from naisei.text_files import read_text


def save_corpus(path: Path, articles: Iterable[Article]) -> None:
    """Overwrite the file. Tokens are lists: surface, start, end, pos, lemma, label."""
    with written_beside(path) as scratch, scratch.open("w", encoding="utf-8", newline="\n") as file:
        for article in articles:
            file.write(_json().dump_json(article).decode() + "\n")


def load_corpus(path: Path) -> tuple[Article, ...]:
    """Raises:
    InputError: no such file, an invalid line, a duplicate id, or no article.
    """
    lines = read_text(path).split("\n")
    found: dict[str, Article] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            article = _json().validate_json(line)
        except ValueError as error:
            message = say("記事として読めない行です", "the line is not an article")
            raise InputError(message, place=place) from error
        if article.id in found:
            message = say(
                f"同じ id の記事が二つあります: {article.id}", f"two articles are {article.id}"
            )
            raise InputError(message, place=place)
        found[article.id] = article
    if not found:
        raise InputError(say("記事がありません", "there is no article"), place=str(path))
    return tuple(found.values())


@cache
def _json() -> TypeAdapter[Article]:
    return TypeAdapter(Article)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Means per article. rate: emphasised share of the counted words, 0 to 1; NaN if there are
    none."""

    articles: int
    sentences: float
    tokens: float
    emphasised: float
    rate: float


@dataclass(frozen=True, slots=True)
class Fold:
    """train, test: articles. dev: articles with the held-out sentences; an article may be split
    between `train` and `dev`, which share no sentences."""

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
    """Cross-validation by document: each document is tested once. seed: for the shuffled order;
    `None`: corpus order. dev: sentences taken from the end of each training part, at most half
    of it.

    Raises:
        InputError: fewer documents than parts, fewer than two parts, or a negative `dev`.
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
    return tuple(
        Fold(*set_aside([*articles[:first], *articles[last:]], dev), tuple(articles[first:last]))
        for first, last in pairwise(edges)
    )


def folds_within(
    articles: Sequence[Article], *, parts: int = 5, dev: int = 500, seed: int | None = None
) -> tuple[Fold, ...]:
    """Cross-validation per writer: trained and tested on articles of the same writer.

    Writers with one article are left out; with fewer articles than parts, each article is a part.

    Raises:
        InputError: no writer has two articles; otherwise as `folds`.
    """
    writers: dict[str, list[Article]] = {}
    for article in articles:
        writers.setdefault(article.writer, []).append(article)
    own = [group for group in writers.values() if len(group) > 1]
    if not own:
        raise InputError(
            say("二つ以上の記事がある書き手がいません", "no writer has two articles"),
            remedy="naisei emphasis corpus --writer-folders",
        )
    return tuple(
        fold
        for group in own
        for fold in folds(group, parts=min(parts, len(group)), dev=dev, seed=seed)
    )


def set_aside(
    articles: Sequence[Article], sentences: int
) -> tuple[tuple[Article, ...], tuple[Article, ...]]:
    """The articles without their last `sentences` sentences, and those sentences; at most half of
    all. An article may be split."""
    left = sum(len(a.sentences) for a in articles)
    left -= min(sentences, left // 2)
    before: list[Article] = []
    after: list[Article] = []
    for article in articles:
        here = min(left, len(article.sentences))
        left -= here
        if here or not article.sentences:
            before.append(replace(article, sentences=article.sentences[:here]))
        if here < len(article.sentences):
            after.append(replace(article, sentences=article.sentences[here:]))
    return tuple(before), tuple(after)
