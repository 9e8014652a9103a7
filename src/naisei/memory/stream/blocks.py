"""Columns that grow by blocks: an append writes one row and never moves the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["ROWS", "Column"]

S = TypeVar("S", bound=np.generic)

#: Rows of a block. 1024 rows of 384 float32 are 1.5 MB: several queries against one block
#: read it from the cache after the first.
ROWS = 1024


class Column(Generic[S]):
    """Rows of one type: numbers, or vectors of `width`."""

    def __init__(self, dtype: type[S], width: int | None = None) -> None:
        self._dtype, self._width = dtype, width
        self._blocks: list[npt.NDArray[S]] = []
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def append(self, value: npt.ArrayLike) -> None:
        """Amortised over nothing: O(row)."""
        if self._n == len(self._blocks) * ROWS:
            shape = (ROWS,) if self._width is None else (ROWS, self._width)
            self._blocks.append(np.zeros(shape, dtype=self._dtype))
        self._n += 1
        self[self._n - 1] = value

    @property
    def width(self) -> int | None:
        """Numbers of a row that is a vector."""
        return self._width

    def __getitem__(self, i: int) -> S:
        """A number, or a view of a vector."""
        row: S = self._blocks[i // ROWS][i % ROWS]
        return row

    def __setitem__(self, i: int, value: npt.ArrayLike) -> None:
        self._blocks[i // ROWS][i % ROWS] = np.asarray(value, dtype=self._dtype)

    def blocks(self, n: int | None = None) -> Iterator[npt.NDArray[S]]:
        """The first `n` rows (all by default) as views, block by block."""
        left = self._n if n is None else n
        for block in self._blocks:
            if left <= 0:
                return
            yield block[:left]
            left -= ROWS

    def all(self, n: int | None = None) -> npt.NDArray[S]:
        """The first `n` rows (all by default), copied together. For numbers, not vectors."""
        parts = list(self.blocks(n))
        return np.concatenate(parts) if parts else np.empty(0, dtype=self._dtype)

    def take(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[S]:
        """Copies of these rows, in this order."""
        shape = (len(rows),) if self._width is None else (len(rows), self._width)
        out = np.empty(shape, dtype=self._dtype)
        for k, i in enumerate(rows.tolist()):
            out[k] = self._blocks[i // ROWS][i % ROWS]
        return out
