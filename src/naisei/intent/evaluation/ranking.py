"""Retrieval before and after asking: recall@k, MRR, and the gain, paired by item."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from naisei.intent.evaluation.gold import DEPTH, first_rank
from naisei.intent.evaluation.results import ItemResult
from naisei.runs.significance import paired_difference
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Metric

__all__ = ["KS", "MEASURES", "coverage_at", "ranking", "recall_at", "reciprocal_rank"]

KS = (1, 3, 5, 10)
Ranks = Sequence[int | None]


def recall_at(ranks: Ranks, k: int) -> float:
    """1 if any gold passage is among the first `k`, else 0.

    Gold passages of one item say the same, so one is enough. Elsewhere this is called hit rate
    or success@k; where an item has one gold passage, it is recall@k (Manning et al. 2008, §8.4).
    """
    first = first_rank(ranks)
    return float(first is not None and first <= k)


def reciprocal_rank(ranks: Ranks) -> float:
    """1 / rank of the first gold passage, 0 beyond the first ten (Voorhees 1999, TREC-8)."""
    first = first_rank(ranks)
    return 1.0 / first if first is not None and first <= DEPTH else 0.0


def coverage_at(ranks: Ranks, k: int) -> float:
    """The share of the gold passages among the first `k`."""
    return sum(r is not None and r <= k for r in ranks) / len(ranks)


def _at(k: int) -> Callable[[Ranks], float]:
    return lambda ranks: recall_at(ranks, k)


#: Name → measure of one item's ranks.
MEASURES: dict[str, Callable[[Ranks], float]] = {
    **{f"recall@{k}": _at(k) for k in KS},
    f"mrr@{DEPTH}": reciprocal_rank,
    "coverage@5": lambda ranks: coverage_at(ranks, 5),
}


def ranking(group: str, results: Sequence[ItemResult], *, seed: int) -> list[Metric]:
    """Each measure over the items that have gold passages: `_before` and `_after` the talk, with
    a bootstrap interval, and `_gain`, their difference paired by item.

    group: put before each name, as `vague/`; empty for all items.
    """
    held = [r for r in results if r.before]
    reason = "no item with a gold passage was scored"
    out = []
    for name, measure in MEASURES.items():
        before = [measure(r.before) for r in held]
        after = [measure(r.after) for r in held]
        out += [
            mean_metric(f"{group}{name}_before", before, seed=seed, reason=reason),
            mean_metric(f"{group}{name}_after", after, seed=seed, reason=reason),
        ]
        d = paired_difference(before, after, seed=seed)
        gains = tuple(b - a for a, b in zip(before, after, strict=True))
        out.append(
            Metric(
                f"{group}{name}_gain",
                d.value,
                d.low,
                d.high,
                d.n,
                reason if not held else "",
                gains,
            )
        )
    return out
