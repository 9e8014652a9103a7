"""Metrics of emphasis: words as in the thesis (§4.4.2), and whole spans.

Two averages, since both are in use: over all words of all articles (*pooled*, the
usual figure of sequence labelling), and the mean of one value per article, which paired
tests over articles compare. An article without any emphasis has no precision, recall or F1; it
counts in the pooled figures but not in the mean. `n` is the number of articles in the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan

from naisei.emphasis.schemas import Article
from naisei.runs.statistics import interval, mean_metric
from naisei.runs.task import Metric

Labels = Sequence[Sequence[bool]]


@dataclass(frozen=True, slots=True)
class Counts:
    """Word counts. right: emphasised by both. said: by the tagger. true: by the editor. of: all
    counted words."""

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
        """right / said; NaN if the tagger emphasised nothing."""
        return self.right / self.said if self.said else nan

    @property
    def recall(self) -> float:
        """right / true; NaN if the editor emphasised nothing."""
        return self.right / self.true if self.true else nan

    @property
    def f1(self) -> float:
        """2 right / (said + true): the harmonic mean; NaN if both are 0."""
        both = self.said + self.true
        return 2 * self.right / both if both else nan

    @property
    def rate(self) -> float:
        """Share of counted words that the tagger emphasises (thesis, Table 4.3); NaN if none."""
        return self.said / self.of if self.of else nan


def token_counts(article: Article, labels: Labels) -> Counts:
    """Count the words of one article. Words that cannot be emphasised do not count.

    Raises:
        ValueError: the number of labels differs from the number of tokens.
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
    """Runs of emphasised words in one sentence, as (first, one past the last)."""
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
    """Count the spans of one article; a span is right only if both ends match. `of` is 0."""
    right = said = true = 0
    for sentence, row in zip(article.sentences, labels, strict=True):
        can = [label and token.label is not None
               for token, label in zip(sentence.tokens, row, strict=True)]  # fmt: skip
        ours, theirs = spans(can), spans(sentence.labels)
        right += len(ours & theirs)
        said += len(ours)
        true += len(theirs)
    return Counts(right, said, true)


@dataclass(frozen=True, slots=True)
class Counted:
    """tokens, spans: training → document → counts."""

    tokens: Mapping[int, Mapping[str, Counts]]
    spans: Mapping[int, Mapping[str, Counts]]

    def units(self) -> list[str]:
        """The documents in which an editor emphasised something, in order. F1 is always defined
        for these."""
        every = {name: c for seen in self.tokens.values() for name, c in seen.items()}
        return sorted(name for name, c in every.items() if c.true)

    def per_document(self, value: Callable[[Counts], float], kind: str = "tokens") -> list[float]:
        """One value for each of `units`: the mean over trainings; NaN if undefined in one."""
        seen: Mapping[int, Mapping[str, Counts]] = getattr(self, kind)
        out = []
        for name in self.units():
            own = [value(c[name]) for c in seen.values() if name in c]
            out.append(sum(own) / len(own) if own else nan)
        return out

    def metrics(self, prefix: str = "") -> list[Metric]:
        """token_precision, token_recall, token_f1, span_…: pooled over all words of the documents,
        as the mean over trainings (thesis, §4.4.2); F1 with an interval over documents.
        …_f1_article: mean over documents. emphasis_rate: mean over documents (Table 4.3)."""
        out: list[Metric] = []
        for kind, name in (("tokens", "token"), ("spans", "span")):
            seen: Mapping[int, Mapping[str, Counts]] = getattr(self, kind)
            totals = [sum(c.values(), Counts()) for c in seen.values() if c]
            pooled = len({name for own in seen.values() for name in own})
            parts: tuple[tuple[str, Callable[[Counts], float], str], ...] = (
                ("precision", lambda c: c.precision, "the tagger emphasises nothing"),
                ("recall", lambda c: c.recall, "no editor emphasises anything"),
                ("f1", lambda c: c.f1, "neither emphasises anything"),
            )
            for part, value, reason in parts:
                mean = sum(map(value, totals)) / len(totals) if totals else nan
                low, high = _interval(list(seen.values())) if part == "f1" else (nan, nan)
                n, why = (pooled, "") if mean == mean else (0, reason)
                out.append(Metric(f"{prefix}{name}_{part}", mean, low, high, n, why))
            out.append(
                mean_metric(
                    f"{prefix}{name}_f1_article",
                    self.per_document(lambda c: c.f1, kind),
                    clusters=None,
                    share=True,
                    paired=True,
                    reason="no editor emphasises anything in any document",
                )
            )
        rates = [r if r == r else None for r in self.per_document(lambda c: c.rate)]
        name = f"{prefix}emphasis_rate"
        return [*out, mean_metric(name, rates, clusters=None, share=True, reason="no words")]


def counted(articles: Mapping[str, Article], labels: Mapping[int, Mapping[str, Labels]]) -> Counted:
    """Compare the labels of each training with the editors'."""

    def by(counts: Callable[[Article, Labels], Counts]) -> dict[int, dict[str, Counts]]:
        return {
            trial: {name: counts(articles[name], said) for name, said in own.items()}
            for trial, own in labels.items()
        }

    return Counted(by(token_counts), by(span_counts))


def _interval(seen: Sequence[Mapping[str, Counts]]) -> tuple[float, float]:
    """The interval of a pooled F1. 2 · right / (said + true) is the share of right words among
    those emphasised by either side, so it is a mean over these, with documents as clusters."""
    units: list[float] = []
    clusters: list[str] = []
    for name in sorted({name for own in seen for name in own}):
        total = sum((own[name] for own in seen if name in own), Counts())
        both = total.said + total.true
        units += [1.0] * (2 * total.right) + [0.0] * (both - 2 * total.right)
        clusters += [name] * both
    return interval(units, clusters=clusters, share=True)
