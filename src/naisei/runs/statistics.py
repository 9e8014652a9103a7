"""Estimates with intervals: means, proportions, success within k trials.

For success within k trials, sequential trials (an agent that learns between them) and independent
trials (samples of the same thing) need different estimators; each function states its kind.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import comb
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from naisei.runs.task import Metric

Floats = npt.NDArray[np.float64]
_NAN = (float("nan"), float("nan"))


def cluster_sums(
    values: Sequence[float] | Floats, clusters: Sequence[Hashable] | None
) -> tuple[Floats, Floats]:
    """Return the sum and size of each cluster, in order of first appearance. If clusters is `None`,
    each value is a cluster."""
    x = np.asarray(values, dtype=np.float64)
    if clusters is None:
        return x, np.ones_like(x)
    if len(clusters) != len(x):
        raise ValueError(f"{len(clusters)} cluster labels for {len(x)} values")
    index: dict[Hashable, int] = {}
    labels = np.array([index.setdefault(c, len(index)) for c in clusters], dtype=np.intp)
    sums = np.bincount(labels, weights=x, minlength=len(index))
    return sums.astype(np.float64), np.bincount(labels, minlength=len(index)).astype(np.float64)


#: Weight, in clusters, of full within-cluster agreement, towards which the variance of a proportion
#: is shrunk: with few clusters it is often far too small by chance (coverage: docs/runs.md).
_PRIOR_CLUSTERS = 2
NOTHING = "no scored unit"
NO_INTERVAL = "fewer than two clusters: no interval"
ALL_EQUAL = "nothing varies between clusters: no interval"


def cluster_worth(sizes: Floats) -> float:
    """Return the effective number of equal-sized clusters (Kish 1965, §11.7)."""
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def jackknife_variance(sums: Floats, sizes: Floats) -> float:
    """Return the leave-one-cluster-out variance of a mean (Efron & Tibshirani 1993, ch. 11)."""
    m, total = len(sums), sizes.sum()
    left_out = (sums.sum() - sums) / (total - sizes)
    return (m - 1) / m * float(((left_out - sums.sum() / total) ** 2).sum())


def student_of(sizes: Floats, level: float = 0.95) -> float:
    """Return Student's quantile for clusters of these sizes; unequal ones count as fewer."""
    return student_quantile((1 + level) / 2, max(1, int(cluster_worth(sizes) + 1e-9) - 1))


def interval(
    values: Sequence[float] | Floats,
    *,
    clusters: Sequence[Hashable] | None,
    share: bool = False,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return the interval of a mean of values that are dependent within clusters; no resampling.

    share: the values lie in [0, 1] by definition, and so does the interval: Wilson's for the
    effective sample size (Korn & Graubard 1998, Survey Methodology 24, 193-201), or for the
    number of clusters if all values are 0 or all are 1. Otherwise Student's.

    Returns (NaN, NaN) for fewer than two clusters, if a value is NaN, or if the values are not
    proportions and all cluster means are equal, since the variance is then unknown.

    Raises:
        ValueError: a level outside (0, 1), or a share outside [0, 1].
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), not {level}")
    x = np.asarray(values, dtype=np.float64)
    if share and bool(((x < -1e-9) | (x > 1 + 1e-9)).any()):
        raise ValueError("a share is between 0 and 1")
    sums, sizes = cluster_sums(x, clusters)
    if len(sums) < 2 or bool(np.isnan(x).any()):
        return _NAN
    mean, m, worth = float(x.mean()), len(sums), cluster_worth(sizes)
    alone, t = float(x.var(ddof=1)), student_of(sizes, level)
    variance = jackknife_variance(sums, sizes)
    if not share:
        reach = t * math.sqrt(variance)
        return (mean - reach, mean + reach) if reach > 1e-12 * abs(mean) else _NAN
    mean = min(1.0, max(0.0, mean))
    variance = (m * variance + _PRIOR_CLUSTERS * alone / worth) / (m + _PRIOR_CLUSTERS)
    # The effective sample size cannot exceed that of independent values.
    variance = max(variance, alone / len(x))
    if not np.ptp(x):
        return wilson_interval(mean * worth, worth, z=NormalDist().inv_cdf((1 + level) / 2))
    n = mean * (1 - mean) / variance
    return wilson_interval(mean * n, n, z=t)


@cache
def student_quantile(p: float, df: int) -> float:
    """Return the quantile of Student's t, for p in (0.5, 1) and integer degrees of freedom.

    Uses bisection of the exact series (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4); more than
    500 degrees are treated as 500, which is 0.3 % too large.

    >>> round(student_quantile(0.975, 4), 3)
    2.776
    """
    df = min(df, 500)
    steps = np.arange(df % 2 + 1, df - 1, 2)
    factors = np.concatenate([[1.0], np.cumprod(steps / (steps + 1))])

    def within(theta: float) -> float:
        series = float((factors * math.cos(theta) ** (2 * np.arange(len(factors)))).sum())
        if df % 2 == 0:
            return math.sin(theta) * series
        more = math.sin(theta) * math.cos(theta) * series if df > 1 else 0.0
        return (theta + more) * 2 / math.pi

    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) < 2 * p - 1 else (low, middle)
    return math.sqrt(df) * math.tan(low)


def wilson_interval(hits: float, n: float, *, z: float = 1.959963984540054) -> tuple[float, float]:
    """Return the 95 % interval (for the default `z`) of the proportion `hits / n`; NaN for n = 0.

    Never empty, and within [0, 1], even for proportions of 0 and 1.
    Source: Wilson (1927), Journal of the American Statistical Association 22, 209–212.
    """
    if n == 0:
        return math.nan, math.nan
    share = hits / n
    scale = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    low = 0.0 if hits == 0 else middle - reach
    return low, 1.0 if hits == n else middle + reach


def mean_metric(
    name: str,
    values: Sequence[float | None] | Floats,
    *,
    clusters: Sequence[Hashable] | None,
    share: bool = False,
    least: float = 0.0,
    most: float = math.inf,
    paired: bool = False,
    definition: Mapping[str, JsonValue] | None = None,
    reason: str = "",
) -> Metric:
    """Return the mean of values with its 95 % `interval`; skips values that are `None`.

    Args:
        clusters: cluster of each value (for example, the scene of an instance); `None` only if
            the values are independent.
        share: the values lie in [0, 1] by definition.
        least, most: bounds of values that are not proportions, such as 0 for a count; the
            interval is clipped to them.
        paired: the values correspond to the summary's units, one per unit and in their order.
        definition: the settings on which the meaning of the metric depends.
        reason: why the mean is undefined, if it is: no value, or a NaN among them.

    Raises:
        ValueError: a value out of bounds.
    """
    bounds = (0.0, 1.0) if share else (least, most)
    labels = range(len(values)) if clusters is None else clusters
    held = [(v, c) for v, c in zip(values, labels, strict=True) if v is not None]
    x, kept = np.array([v for v, _ in held], np.float64), [c for _, c in held]
    bare = Metric(name, math.nan, share=share, bounds=bounds, definition=definition or {})
    if not held or bool(np.isnan(x).any()):
        return replace(bare, reason=reason or ("undefined for some units" if held else NOTHING))
    if not share and bool(((x < least) | (x > most)).any()):
        raise ValueError(f"{name}: a value outside {least:g} to {most:g}")
    low, high = interval(x, clusters=kept, share=share)
    low, high = max(low, bounds[0]), min(high, bounds[1])
    why = "" if low == low else NO_INTERVAL if len(set(kept)) < 2 else ALL_EQUAL
    units = tuple(math.nan if v is None else float(v) for v in values) if paired else ()
    bare = replace(bare, value=float(x.mean()), low=low, high=high, n=len(held))
    return replace(bare, reason=why, per_unit=units)


def _checked(k: int) -> None:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")


def succeeded_within(
    first_success: Sequence[int | None], k: int, *, trials: int | None = None
) -> Floats:
    """Sequential trials: 1 if the first success occurred within k trials, else 0; shape (n,).

    Its mean is Pass@k of R-Clarify (§5.1): the proportion of instances solved by trial k. All
    NaN if fewer than k `trials` were allowed, since the outcome is then unknown.

    Args:
        first_success: t* of each instance, counted from 1; `None` if there was none.
        trials: number allowed per instance; `None` assumes at least k.
    """
    return discounted_within(first_success, [1] * len(first_success), k, alpha=1, trials=trials)


def discounted_within(
    first_success: Sequence[int | None],
    steps: Sequence[int | None],
    k: int,
    *,
    alpha: float,
    trials: int | None = None,
) -> Floats:
    """Sequential trials: α^(s−1) if the first success occurred within k, else 0; shape (n,).

    Its mean is DPass@k(α) = Pass@k · E[α^(s−1) | t* ≤ k] (R-Clarify §5.1): the proportion of
    successes times their mean discount, which is the sum of discounts over n. All NaN if fewer
    than k `trials` were allowed.

    Args:
        first_success: t* of each instance, counted from 1; `None` if there was none.
        steps: s of each instance, the number of interactions in the successful trial (≥ 1,
            including the execution); ignored if there was no success within k.
        alpha: discount, in (0, 1]; 1 gives Pass@k.

    Raises:
        ValueError: alpha or k out of range, or a success without its steps.
    """
    _checked(k)
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha must be in (0, 1], not {alpha}")
    if trials is not None and trials < k:
        return np.full(len(first_success), np.nan)
    out = np.zeros(len(first_success))
    for i, (t, s) in enumerate(zip(first_success, steps, strict=True)):
        if t is None or t > k:
            continue
        if s is None or s < 1:
            raise ValueError(f"instance {i} succeeded at trial {t} in {s} steps")
        out[i] = alpha ** (s - 1)
    return out


def pass_at_k(n: int, c: int, k: int) -> float:
    """Independent trials: the unbiased estimate of P(at least one of k succeeds).

    1 − C(n−c, k) / C(n, k), with c successes among n samples of one instance (Chen et
    al. 2021, "Evaluating Large Language Models Trained on Code", eq. 1). NaN if n < k.
    """
    _checked(k)
    _counts(n, c)
    if n < k:
        return float("nan")
    whole = comb(n, k)
    return (whole - comb(n - c, k)) / whole


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Independent trials: pass^k, the unbiased estimate of P(all of k succeed).

    C(c, k) / C(n, k), with c successes among n samples of one instance (Yao et al. 2024,
    "τ-bench", §3). NaN if n < k.
    """
    _checked(k)
    _counts(n, c)
    return float("nan") if n < k else comb(c, k) / comb(n, k)


def _counts(n: int, c: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"{c} successes among {n} trials")
