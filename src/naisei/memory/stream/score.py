"""The score of a memory: the weighted sum of its normalised parts, and the best of many."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from naisei.memory.stream.entry import Weights

__all__ = ["minmax", "top", "total"]

Floats = npt.NDArray[np.float64]

#: Values and scores that differ by less are equal: what rounding leaves is no difference.
_NOTHING = 1e-12
_DECIMALS = 12


def minmax(raw: Floats) -> Floats:
    """(x − min) / (max − min); 0 for all if they are equal, and for NaN (no such value)."""
    known = ~np.isnan(raw)
    if not known.any():
        return np.zeros_like(raw)
    low, high = np.nanmin(raw), np.nanmax(raw)
    if high - low < _NOTHING:
        return np.zeros_like(raw)
    return np.where(known, (raw - low) / (high - low), 0.0)


def total(parts: Mapping[str, Floats], weights: Weights) -> Floats:
    """The weighted sum, rounded to 12 decimals so that ties are ties."""
    out: Floats = sum(getattr(weights, name) * part for name, part in parts.items())
    return np.round(out, _DECIMALS)


def top(scores: Floats, k: int | None, tie: Callable[[int], Any]) -> list[int]:
    """The positions of the `k` greatest scores, best first; ties in the order of `tie`."""
    n = len(scores)
    k = n if k is None else min(k, n)
    least = np.partition(scores, n - k)[n - k] if k < n else -np.inf
    among = np.flatnonzero(scores >= least).tolist()
    return heapq.nsmallest(k, among, key=lambda i: (-scores[i], *tie(i)))
