"""An index that is searched."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from naisei.core import InputError
from naisei.japanese.search_tokens import search_tokens
from naisei.models.base import Embedder
from naisei.models.embedders import open_embedder
from naisei.retrieval.build import build
from naisei.retrieval.fusion import fuse
from naisei.retrieval.snapshot import Snapshot
from naisei.retrieval.store import Store
from naisei.retrieval.types import Hit, Mode

__all__ = ["Index"]

#: Candidates of each way of searching that are fused.
_DEPTH = 100


class Index:
    """An open index; may be used by several threads. It follows new generations by itself:
    every search is answered from one, the newest when it began."""

    #: `build(index_dir, docs_dir, …)`, see `naisei.retrieval.build.build`.
    build = staticmethod(build)

    def __init__(self, directory: Path, store: Store, embedder: Embedder | None) -> None:
        self.directory = directory
        self._store, self._embedder = store, embedder
        self._lock = threading.Lock()
        self._snapshot = Snapshot(store, directory, store.generation())

    @classmethod
    def open(cls, directory: Path | str, *, embedder: Embedder | None = None) -> Index:
        """embedder: the one that the index was built with; opened by its name by default.

        Raises:
            InputError: no index, or none that is whole yet.
        """
        directory = Path(directory)
        store = Store(directory)
        if store.generation() == 0:
            raise InputError(
                "the index is not finished", place=str(directory), remedy="index the folder again"
            )
        return cls(directory, store, embedder)

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Chunks."""
        return len(self._current())

    @property
    def generation(self) -> int:
        return self._current().generation

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        mode: Mode = "hybrid",
        filters: Mapping[str, Any] | None = None,
    ) -> list[Hit]:
        """The best `k` chunks, best first; fewer if fewer fit.

        By words, a chunk must share one with the query; by meaning, every chunk has a place. An
        index without vectors answers `hybrid` by words alone.

        Raises:
            InputError: `k` below 1, an unknown mode, a filter that is none; `dense` without
                vectors.
            InstrumentFailure: the embedder cannot be reached.
        """
        if k < 1:
            raise InputError(f"k must be at least 1, not {k}", place="k")
        if mode not in ("hybrid", "bm25", "dense"):
            raise InputError(f"no way of searching is {mode!r}", remedy="hybrid, bm25 or dense")
        snapshot = self._current()
        depth = max(_DEPTH, 2 * k)
        mask = snapshot.mask(filters) if filters else None
        words: list[int] = []
        meanings: list[int] = []
        if mode != "dense":
            words = _best(snapshot.words.scores(search_tokens(query)), depth, mask, above=0.0)
        if mode == "dense" and snapshot.embedder is None:
            raise InputError("the index has no vectors", remedy="index with an embedder")
        if mode != "bm25" and snapshot.embedder is not None and query.strip():
            vector = self._model(snapshot.embedder).embed([query], "query")[0]
            meanings = _best(snapshot.vectors.scores(vector), depth, mask, above=-2.0)
        fused = fuse([words, meanings])
        place_w = {row: rank for rank, row in enumerate(words, start=1)}
        place_m = {row: rank for rank, row in enumerate(meanings, start=1)}
        chosen = list(fused.items())[:k]
        with self._lock:
            chunks = snapshot.chunks([row for row, _ in chosen])
        return [
            Hit(chunk=chunk, score=score, bm25=place_w.get(row), dense=place_m.get(row))
            for chunk, (row, score) in zip(chunks, chosen, strict=True)
        ]

    def _current(self) -> Snapshot:
        with self._lock:
            if (newest := self._store.generation()) != self._snapshot.generation:
                self._snapshot = Snapshot(self._store, self.directory, newest)
            return self._snapshot

    def _model(self, name: str) -> Embedder:
        with self._lock:
            if self._embedder is None or self._embedder.name != name:
                self._embedder = open_embedder(name)
            return self._embedder


def _best(
    scores: npt.NDArray[np.float32],
    depth: int,
    mask: npt.NDArray[np.bool_] | None,
    *,
    above: float,
) -> list[int]:
    """Rows of the greatest scores, best first, ties by row."""
    if mask is not None:
        scores = np.where(mask, scores, np.float32(-3.0))
    if len(scores) > depth:
        some = np.argpartition(-scores, depth)[:depth]
    else:
        some = np.arange(len(scores))
    some = some[scores[some] > above]
    return [int(row) for row in some[np.lexsort((some, -scores[some]))]]
