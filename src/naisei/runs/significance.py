"""Significance of differences between runs, and agreement between raters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import comb, erfc, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from naisei.runs.statistics import (
    ALL_EQUAL,
    NO_INTERVAL,
    Floats,
    cluster_sums,
    interval,
    jackknife_variance,
    student_of,
)
from naisei.runs.task import Metric

_NAN = float("nan")
#: Sign patterns enumerated rather than sampled: up to 2^16.
_EXACT_UNITS = 16
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of b − a over n shared units, with its interval and two-sided p-value.

    Values are NaN if undefined; `reason` then says why.
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
    clusters: Sequence[Hashable] | None,
    share: bool = False,
    width: float = np.inf,
    seed: int = 0,
) -> Difference:
    """Return the mean of b − a, its 95 % interval, and the p-value of `permutation_test`.

    share: both lie in [0, 1] by definition. The interval then counts two more clusters, one that
    differs by 1 and one by −1 (Bonett & Price 2012, Journal of Educational and Behavioral
    Statistics 37, 479-488); their size is the square root of the mean cluster size. The interval
    therefore has a positive width even if no unit differs.
    width: the largest possible difference of two values; the interval is clipped to it.
    Units where either value is NaN are excluded from n.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"{len(x)} units against {len(y)}")
    kept = ~(np.isnan(x) | np.isnan(y))
    d = y[kept] - x[kept]
    labels = range(len(kept)) if clusters is None else clusters
    labels = [c for c, k in zip(labels, kept, strict=True) if k]
    if len(d) == 0:
        return Difference(_NAN, reason="no unit was scored in both runs")
    p = permutation_test(d, clusters=labels, seed=seed)
    value, alike = float(d.mean()), len(set(labels))
    if alike < 2:
        return Difference(value, p=p, n=len(d), reason=NO_INTERVAL)
    if share:
        sums, sizes = cluster_sums(d, labels)
        size, t = sqrt(len(d) / alike), student_of(sizes)
        sums, sizes = np.append(sums, [size, -size]), np.append(sizes, [size, size])
        middle, reach = sums.sum() / sizes.sum(), t * sqrt(jackknife_variance(sums, sizes))
        low = max(-1.0, min(float(middle - reach), value))
        high = min(1.0, max(float(middle + reach), value))
    else:
        low, high = interval(d, clusters=labels)
        low, high = max(low, -width), min(high, width)
    return Difference(value, low, high, p, len(d), "" if low == low else ALL_EQUAL)


def permutation_test(
    differences: Sequence[float] | Floats,
    *,
    clusters: Sequence[Hashable] | None,
    resamples: int = 20_000,
    seed: int = 0,
) -> float:
    """Two-sided p-value that paired differences are symmetric about 0, by flipping signs.

    Exact if all non-zero differences have the same size (McNemar's test) or if
    at most 16 are non-zero (all sign patterns are counted); otherwise estimated from `resamples`
    random patterns, including the observed one (Phipson & Smyth 2010). With `clusters`,
    the signs of whole clusters are flipped. Fisher 1935, ch. 3. NaN if there are no units.
    """
    sums, _ = cluster_sums(differences, clusters)
    if len(sums) == 0 or bool(np.isnan(sums).any()):
        return _NAN
    # Sorted, so that the sampled signs do not depend on the order of the units.
    sizes = np.sort(np.abs(sums[sums != 0]))
    if len(sizes) == 0:
        return 1.0
    observed = abs(float(sums.sum()))
    # Equal sums differ by rounding: count them as reached.
    reached = observed - 1e-9 * float(sizes.sum())
    if np.ptp(sizes) <= 1e-12 * sizes[-1]:
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


def _binomial_two_sided(plus: int, minus: int) -> float:
    """P(a split at least this uneven) among plus + minus fair coins."""
    n, few = plus + minus, min(plus, minus)
    tail = sum(comb(n, i) for i in range(few + 1))
    return min(1.0, 2 * tail / 2**n) if n else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for multiple comparisons, in the given order (Holm 1979).

    NaN remains NaN and does not count as a comparison.
    """
    ranked = sorted((p, i) for i, p in enumerate(p_values) if p == p)
    out, running = [_NAN] * len(p_values), 0.0
    for rank, (p, i) in enumerate(ranked):
        running = max(running, min(1.0, p * (len(ranked) - rank)))
        out[i] = running
    return out


#: Up to this many differences, every pattern of signs is counted.
_EXACT_PAIRS = 50


def wilcoxon_signed_rank(
    a: Sequence[float] | Floats,
    b: Sequence[float] | Floats,
    *,
    clusters: Sequence[Hashable] | None,
) -> float:
    """Two-sided p-value that the differences b − a are symmetric about 0.

    With `clusters`, the cluster sums of the differences are ranked. Pairs with a NaN are excluded;
    so are equal pairs, following Wilcoxon; differences of equal size share their mean rank.
    Exact, including ties, for up to 50 non-zero differences; beyond that the normal
    approximation, corrected for ties and for continuity (Hollander & Wolfe 1999, §3.1). 1 if all
    pairs are equal, NaN if there are no pairs.

    Raises:
        ValueError: the numbers of values differ.
    """
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if x.shape != y.shape:
        raise ValueError(f"{len(x)} units against {len(y)}")
    known = ~(np.isnan(x) | np.isnan(y))
    labels = None if clusters is None else [c for c, k in zip(clusters, known, strict=True) if k]
    d, _ = cluster_sums((y - x)[known], labels)
    if len(d) == 0:
        return float("nan")
    # Equal differences may differ by rounding: compare ten digits.
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
        # Halved at each step, so that they are probabilities and remain finite.
        ways = more / 2
    low = min(plus, total - plus)
    return min(1.0, 2 * float(ways[: low + 1].sum()))


#: Minimum number of clusters for resampling.
_RESAMPLED = 15


def _nominal_distance(a: Hashable, b: Hashable) -> float:
    """Return 0 for equal values, else 1."""
    return float(a != b)


def krippendorff_alpha(
    units: Sequence[Sequence[Any]],
    *,
    distance: Callable[[Any, Any], float] = _nominal_distance,
    clusters: Sequence[Hashable] | None,
    name: str = "alpha",
    resamples: int = 2_000,
    seed: int = 0,
) -> Metric:
    """Krippendorff's α = 1 − D_o / D_e (Krippendorff 2011, "Computing Krippendorff's
    Alpha-Reliability"), with a bootstrap 95 % interval.

    units: for each coded unit, the value of each coder, or `None` if missing; values are
    hashable. Units with fewer than two values say nothing about agreement and are excluded;
    `Metric.n` counts the others. distance: symmetric, 0 for equal values (the squared difference
    function δ² of the paper).

    The interval resamples units, or whole `clusters` of them (for example, all actions judged for
    one item). At least 15 are required, since a bootstrap of fewer is too narrow. Chance agreement
    is re-estimated in each resample; resamples without any variation are excluded.
    NaN with a reason if no unit has two values or if all values are equal, since the expected
    disagreement is then 0.
    """
    labels = list(range(len(units))) if clusters is None else list(clusters)
    coded = [
        (label, values)
        for label, unit in zip(labels, units, strict=True)
        if len(values := [v for v in unit if v is not None]) >= 2
    ]
    if not coded:
        return Metric(name, _NAN, reason="no unit was coded twice")
    kept = [label for label, _ in coded]
    kinds: dict[Any, int] = {
        v: i for i, v in enumerate(dict.fromkeys(v for _, u in coded for v in u))
    }
    apart = np.array([[distance(a, b) for b in kinds] for a in kinds])
    counts = np.zeros((len(coded), len(kinds)))
    for row, (_, values) in zip(counts, coded, strict=True):
        for v in values:
            row[kinds[v]] += 1
    # Both sums run over all ordered pairs of values, within a unit and overall.
    within = np.einsum("uc,cd,ud->u", counts, apart, counts) / (counts.sum(axis=1) - 1)
    if not apart.any():
        return Metric(name, _NAN, reason="all values are equal, so agreement by chance is total")
    value = float(_alpha(within.sum(keepdims=True), counts.sum(axis=0)[None, :], apart)[0])
    low, high = _interval(within, counts, apart, kept, resamples, seed)
    why = "" if low == low else f"fewer than {_RESAMPLED} clusters: no interval"
    return Metric(name, value, low, high, len(coded), why)


def _alpha(within: Floats, totals: Floats, apart: Floats) -> Floats:
    """Return α of each row. within: shape (r,). totals: count of each value, shape (r, values)."""
    expected = np.einsum("rc,rc->r", totals @ apart, totals) / (totals.sum(axis=1) - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - within / expected, _NAN)


def _interval(
    within: Floats,
    counts: Floats,
    apart: Floats,
    labels: Sequence[Hashable],
    resamples: int,
    seed: int,
) -> tuple[float, float]:
    """Return the percentile interval over clusters; (NaN, NaN) if there are too few."""
    index = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    n = len(index)
    if n < _RESAMPLED:
        return _NAN, _NAN
    sums, _ = cluster_sums(within, labels)
    per_cluster = np.zeros((n, counts.shape[1]))
    np.add.at(per_cluster, [index[label] for label in labels], counts)
    rng = np.random.default_rng(seed)
    times = rng.multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)
    drawn = _alpha(times @ sums, times @ per_cluster, apart)
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) == 0:
        return _NAN, _NAN
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)
