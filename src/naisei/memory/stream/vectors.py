"""Vectors that grow, a row an entry."""

from __future__ import annotations

from array import array

import numpy as np
import numpy.typing as npt

from naisei.similarity import Floats, cosines, unit

_ROWS = 4096


class Vectors:
    """Growing rows of length 1 (`naisei.similarity.unit`), one an entry; zeros for one without."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._blocks: list[npt.NDArray[np.float32]] = []
        self._known = array("b")

    def grow(self, n: int) -> None:
        """Add empty rows until there are `n`; amortised O(1) each."""
        while len(self._known) < n:
            if len(self._known) == len(self._blocks) * _ROWS:
                self._blocks.append(np.zeros((_ROWS, self.dim), dtype=np.float32))
            self._known.append(0)

    def put(self, i: int, vector: npt.NDArray[np.float32]) -> None:
        """Set row `i`. vector: shape (dim,), finite, not zero."""
        self._blocks[i // _ROWS][i % _ROWS] = unit(vector)
        self._known[i] = 1

    def cosines(self, queries: Floats) -> Floats:
        """Shape (q, entries); NaN without a vector. queries: shape (q ≥ 1, dim), not zero."""
        known = np.array(self._known, np.bool_)
        found = np.concatenate([cosines(block, queries) for block in self._blocks], axis=1)
        return np.where(known, found[:, : len(known)], np.nan)


def asking(vectors: npt.ArrayLike, dim: int) -> Floats:
    """Shape (queries, dim), without those that are zero.

    Raises:
        ValueError: another dimension, or a number that is not finite.
    """
    queries = np.asarray(vectors, dtype=np.float64)
    if queries.ndim != 2 or queries.shape[1] != dim:
        raise ValueError(f"the queries have shape {queries.shape}, the memories {dim} dimensions")
    if not np.isfinite(queries).all():
        raise ValueError("a query's vector is not finite")
    return queries[queries.any(axis=1)]
