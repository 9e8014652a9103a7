"""Columns that grow: numbers of one type, and vectors."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from naisei.similarity import Floats, cosines, unit

S = TypeVar("S", bound=np.generic)

_ROWS = 4096


class Column(Generic[S]):
    """Numbers of one type, in the order they were appended."""

    def __init__(self, dtype: type[S]) -> None:
        self._dtype = dtype
        self._blocks: list[npt.NDArray[S]] = []
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: int) -> S:
        number: S = self._blocks[i // _ROWS][i % _ROWS]
        return number

    def __setitem__(self, i: int, value: float) -> None:
        self._blocks[i // _ROWS][i % _ROWS] = self._dtype(value)

    def append(self, value: float) -> None:
        """O(1) in the worst case, not only on the average."""
        if self._n == len(self._blocks) * _ROWS:
            self._blocks.append(np.zeros(_ROWS, dtype=self._dtype))
        self._n += 1
        self[self._n - 1] = value

    def all(self) -> npt.NDArray[S]:
        """Shape (len,): a copy."""
        if not self._blocks:
            return np.empty(0, dtype=self._dtype)
        return np.concatenate(self._blocks)[: self._n]


class Vectors:
    """Growing rows of length 1 (`naisei.similarity.unit`), one an entry; zeros for one without."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._blocks: list[npt.NDArray[np.float32]] = []
        self._known = Column(np.bool_)

    def grow(self, n: int) -> None:
        """Add empty rows until there are `n`. O(1) each: what is there is not moved."""
        while len(self._known) < n:
            if len(self._known) == len(self._blocks) * _ROWS:
                self._blocks.append(np.zeros((_ROWS, self.dim), dtype=np.float32))
            self._known.append(False)

    def put(self, i: int, vector: npt.NDArray[np.float32]) -> None:
        """Set row `i`. vector: shape (dim,), finite, not zero."""
        self._blocks[i // _ROWS][i % _ROWS] = unit(vector)
        self._known[i] = True

    def cosines(self, queries: Floats) -> Floats:
        """Shape (q, entries); NaN without a vector. queries: shape (q ≥ 1, dim), not zero."""
        known = self._known.all()
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
