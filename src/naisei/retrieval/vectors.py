"""Search by meaning: unit vectors of chunks, compared with the query's by their dot product."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from naisei.models.base import Embedder
from naisei.retrieval.store import Store

__all__ = ["VectorIndex", "write_vectors"]

_FILE = "vectors.npy"


def write_vectors(store: Store, folder: Path, keys: list[bytes], model: Embedder) -> None:
    """The vectors of the chunks with these keys, in their order."""
    if not keys:
        return
    # Column by column: all of them are compared with one vector a quarter quicker so.
    rows = np.lib.format.open_memmap(
        folder / _FILE,
        mode="w+",
        dtype=np.float32,
        shape=(len(keys), model.dim),
        fortran_order=True,
    )
    for start in range(0, len(keys), 1000):
        some = keys[start : start + 1000]
        found = store.vectors(model.name, some)
        rows[start : start + len(some)] = np.stack([found[key] for key in some])
    rows.flush()


class VectorIndex:
    """Written vectors, mapped into memory; all are compared: for 100,000 of them 13 ms of
    processor time, and a first look at a quarter of the numbers saved nothing."""

    def __init__(self, folder: Path) -> None:
        path = folder / _FILE
        self._rows: npt.NDArray[np.float32] | None = (
            np.asarray(np.load(path, mmap_mode="r")) if path.is_file() else None
        )

    def scores(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Cosines with a unit vector, shape (chunks,)."""
        if self._rows is None:
            return np.zeros(0, dtype=np.float32)
        scores: npt.NDArray[np.float32] = self._rows @ query
        return scores
