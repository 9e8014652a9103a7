"""Paired tests: permutation, McNemar, Wilcoxon's signed ranks; Holm's correction."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import comb, erfc, sqrt

import numpy as np
import numpy.typing as npt

from naisei.runs.statistics import bootstrap_interval, cluster_sums

__all__ = [
    "Difference",
    "holm",
    "mcnemar_exact",
    "paired_difference",
    "permutation_test",
    "wilcoxon_signed_rank",
]


Floats = npt.NDArray[np.float64]
_NAN = float("nan")
#: Sign patterns enumerated rather than sampled: up to 2^16.
_EXACT_UNITS = 16
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of b − a over n shared units, with its interval and two-sided p-value.

    NaN where undefined, then `reason` says why.
    """

    value: float
    low: float = _NAN
    high: float = _NAN
    p: float = _NAN
    n: int = 0
    reason: str = ""


def paired_difference(
    a: Sequence[float] | Floats,
    b: Sequence[float] | Floats,
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Difference:
    """b − a: mean, paired bootstrap interval, and the p-value of `permutation_test`.

    The units (or clusters of them) are resampled with both their values (Efron &
    Tibshirani 1993, §8.3). Units where either value is NaN are left out of n.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"{len(x)} units against {len(y)}")
    kept = ~(np.isnan(x) | np.isnan(y))
    d = y[kept] - x[kept]
    labels = None if clusters is None else [c for c, k in zip(clusters, kept, strict=True) if k]
    if len(d) == 0:
        return Difference(_NAN, reason="no unit was scored in both runs")
    low, high = bootstrap_interval(d, clusters=labels, level=level, resamples=resamples, seed=seed)
    p = permutation_test(d, clusters=labels, seed=seed)
    reason = "" if len(d) > 1 else "one shared unit: no interval"
    return Difference(float(d.mean()), low, high, p, len(d), reason)


def permutation_test(
    differences: Sequence[float] | Floats,
    *,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 20_000,
    seed: int = 0,
) -> float:
    """Two-sided p-value that paired differences are symmetric about 0, by flipping signs.

    Exact where all non-zero differences have one size (then it is McNemar's test) or where
    at most 16 are non-zero (all sign patterns are counted); otherwise from `resamples`
    random patterns with the observed one counted in (Phipson & Smyth 2010). With `clusters`
    the signs of whole clusters are flipped. Fisher 1935, ch. 3. NaN for no units.
    """
    sums, _ = cluster_sums(differences, clusters)
    if len(sums) == 0 or bool(np.isnan(sums).any()):
        return _NAN
    sizes = np.abs(sums[sums != 0])
    if len(sizes) == 0:
        return 1.0
    observed = abs(float(sums.sum()))
    # Equal sums differ by rounding: count them as reached.
    reached = observed - 1e-9 * float(sizes.sum())
    if np.ptp(sizes) <= 1e-12 * sizes[0]:
        more = int((sums > 0).sum())
        return _binomial_two_sided(more, len(sizes) - more)
    if len(sizes) <= _EXACT_UNITS:
        totals = np.zeros(1)
        for size in sizes:
            totals = np.concatenate([totals - size, totals + size])
        return float(np.mean(np.abs(totals) >= reached))
    rng = np.random.default_rng(seed)
    hits, rows = 0, max(1, _CHUNK // len(sizes))
    for start in range(0, resamples, rows):
        signs = rng.integers(0, 2, size=(min(rows, resamples - start), len(sizes)), dtype=np.int8)
        totals = np.where(signs == 1, sizes, -sizes).sum(axis=1)
        hits += int((np.abs(totals) >= reached).sum())
    return (hits + 1) / (resamples + 1)


def mcnemar_exact(a: Sequence[bool | float], b: Sequence[bool | float]) -> float:
    """Exact two-sided McNemar test on paired successes (binomial on the discordant pairs).

    McNemar 1947, in its exact form; 1 if no pair is discordant, NaN for no pairs.
    """
    if len(a) == 0:
        return _NAN
    pairs = [(bool(x), bool(y)) for x, y in zip(a, b, strict=True)]
    return _binomial_two_sided(pairs.count((False, True)), pairs.count((True, False)))


def _binomial_two_sided(plus: int, minus: int) -> float:
    """P(a split at least this uneven) among plus + minus fair coins."""
    n, few = plus + minus, min(plus, minus)
    tail = sum(comb(n, i) for i in range(few + 1))
    return min(1.0, 2 * tail / 2**n) if n else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for several comparisons, in the order given (Holm 1979).

    NaN stays NaN and does not count as a comparison.
    """
    ranked = sorted((p, i) for i, p in enumerate(p_values) if p == p)
    out, running = [_NAN] * len(p_values), 0.0
    for rank, (p, i) in enumerate(ranked):
        running = max(running, min(1.0, p * (len(ranked) - rank)))
        out[i] = running
    return out


#: Up to here every pattern of signs is counted.
_EXACT_PAIRS = 50


def wilcoxon_signed_rank(
    a: Sequence[float] | Floats,
    b: Sequence[float] | Floats,
    *,
    clusters: Sequence[Hashable] | None = None,
) -> float:
    """Two-sided p-value that the differences b − a are symmetric about 0.

    With `clusters` what is ranked are the sums of their differences. Pairs with a NaN are left
    out; so are equal pairs, as Wilcoxon did; differences of equal size share their mean rank.
    Exact, ties included, for up to 50 differences that are not 0; beyond that the normal
    approximation, corrected for ties and for continuity (Hollander & Wolfe 1999, §3.1). 1 if all
    pairs are equal, NaN for no pairs.

    Raises:
        ValueError: not the same number of values.
    """
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if x.shape != y.shape:
        raise ValueError(f"{len(x)} units against {len(y)}")
    known = ~(np.isnan(x) | np.isnan(y))
    labels = None if clusters is None else [c for c, k in zip(clusters, known, strict=True) if k]
    d, _ = cluster_sums((y - x)[known], labels)
    if len(d) == 0:
        return float("nan")
    # Rounding makes two values of equal differences unlike: ten digits decide.
    d = np.round(d, 10)
    d = d[d != 0]
    if len(d) == 0:
        return 1.0
    _, which, sizes = np.unique(np.abs(d), return_inverse=True, return_counts=True)
    # Twice the mean rank of each group of equals, a whole number.
    doubled = (2 * np.cumsum(sizes) - sizes + 1)[which.ravel()]
    plus = int(doubled[d > 0].sum())
    if len(d) <= _EXACT_PAIRS:
        return _exact(doubled, plus)
    total = int(doubled.sum())
    n = len(d)
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((sizes**3 - sizes).sum()) / 48
    gap = max(0.0, abs(plus - total / 2) / 2 - 0.5)
    return min(1.0, erfc(gap / sqrt(variance) / sqrt(2)))


def _exact(doubled: npt.NDArray[np.int64], plus: int) -> float:
    """P(a sum of signed ranks at least this far from its mean), over all 2^n signs."""
    total = int(doubled.sum())
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in doubled:
        more = ways.copy()
        more[rank:] += ways[: total + 1 - rank]
        # Halved at each step: they are shares, and stay finite.
        ways = more / 2
    low = min(plus, total - plus)
    return min(1.0, 2 * float(ways[: low + 1].sum()))
