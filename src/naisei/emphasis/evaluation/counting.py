"""Counts of a run by document and training, and the figures over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from naisei.emphasis.metrics import Counts, span_counts, token_counts
from naisei.emphasis.schemas import Article
from naisei.runs.statistics import bootstrap_interval, mean_metric
from naisei.runs.task import Metric

__all__ = ["Counted", "counted"]

#: Training (seed) → document → per sentence and token.
Labels = Mapping[int, Mapping[str, Sequence[Sequence[bool]]]]


@dataclass(frozen=True, slots=True)
class Counted:
    """tokens, spans: training → document → counts."""

    tokens: Mapping[int, Mapping[str, Counts]]
    spans: Mapping[int, Mapping[str, Counts]]

    def units(self) -> list[str]:
        """The documents in which an editor emphasised something, in order: there an F1 is
        defined whatever a tagger says."""
        every = {name: c for seen in self.tokens.values() for name, c in seen.items()}
        return sorted(name for name, c in every.items() if c.true)

    def per_document(self, value: Callable[[Counts], float], kind: str = "tokens") -> list[float]:
        """One figure for each of `units`: the mean over trainings; NaN if undefined in one."""
        seen: Mapping[int, Mapping[str, Counts]] = getattr(self, kind)
        out = []
        for name in self.units():
            own = [value(c[name]) for c in seen.values() if name in c]
            out.append(sum(own) / len(own) if own else nan)
        return out

    def metrics(self, prefix: str = "", *, seed: int = 0) -> list[Metric]:
        """token_precision, token_recall, token_f1, span_…: over all words of the documents
        together, the mean over trainings (thesis, §4.4.2); of F1 the interval over documents.
        …_f1_article: mean over documents. emphasis_rate: mean over documents (Table 4.3)."""
        out: list[Metric] = []
        for kind, name in (("tokens", "token"), ("spans", "span")):
            seen: Mapping[int, Mapping[str, Counts]] = getattr(self, kind)
            totals = [sum(c.values(), Counts()) for c in seen.values() if c]
            n = len(self.units())
            parts: tuple[tuple[str, Callable[[Counts], float], str], ...] = (
                ("precision", lambda c: c.precision, "the tagger emphasises nothing"),
                ("recall", lambda c: c.recall, "no editor emphasises anything"),
                ("f1", lambda c: c.f1, "nobody emphasises anything"),
            )
            for part, value, reason in parts:
                mean = _mean([value(total) for total in totals])
                low, high = _interval(list(seen.values()), seed) if part == "f1" else (nan, nan)
                why = "" if mean == mean else reason
                out.append(Metric(f"{prefix}{name}_{part}", mean, low, high, n, why))
            out.append(
                mean_metric(
                    f"{prefix}{name}_f1_article",
                    self.per_document(lambda c: c.f1, kind),
                    seed=seed,
                    reason="no editor emphasises anything in any document",
                )
            )
        rates = [r for r in self.per_document(lambda c: c.rate) if r == r]
        return [*out, mean_metric(f"{prefix}emphasis_rate", rates, seed=seed, reason="no words")]


def counted(articles: Mapping[str, Article], labels: Labels) -> Counted:
    """Labels of each training against the editors'."""
    return Counted(
        {t: {k: token_counts(articles[k], y) for k, y in own.items()} for t, own in labels.items()},
        {t: {k: span_counts(articles[k], y) for k, y in own.items()} for t, own in labels.items()},
    )


def _mean(values: Sequence[float]) -> float:
    """NaN if there is none, or one is."""
    return sum(values) / len(values) if values else nan


def _interval(seen: Sequence[Mapping[str, Counts]], seed: int) -> tuple[float, float]:
    """Of a pooled F1: 2 · right / (said + true) is the share of right ones among all that are
    said or true, so it is a mean over these, drawn by document."""
    units: list[float] = []
    clusters: list[str] = []
    for name in sorted({name for own in seen for name in own}):
        total = sum((own[name] for own in seen if name in own), Counts())
        both = total.said + total.true
        units += [1.0] * (2 * total.right) + [0.0] * (both - 2 * total.right)
        clusters += [name] * both
    if not units:
        return nan, nan
    low, high = bootstrap_interval(np.array(units), clusters=clusters, seed=seed)
    return low, high
