"""How well emphasis was found: words as in the thesis (§4.4.2), and whole spans.

Two averages, because both are in use: over all words of the articles together (*pooled*, the
usual figure of sequence labelling), and the mean of one value an article, which is what paired
tests over articles compare. An article in which nobody emphasises anything has no precision,
recall or F1: it is left out of the mean, and `n` says how many are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

from naisei.emphasis.schemas import Article
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric

__all__ = ["Counts", "metrics", "span_counts", "spans", "token_counts"]

Labels = Sequence[Sequence[bool]]


@dataclass(frozen=True, slots=True)
class Counts:
    """right: said and true. said: by the tagger. true: by the editor. of: all that count."""

    right: int = 0
    said: int = 0
    true: int = 0
    of: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.right + other.right,
            self.said + other.said,
            self.true + other.true,
            self.of + other.of,
        )

    @property
    def precision(self) -> float:
        """right / said; NaN if nothing was said."""
        return self.right / self.said if self.said else nan

    @property
    def recall(self) -> float:
        """right / true; NaN if nothing is true."""
        return self.right / self.true if self.true else nan

    @property
    def f1(self) -> float:
        """2 right / (said + true): the harmonic mean; NaN if both are nothing."""
        both = self.said + self.true
        return 2 * self.right / both if both else nan

    @property
    def rate(self) -> float:
        """Share of what counts that the tagger emphasises (thesis, Table 4.3); NaN for none."""
        return self.said / self.of if self.of else nan


def token_counts(article: Article, labels: Labels) -> Counts:
    """Words of one article. Those that cannot be emphasised do not count.

    Raises:
        ValueError: labels that are not one a token.
    """
    right = said = true = of = 0
    for sentence, row in zip(article.sentences, labels, strict=True):
        for token, label in zip(sentence.tokens, row, strict=True):
            if token.label is None:
                continue
            of += 1
            said += label
            true += token.label
            right += label and token.label
    return Counts(right, said, true, of)


def spans(labels: Sequence[bool]) -> set[tuple[int, int]]:
    """Runs of emphasised words in one sentence: first, and one past the last."""
    out: set[tuple[int, int]] = set()
    start = -1
    for i, label in enumerate([*labels, False]):
        if label and start < 0:
            start = i
        elif not label and start >= 0:
            out.add((start, i))
            start = -1
    return out


def span_counts(article: Article, labels: Labels) -> Counts:
    """Spans of one article; a span is right only if both its ends are. `of` is 0."""
    right = said = true = 0
    for sentence, row in zip(article.sentences, labels, strict=True):
        can = [label and token.label is not None
               for token, label in zip(sentence.tokens, row, strict=True)]  # fmt: skip
        ours, theirs = spans(can), spans(sentence.labels)
        right += len(ours & theirs)
        said += len(ours)
        true += len(theirs)
    return Counts(right, said, true)


def metrics(articles: Sequence[Article], labels: Sequence[Labels]) -> list[Metric]:
    """Of a tagger on articles that it did not see: labels per article, sentence and token.

    `token_precision`, `token_recall`, `token_f1`, `span_precision`, … : pooled over all
    articles, without interval. `token_f1_article`, `span_f1_article`: mean over articles with
    its interval, `per_unit` in the order of the articles that have one. `emphasis_rate`: mean
    over articles of the share of words emphasised.
    """
    tokens = [token_counts(a, y) for a, y in zip(articles, labels, strict=True)]
    spanned = [span_counts(a, y) for a, y in zip(articles, labels, strict=True)]
    out: list[Metric] = []
    for kind, counts in (("token", tokens), ("span", spanned)):
        total = sum(counts, Counts())
        n = len(counts)
        out += [
            _pooled(f"{kind}_precision", total.precision, n, "the tagger emphasises nothing"),
            _pooled(f"{kind}_recall", total.recall, n, "the editor emphasises nothing"),
            _pooled(f"{kind}_f1", total.f1, n, "nobody emphasises anything"),
            mean_metric(
                f"{kind}_f1_article",
                [c.f1 for c in counts if c.f1 == c.f1],
                reason="nobody emphasises anything in any article",
            ),
        ]
    rates = [c.rate for c in tokens if c.of]
    return [*out, mean_metric("emphasis_rate", rates, reason="no article has words")]


def _pooled(name: str, value: float, n: int, reason: str) -> Metric:
    return Metric(name, value, n=n, reason="" if value == value else reason)
