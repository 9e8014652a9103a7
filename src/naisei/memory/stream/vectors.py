"""Vectors by the hundred thousand: a fast bound on every cosine, the exact one where it counts.

A block holds its vectors as columns: BLAS then multiplies several queries with it at the speed
of memory (100,000 × 384, one core: 13 ms for three queries; as rows 27 to 50).
"""

from __future__ import annotations

import math
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Column", "Vectors"]


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


Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

_COLUMNS = 2048
#: Queries come to BLAS in fours: its kernel takes three one at a time, at twice the cost.
_QUERIES = 4
_UNIT = 2.0**-24


class Vectors:
    """Growing columns of float32, one an entry; a column without a vector is zero.

    Vectors keep every bit that float32 has, save for a power of two by which they are scaled
    to about length 1; cosines are theirs, in float64.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._blocks: list[npt.NDArray[np.float32]] = []
        self._lengths = Column(np.float64)

    def __len__(self) -> int:
        return len(self._lengths)

    def grow(self, n: int) -> None:
        """Add empty columns until there are `n`. O(1) each: what is there is not moved."""
        while len(self._lengths) < n:
            if len(self._lengths) == len(self._blocks) * _COLUMNS:
                self._blocks.append(np.zeros((self.dim, _COLUMNS), dtype=np.float32))
            self._lengths.append(0.0)

    def put(self, i: int, vector: npt.NDArray[np.float32]) -> None:
        """Set column `i`. vector: shape (dim,), finite, not zero."""
        wide = vector.astype(np.float64)
        _, exponent = math.frexp(float(np.abs(wide).max()))
        wide = np.ldexp(wide, -exponent)
        block, column = divmod(i, _COLUMNS)
        self._blocks[block][:, column] = wide
        self._lengths[i] = float(np.sqrt((wide * wide).sum()))

    @property
    def error(self) -> float:
        """What a cosine of `near` may be off by, at most: the bound on a float32 dot product."""
        return (self.dim + 8) * _UNIT

    def near(self, queries: Floats, rows: Rows) -> Floats:
        """Shape (rows,): max over the queries of the cosine, within `error`; NaN without vector.

        queries: shape (q ≥ 1, dim), rows of length 1.
        """
        fill = -len(queries) % _QUERIES
        flat = np.concatenate([queries, np.repeat(queries[:1], fill, axis=0)]).astype(np.float32)
        out = np.empty((len(flat), _COLUMNS), dtype=np.float32)
        best = np.empty(len(self._blocks) * _COLUMNS, dtype=np.float32)
        lengths = self._lengths.all()
        for b, block in enumerate(self._blocks):
            # A short stream is not to pay for the whole of its block.
            used = min(len(lengths) - b * _COLUMNS, _COLUMNS)
            products = np.matmul(flat, block[:, :used], out=out[:, :used])
            np.max(products, axis=0, out=best[b * _COLUMNS : b * _COLUMNS + used])
        with np.errstate(invalid="ignore"):
            cosines = best[: len(lengths)] / lengths  # 0/0 where there is no vector
        return cosines if len(rows) == len(lengths) else cosines[rows]

    def exact(self, queries: Floats, rows: Rows) -> Floats:
        """The same in float64. An entry's is the same whichever others are asked for with it."""
        out = np.full(len(rows), np.nan)
        lengths = self._lengths.all()[rows]
        for start in range(0, len(rows), _COLUMNS):
            part = slice(start, start + _COLUMNS)
            wide = self._rows(rows[part])
            dots = [(wide * query).sum(axis=1) for query in queries]
            np.divide(np.max(dots, axis=0), lengths[part], out=out[part], where=lengths[part] > 0)
        return out

    def _rows(self, rows: Rows) -> Floats:
        wide = np.empty((len(rows), self.dim), dtype=np.float64)
        for block in np.unique(rows // _COLUMNS).tolist():
            here = np.flatnonzero(rows // _COLUMNS == block)
            wide[here] = self._blocks[block][:, rows[here] % _COLUMNS].T
        return wide
