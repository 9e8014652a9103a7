"""Columns of numbers that grow by blocks: an append writes one and never moves the others."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Column"]

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
