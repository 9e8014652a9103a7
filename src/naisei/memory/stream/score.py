"""The score of a memory: the weighted sum of its normalised parts, and the best of many."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["DECIMALS", "best", "minmax", "normalised", "reach"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

#: Scores that agree to so many decimals are ties: what rounding leaves is no difference.
DECIMALS = 12
_NOTHING = 10.0**-DECIMALS


def minmax(raw: Floats) -> tuple[float, float] | None:
    """The least and the greatest; `None` if they are equal or there are none. NaN: no value."""
    # fmin and fmax pass over NaN, unless there is nothing else.
    low, high = float(np.fmin.reduce(raw)), float(np.fmax.reduce(raw))
    return (low, high) if high - low > _NOTHING else None


def normalised(raw: Floats, between: tuple[float, float] | None) -> Floats:
    """(x − min) / (max − min), 0 to 1; 0 for all if they are equal, and for NaN."""
    if between is None:
        return np.zeros_like(raw)
    low, high = between
    out: Floats = (raw - low) / (high - low)
    out[np.isnan(out)] = 0.0
    return out


def reach(scores: Floats, k: int, error: float) -> Rows:
    """The positions of those that may be among the `k` greatest, if each may be off by `error`."""
    if k >= len(scores):
        return np.arange(len(scores))
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    return np.flatnonzero(scores >= least - 2 * error - 2 * _NOTHING)


def best(scores: Floats, k: int, tie: Callable[[int], Any]) -> list[int]:
    """The positions of the `k` greatest scores, best first; ties in the order of `tie`."""
    return heapq.nsmallest(k, range(len(scores)), key=lambda i: (-scores[i], tie(i)))
