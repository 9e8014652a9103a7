"""The second look: how near the nearest sentence of a chunk comes to a question.

Passages as near as the best of their spans: MaxP of Dai & Callan, SIGIR 2019, with cosines. Only
candidates are looked at, so the vectors stay on the disk: one byte a number, mapped into memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from naisei.models.base import Embedder
from naisei.retrieval.store import Store

__all__ = ["SpanIndex", "packed", "write_spans"]

_VECTORS, _SCALES, _STARTS = "spans.npy", "span_scales.npy", "span_starts.npy"
_SCALE = np.dtype("<f4")


def packed(vectors: npt.NDArray[np.float32]) -> bytes:
    """Rows in 8 bits a number: the rows' scales, then the rows. Cosines change by about 0.001."""
    scales = np.abs(vectors).max(axis=1, initial=1e-9).astype(_SCALE) / np.float32(127)
    rows = np.rint(vectors / scales[:, None]).astype(np.int8)
    return b"".join([scales.astype(_SCALE).tobytes(), rows.tobytes()])


def write_spans(store: Store, folder: Path, keys: list[bytes], model: Embedder) -> None:
    """The sentences of the chunks with these keys, in their order."""
    width = _SCALE.itemsize + model.dim
    # Two passes, so that no more than one chunk's sentences are held at a time.
    counts = [len(blob) // width for blob in store.spans(model.name, keys)]
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
    if starts[-1] == 0:
        return
    shape = (int(starts[-1]), model.dim)
    rows = np.lib.format.open_memmap(folder / _VECTORS, mode="w+", dtype=np.int8, shape=shape)
    scales = np.empty(shape[0], dtype=_SCALE)
    for start, count, blob in zip(starts, counts, store.spans(model.name, keys), strict=False):
        cut = count * _SCALE.itemsize
        scales[start : start + count] = np.frombuffer(blob[:cut], dtype=_SCALE)
        rows[start : start + count] = np.frombuffer(blob[cut:], dtype=np.int8).reshape(
            count, model.dim
        )
    rows.flush()
    np.save(folder / _SCALES, scales)
    np.save(folder / _STARTS, starts)


class SpanIndex:
    """Written sentences. An index of an earlier version, or of one-sentence chunks, has none."""

    def __init__(self, folder: Path) -> None:
        self._rows: npt.NDArray[np.int8] | None = None
        if (folder / _STARTS).is_file():
            self._rows = np.asarray(np.load(folder / _VECTORS, mmap_mode="r"))
            self._scales: npt.NDArray[np.float32] = np.load(folder / _SCALES)
            self._starts: npt.NDArray[np.int64] = np.load(folder / _STARTS)

    def nearest(
        self,
        rows: Sequence[int],
        query: npt.NDArray[np.float32],
        whole: npt.NDArray[np.float32],
    ) -> npt.NDArray[np.float32]:
        """For each of these chunks the cosine of its nearest sentence with a unit vector; of a
        chunk that has no sentences apart, its own. whole: the chunks' cosines. Shape (rows,).
        """
        if self._rows is None or not rows:
            return whole
        at = np.asarray(rows, dtype=np.int64)
        counts = self._starts[at + 1] - self._starts[at]
        owners = np.repeat(np.arange(len(at)), counts)
        first = np.repeat(self._starts[at] - np.cumsum(counts) + counts, counts)
        spans = first + np.arange(len(owners))
        cosines = (self._rows[spans].astype(np.float32) @ query) * self._scales[spans]
        best = np.full(len(at), -np.inf, dtype=np.float32)
        np.maximum.at(best, owners, cosines)
        return np.where(counts > 0, best, whole)
