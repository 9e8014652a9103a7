"""Vectors by the hundred thousand: a fast bound on every cosine, the exact one where it counts.

A full block is looked through in whole numbers of 8 bits, each vector with a scale of its own, by
onnxruntime's integer product, where that is there; a block that still grows, and all of them where
it is not, in float32. How far a cosine may be off is known: by what rounding left of each vector.
"""

from __future__ import annotations

import importlib.util
import math
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

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

#: Vectors of a block.
BLOCK = 4096
_UNIT = 2.0**-24
_MOST = 127
#: A query is two numbers of 8 bits, the second of what the first left: then only the vectors'
#: rounding counts.
_FINER = 2 * _MOST


class Vectors:
    """Growing rows of float32, one an entry; a row without a vector is zero.

    Vectors keep every bit that float32 has, save for a power of two by which they are scaled
    to about length 1; cosines are theirs, in float64.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._blocks: list[npt.NDArray[np.float32]] = []
        self._lengths = Column(np.float64)
        self._rounded: dict[int, _Rounded] = {}

    def __len__(self) -> int:
        return len(self._lengths)

    def grow(self, n: int) -> None:
        """Add empty rows until there are `n`. O(1) each: what is there is not moved."""
        while len(self._lengths) < n:
            if len(self._lengths) == len(self._blocks) * BLOCK:
                self._blocks.append(np.zeros((BLOCK, self.dim), dtype=np.float32))
            self._lengths.append(0.0)

    def put(self, i: int, vector: npt.NDArray[np.float32]) -> None:
        """Set row `i`. vector: shape (dim,), finite, not zero."""
        wide = vector.astype(np.float64)
        _, exponent = math.frexp(float(np.abs(wide).max()))
        wide = np.ldexp(wide, -exponent)
        block, row = divmod(i, BLOCK)
        self._blocks[block][row] = wide
        self._lengths[i] = float(np.sqrt((wide * wide).sum()))
        self._rounded.pop(block, None)

    @property
    def error(self) -> float:
        """What a cosine of `cosines` may be off by, at most."""
        worst = max((one.error for one in self._rounded.values()), default=0.0)
        return worst + (self.dim + 8) * _UNIT

    def cosines(self, queries: Floats) -> npt.NDArray[np.float32]:
        """Shape (q, entries): each cosine within `error`; NaN without a vector.

        queries: shape (q ≥ 1, dim), rows of length 1.
        """
        size = len(self._lengths)
        out = np.empty((len(queries), size), dtype=np.float32)
        flat, parts = queries.astype(np.float32), _in_two(queries)
        lengths = self._lengths.all()
        for b, block in enumerate(self._blocks):
            here = slice(b * BLOCK, min(size, (b + 1) * BLOCK))
            if here.stop - here.start == BLOCK and _integers():
                if b not in self._rounded:
                    self._rounded[b] = _Rounded(block, lengths[here])
                self._rounded[b].products(parts, out[:, here])
            else:
                np.matmul(flat, block[: here.stop - here.start].T, out=out[:, here])
                with np.errstate(invalid="ignore"):
                    out[:, here] /= lengths[here]  # 0/0 where there is no vector
        return out

    def near(self, queries: Floats, rows: Rows) -> Floats:
        """Shape (rows,): max over the queries of the cosine, within `error`; NaN without vector.

        queries: shape (q ≥ 1, dim), rows of length 1.
        """
        best: Floats = self.cosines(queries).max(axis=0)
        return best if len(rows) == len(best) else best[rows]

    def exact(self, queries: Floats, rows: Rows) -> Floats:
        """The same in float64. An entry's is the same whichever others are asked for with it."""
        best: Floats = self.each(queries, rows).max(axis=0)
        return best

    def each(self, queries: Floats, rows: Rows) -> Floats:
        """Shape (q, rows): the cosines in float64."""
        out = np.full((len(queries), len(rows)), np.nan)
        lengths = self._lengths.all()[rows]
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            wide = self._rows(rows[part])
            for n, query in enumerate(queries):
                dots = (wide * query).sum(axis=1)
                np.divide(dots, lengths[part], out=out[n, part], where=lengths[part] > 0)
        return out

    def _rows(self, rows: Rows) -> Floats:
        wide = np.empty((len(rows), self.dim), dtype=np.float64)
        for block in np.unique(rows // BLOCK).tolist():
            here = np.flatnonzero(rows // BLOCK == block)
            wide[here] = self._blocks[block][rows[here] % BLOCK]
        return wide


def of_length_one(vectors: npt.ArrayLike, dim: int) -> Floats:
    """Shape (queries, dim), without those that are zero.

    Raises:
        ValueError: another dimension, or a number that is not finite.
    """
    queries = np.asarray(vectors, dtype=np.float64)
    if queries.ndim != 2 or queries.shape[1] != dim:
        raise ValueError(f"the queries have shape {queries.shape}, the memories {dim} dimensions")
    if not np.isfinite(queries).all():
        raise ValueError("a query's vector is not finite")
    queries = queries[queries.any(axis=1)]
    # To about length 1 first: squares of very small or great numbers have no room.
    queries = queries / np.abs(queries).max(axis=1, keepdims=True)
    out: Floats = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    return out


def _integers() -> bool:
    return importlib.util.find_spec("onnxruntime") is not None


def _in_two(queries: Floats) -> tuple[npt.NDArray[np.uint8], Floats]:
    """Shape (2q, dim): the queries in 8 bits, then what that left in 8 bits more, each plus 128;
    shape (q,): what the first ones are multiplied by."""
    scale = np.abs(queries).max(axis=1) / _MOST
    first = np.rint(queries / scale[:, None])
    second = np.rint((queries / scale[:, None] - first) * _FINER)
    return (np.concatenate([first, second]) + 128).astype(np.uint8), scale


class _Rounded:
    """A block in whole numbers of 8 bits. error: what a cosine may be off by, at most."""

    def __init__(self, block: npt.NDArray[np.float32], lengths: Floats) -> None:
        from naisei.models.embedders.onnx import integer_product

        with np.errstate(invalid="ignore", divide="ignore"):
            unit = block / lengths[:, None].astype(np.float32)
            scale = np.abs(unit).max(axis=1) / np.float32(_MOST)
            whole = np.rint(unit / scale[:, None])
            left = np.linalg.norm(unit - whole * scale[:, None], axis=1)
        rest = math.sqrt(block.shape[1]) / (2 * _MOST * _FINER)  # of the query, at most
        self.error = float(np.nanmax(left, initial=0.0)) * 1.001 + rest
        self._scale = scale
        self._product: Any = integer_product(np.nan_to_num(whole).astype(np.int8).T)

    def products(
        self, parts: tuple[npt.NDArray[np.uint8], Floats], out: npt.NDArray[np.float32]
    ) -> None:
        """The cosines of a block into `out`, shape (q, block)."""
        queries, scale = parts
        (whole,) = self._product.run(None, {"queries": queries})
        n = len(scale)
        np.multiply(whole[n:], np.float32(1 / _FINER), out=out, casting="unsafe")
        out += whole[:n]
        out *= scale[:, None].astype(np.float32)
        out *= self._scale
