"""Hashing features, a column of tokens at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naisei.emphasis.crf.sparse import BITS

__all__ = ["binned", "column", "named", "shifted"]

Ids = NDArray[np.uint64]
Codes = NDArray[np.int32]
#: Of splitmix64 (Steele, Lea & Flood 2014).
_STEP, _M1, _M2 = (
    np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@lru_cache(maxsize=1 << 17)
def _id(text: str) -> int:
    return crc32(text.encode()) + 1


def named(texts: Iterable[str]) -> Ids:
    """One number a text, the same on every machine; 0 is left for what does not exist."""
    return np.array([_id(text) for text in texts], np.uint64)


def column(template: str, *parts: Ids) -> Codes:
    """Codes in 2 … 2^BITS − 1 of a feature: a template filled with one value from each part."""
    state = np.full(len(parts[0]), _id(template), np.uint64)
    # The wrap at 2^64 is meant.
    with np.errstate(over="ignore"):
        for part in parts:
            state = (state ^ part) * _M1 + _STEP
            state = (state ^ (state >> np.uint64(30))) * _M1
            state = (state ^ (state >> np.uint64(27))) * _M2
            state ^= state >> np.uint64(31)
    codes: Codes = np.maximum(state >> np.uint64(64 - BITS), 2).astype(np.int32)
    return codes


def shifted(values: Ids, by: int) -> Ids:
    """values[i + by] at each i; 0 past the ends."""
    out = np.zeros_like(values)
    if by >= 0:
        out[: max(0, len(values) - by)] = values[by:]
    else:
        out[-by:] = values[:by]
    return out


def binned(values: ArrayLike, edges: Sequence[float]) -> Ids:
    """Which interval each value lies in: 1 below the first edge, …, len(edges) + 1."""
    return (np.searchsorted(np.asarray(edges, np.float64), values, side="right") + 1).astype(
        np.uint64
    )
