"""From one value per unit to a metric with its interval."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from naisei.runs.stats.bootstrap import bootstrap_interval
from naisei.runs.task import Metric

__all__ = ["mean_metric"]


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
