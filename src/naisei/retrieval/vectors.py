"""Search by meaning: unit vectors of chunks, compared with the query's by their dot product."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from naisei.models.base import Embedder
from naisei.retrieval.store import Store

__all__ = ["VectorIndex", "embed_missing", "write_vectors"]

_FILE, _COARSE, _BASIS = "vectors.npy", "coarse.npy", "basis.npy"
#: From how many vectors on a first look comes before the exact one, and how many it leaves.
_MANY, _LIKELY = 20_000, 4000
#: Embedded and kept at once: what a killed run loses at most.
_BATCH = 64


def embed_missing(store: Store, documents: list[int], model: Embedder) -> int:
    """Embeds the texts that have no vector of this embedder yet; returns how many."""
    todo = store.without_vector(documents, model.name)
    batches = iter(todo.items())
    while batch := list(islice(batches, _BATCH)):
        vectors = model.embed([text for _, text in batch], "passage")
        with store.db:
            store.keep(model.name, zip((key for key, _ in batch), vectors, strict=True))
    return len(todo)


def write_vectors(store: Store, folder: Path, keys: list[bytes], model: Embedder) -> None:
    """The vectors of the chunks with these keys, in their order."""
    if not keys:
        return
    rows = np.lib.format.open_memmap(
        folder / _FILE, mode="w+", dtype=np.float32, shape=(len(keys), model.dim)
    )
    for start in range(0, len(keys), 1000):
        some = keys[start : start + 1000]
        found = store.vectors(model.name, some)
        rows[start : start + len(some)] = np.stack([found[key] for key in some])
    rows.flush()
    if len(keys) > _MANY:
        _write_coarse(folder, rows)


def _write_coarse(folder: Path, rows: npt.NDArray[np.float32]) -> None:
    """The directions in which the vectors differ most (principal components), and where each
    vector lies along them: a quarter of the numbers to read for a first look."""
    some = rows[:: max(1, len(rows) // 20_000)]
    mean = some.mean(axis=0)
    _, basis = np.linalg.eigh(np.cov((some - mean).T))
    basis = basis[:, -(rows.shape[1] // 4) :].astype(np.float32)
    np.save(folder / _BASIS, basis)
    np.save(folder / _COARSE, (rows @ basis).astype(np.float32))


class VectorIndex:
    """Written vectors, mapped into memory."""

    def __init__(self, folder: Path) -> None:
        self._rows = _mapped(folder / _FILE)
        self._coarse = _mapped(folder / _COARSE)
        self._basis = np.load(folder / _BASIS) if self._coarse is not None else None

    def scores(
        self, query: npt.NDArray[np.float32], mask: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.float32]:
        """Cosines with a unit vector, shape (chunks,). Of many, only the most likely have
        theirs, among those of the mask; the others have -9."""
        if self._rows is None:
            return np.zeros(0, dtype=np.float32)
        if self._coarse is None or self._basis is None:
            exact: npt.NDArray[np.float32] = self._rows @ query
            return exact
        rough = self._coarse @ (query @ self._basis)
        if mask is not None:
            rough = np.where(mask, rough, np.float32(-9.0))
        likely = np.argpartition(-rough, _LIKELY)[:_LIKELY]
        scores = np.full(len(rough), -9.0, dtype=np.float32)
        scores[likely] = self._rows[likely] @ query
        return scores

    def cosine(self, row: int, query: npt.NDArray[np.float32]) -> float:
        """Of one chunk."""
        return float("nan") if self._rows is None else float(self._rows[row] @ query)


def _mapped(path: Path) -> npt.NDArray[np.float32] | None:
    return np.load(path, mmap_mode="r") if path.is_file() else None
