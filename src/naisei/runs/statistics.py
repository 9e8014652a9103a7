"""Estimates with intervals: bootstrap, shares, means, success within k trials.

Of success within k trials: sequential trials (an agent that learns between them) and independent
trials (samples of the same thing) need different estimators; each function says which it is for.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from math import comb
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from naisei.runs.task import Metric

Floats = npt.NDArray[np.float64]
#: Resampled indices held at once: bounds the memory to some 30 MB.
_CHUNK = 1 << 20
_NAN = (float("nan"), float("nan"))


def cluster_sums(
    values: Sequence[float] | Floats, clusters: Sequence[Hashable] | None
) -> tuple[Floats, Floats]:
    """Sum and size of each cluster, in order of first appearance; each value alone if `None`."""
    x = np.asarray(values, dtype=np.float64)
    if clusters is None:
        return x, np.ones_like(x)
    if len(clusters) != len(x):
        raise ValueError(f"{len(clusters)} cluster labels for {len(x)} values")
    index: dict[Hashable, int] = {}
    labels = np.array([index.setdefault(c, len(index)) for c in clusters], dtype=np.intp)
    sums = np.bincount(labels, weights=x, minlength=len(index))
    return sums.astype(np.float64), np.bincount(labels, minlength=len(index)).astype(np.float64)


def bootstrap_means(
    values: Sequence[float] | Floats,
    *,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Floats:
    """Means of `resamples` samples drawn with replacement; shape (resamples,).

    With `clusters` (say, the scene of each instance) whole clusters are drawn, and the mean
    is the drawn sum over the drawn count (Davison & Hinkley 1997, §3.8). The same seed gives
    the same draws, so two metrics of one run are resampled alike.
    """
    sums, sizes = cluster_sums(values, clusters)
    n = len(sums)
    rng = np.random.default_rng(seed)
    out = np.empty(resamples)
    rows = max(1, _CHUNK // max(n, 1))
    for start in range(0, resamples, rows):
        drawn = rng.integers(0, n, size=(min(rows, resamples - start), n), dtype=np.int32)
        out[start : start + len(drawn)] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return out


def bootstrap_interval(
    values: Sequence[float] | Floats,
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    method: Literal["percentile", "bca"] = "percentile",
) -> tuple[float, float]:
    """A bootstrap interval of the mean.

    `percentile`: quantiles of the resampled means (Efron & Tibshirani 1993, ch. 13).
    `bca`: corrected for bias and acceleration (ch. 14), the latter by the jackknife.

    Returns (NaN, NaN) for fewer than two units (or clusters), or if a value is NaN: one unit
    says nothing about the spread. Equal values give an interval of no width.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), not {level}")
    sums, sizes = cluster_sums(values, clusters)
    if len(sums) < 2 or bool(np.isnan(sums).any()):
        return _NAN
    if (only := float(values[0])) == min(values) == max(values):
        return only, only
    means = bootstrap_means(values, clusters=clusters, resamples=resamples, seed=seed)
    tails = ((1 - level) / 2, (1 + level) / 2)
    if method == "bca":
        tails = _corrected(tails, means, sums, sizes)
    low, high = np.quantile(means, tails)
    return float(low), float(high)


def _corrected(
    tails: tuple[float, float], means: Floats, sums: Floats, sizes: Floats
) -> tuple[float, float]:
    """The BCa tail areas (Efron & Tibshirani 1993, eq. 14.10)."""
    normal = NormalDist()
    mean = sums.sum() / sizes.sum()
    # Ties count by half, or a discrete metric looks biased; kept off 0 and 1.
    below = (np.sum(means < mean) + 0.5 * np.sum(means == mean)) / len(means)
    edge = 0.5 / len(means)
    z0 = normal.inv_cdf(float(np.clip(below, edge, 1 - edge)))
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    spread = left_out.mean() - left_out
    scale = float((spread**2).sum()) ** 1.5
    a = float((spread**3).sum()) / (6 * scale) if scale > 0 else 0.0
    low, high = (z0 + normal.inv_cdf(tail) for tail in tails)
    return normal.cdf(z0 + low / (1 - a * low)), normal.cdf(z0 + high / (1 - a * high))


def wilson_interval(hits: int, n: int, *, z: float = 1.959963984540054) -> tuple[float, float]:
    """Bounds of the 95 % interval (for the default `z`) of a share `hits / n`; NaN for n = 0.

    Never empty, and within [0, 1], for shares of 0 and 1 too.
    Source: Wilson (1927), Journal of the American Statistical Association 22, 209–212.

    >>> [round(b, 3) for b in wilson_interval(0, 10)]
    [0.0, 0.278]
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
    per_unit: Sequence[float] | npt.NDArray[np.float64],
    *,
    clusters: Sequence[Hashable] | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    reason: str = "",
) -> Metric:
    """The mean of one value per scored unit, with its bootstrap 95 % interval.

    `reason` is kept only if the mean is undefined: no unit, or a NaN among them.
    """
    values = np.asarray(per_unit, dtype=np.float64)
    if len(values) == 0 or bool(np.isnan(values).any()):
        why = reason or ("no scored unit" if len(values) == 0 else "undefined for some units")
        return Metric(name, float("nan"), n=0, reason=why)
    low, high = bootstrap_interval(values, clusters=clusters, seed=seed, resamples=resamples)
    return Metric(name, float(values.mean()), low, high, len(values), "", tuple(map(float, values)))


def _checked(k: int) -> None:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")


def succeeded_within(
    first_success: Sequence[int | None], k: int, *, trials: int | None = None
) -> Floats:
    """Sequential trials: 1 where the first success came within k trials, else 0; shape (n,).

    Its mean is Pass@k of R-Clarify (§5.1): the share of instances solved by trial k. All
    NaN if fewer than k `trials` were allowed: what was not tried is not known.

    Args:
        first_success: t* of each instance, counted from 1; `None` where there was none.
        trials: how many each instance was allowed; `None` takes at least k for granted.
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
    """Sequential trials: α^(s−1) where the first success came within k, else 0; shape (n,).

    Its mean is DPass@k(α) = Pass@k · E[α^(s−1) | t* ≤ k] (R-Clarify §5.1): the share of
    successes times their mean discount is the sum of discounts over n. All NaN if fewer
    than k `trials` were allowed.

    Args:
        first_success: t* of each instance, counted from 1; `None` where there was none.
        steps: s of each instance, the interactions of the successful trial (≥ 1, the
            execution included); ignored where there was no success within k.
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
