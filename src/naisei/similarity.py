"""Cosines and score orders that are identical on every processor.

The sum of floats depends on the order of addition, which a BLAS library chooses by processor. Here
the components of vectors are multiples of 2⁻²⁴: their products, and all sums of these up to 32, fit
into a float64 without rounding, so the order does not matter. The processor is still recorded with
every run (`processor`).
"""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]

_STEPS = 2.0**24
#: Rows per block, so that the float64 copy fits the processor's cache.
_BLOCK = 1024
#: Scores equal to this many decimals are ties: exponentials and logarithms differ by processor.
DECIMALS = 12


def unit(vectors: npt.ArrayLike) -> Vectors:
    """Vectors (…, dim) scaled to length 1, components rounded to multiples of 2⁻²⁴; zeros stay
    zeros."""
    wide = np.asarray(vectors, np.float64)
    # Scale to about length 1 first: squares of very small or large numbers underflow or overflow.
    most = np.abs(wide).max(-1, initial=0.0, keepdims=True)
    wide = wide / np.where(most > 0, most, 1.0)
    length = np.sqrt((wide * wide).sum(-1, keepdims=True))
    wide /= np.where(length > 0, length, 1.0)
    return (np.rint(wide * _STEPS) / _STEPS).astype(np.float32)


def cosines(rows: npt.NDArray[np.float32 | np.int8], queries: npt.ArrayLike) -> Floats:
    """Cosines with shape (rows,) for one query (dim,), (queries, rows) for several (queries, dim).

    rows: shape (rows, dim), from `unit`, or 8-bit integers. queries: of any length.
    """
    asked = unit(queries).astype(np.float64)
    out = np.empty((*asked.shape[:-1], len(rows)))
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK].astype(np.float64)
        # One query at a time: faster than all at once, for a few.
        for query, found in zip(np.atleast_2d(asked), np.atleast_2d(out), strict=True):
            np.matmul(block, query, found[start : start + _BLOCK])
    return out


def order(scores: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """The positions of scores along the last axis, greatest first; ties keep their order."""
    return np.argsort(-np.round(np.asarray(scores, np.float64), DECIMALS), kind="stable")


#: Instruction sets by which numeric libraries choose their algorithms.
_TELLING = ("avx2", "fma", "avx512f", "avx_vnni", "avx512_vnni", "amx_int8")


@cache
def processor() -> tuple[str, tuple[str, ...]]:
    """The processor's name, and which of these instruction sets it has; on systems other than Linux
    the architecture only."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        told = ""
    lines = (line.partition(":") for line in told.split("\n\n", 1)[0].splitlines())
    known = {name.strip(): value.strip() for name, _, value in lines}
    flags = known.get("flags", "").split()
    name = known.get("model name", platform.machine())
    return name, tuple(flag for flag in _TELLING if flag in flags)
