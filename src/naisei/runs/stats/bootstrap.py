"""Bootstrap intervals of a mean, over instances or over clusters of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

__all__ = ["bootstrap_interval", "bootstrap_means", "cluster_sums"]

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
