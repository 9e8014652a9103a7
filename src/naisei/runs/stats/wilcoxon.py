"""The signed-rank test of Wilcoxon (1945) for paired values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import erfc, sqrt

import numpy as np
import numpy.typing as npt

from naisei.runs.stats.bootstrap import cluster_sums

__all__ = ["wilcoxon_signed_rank"]

Floats = npt.NDArray[np.float64]
#: Up to here every pattern of signs is counted.
_EXACT_UNITS = 50


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
    if len(d) <= _EXACT_UNITS:
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
