"""Which words are suggested: the tagger's own choice or a threshold, whole phrases, at most a
share of the document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.metrics import spans
from naisei.emphasis.schemas import Article, Sentence, Tagger
from naisei.japanese.morph import phrase_starts

__all__ = ["CONTENT", "Choice", "Run", "choose"]

#: Parts of speech of words that can be emphasised alone.
CONTENT = frozenset(
    ["名詞", "動詞", "形容詞", "形状詞", "副詞", "代名詞", "感動詞", "連体詞"]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """Words first … last - 1 of a sentence. p: mean of their probabilities."""

    sentence: int
    first: int
    last: int
    p: float


@dataclass(frozen=True, slots=True)
class Choice:
    """probabilities: per sentence and word. runs: in order of the document."""

    probabilities: tuple[NDArray[np.float64], ...]
    runs: tuple[Run, ...]


def choose(
    article: Article,
    tagger: Tagger,
    *,
    threshold: float | None = None,
    max_share: float = 1.0,
    whole_phrases: bool = False,
) -> Choice:
    """What is emphasised already is not suggested.

    threshold: of the probability, from which on a word is taken; None leaves it to the tagger.
    max_share: of the words that can be emphasised; those that are already count too. Above it
    the runs of the greatest mean probability stay.
    """
    likely = tagger.probabilities(article)
    if threshold is None:
        said = tagger.labels(article)
    else:
        said = [[bool(value >= threshold) for value in row] for row in likely]
    runs: list[Run] = []
    for number, (sentence, row) in enumerate(zip(article.sentences, said, strict=True)):
        if whole_phrases:
            row = _snapped(sentence, row)
        # A word that cannot be emphasised, or is already, ends a run.
        free = [y and token.label is False for y, token in zip(row, sentence.tokens, strict=True)]
        for first, last in sorted(spans(free)):
            if any(token.pos in CONTENT for token in sentence.tokens[first:last]):
                runs.append(Run(number, first, last, float(likely[number][first:last].mean())))
    return Choice(tuple(likely), _limited(runs, article, max_share))


def _snapped(sentence: Sentence, row: Sequence[bool]) -> list[bool]:
    """Every phrase of which a content word is chosen, and no other; 、 and 。 at its end stay out
    unless what follows is chosen too."""
    tokens = sentence.tokens
    edges = [i for i, starts in enumerate(phrase_starts(tokens)) if starts] + [len(tokens)]
    out = [False] * len(tokens)
    for first, last in pairwise(edges):
        taken = any(row[i] and tokens[i].pos in CONTENT for i in range(first, last))
        out[first:last] = [taken] * (last - first)
    for i in range(len(tokens) - 1, -1, -1):
        ends = i + 1 == len(tokens) or not out[i + 1]
        if out[i] and ends and tokens[i].surface in ("、", "。", "，", "．"):
            out[i] = False
    return out


def _limited(runs: Sequence[Run], article: Article, max_share: float) -> tuple[Run, ...]:
    counted = sum(sum(s.counted) for s in article.sentences)
    left = max_share * counted - sum(sum(s.labels) for s in article.sentences)
    kept: list[Run] = []
    for run in sorted(runs, key=lambda run: (-run.p, run.sentence, run.first)):
        if (size := run.last - run.first) <= left + 1e-9:
            kept.append(run)
            left -= size
    return tuple(sorted(kept, key=lambda run: (run.sentence, run.first)))
