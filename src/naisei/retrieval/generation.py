"""A new generation of an index: vectors, the arrays that are searched, and the switch."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from naisei.models.base import Embedder
from naisei.retrieval.editions import relations
from naisei.retrieval.embedding import embed_missing
from naisei.retrieval.spans import write_spans
from naisei.retrieval.store import Store
from naisei.retrieval.types import IndexReport
from naisei.retrieval.vectors import write_vectors
from naisei.retrieval.words import write_words

__all__ = ["folder_of", "write_generation"]

#: Earlier generations kept for those who are still reading them.
_KEPT = 1


def folder_of(index_dir: Path, generation: int) -> Path:
    """Where a generation's arrays are."""
    return index_dir / f"generation-{generation:08d}"


def write_generation(
    store: Store,
    index_dir: Path,
    documents: list[int],
    model: Embedder | None,
    report: IndexReport,
    began: float,
    progress: Callable[[int, int], None] | None = None,
) -> IndexReport:
    """Embeds what is not yet, writes the arrays, then switches in one transaction."""
    embedded = embed_missing(store, documents, model, progress) if model else 0
    related = relations(list(store.known(documents)))
    number = store.generation() + 1
    folder = folder_of(index_dir, number)
    shutil.rmtree(folder, ignore_errors=True)  # of a killed run
    folder.mkdir()
    chunks: list[tuple[int, int]] = []
    keys: list[bytes] = []

    def words() -> list[list[str]]:
        texts = []
        for chunk, document, key, found in store.tokens(documents):
            chunks.append((chunk, document))
            keys.append(key)
            texts.append(found)
        return texts

    write_words(folder, words())
    np.save(folder / "chunks.npy", np.array(chunks, dtype=np.int64).reshape(-1, 2))
    if model:
        write_vectors(store, folder, keys, model)
        write_spans(store, folder, keys, model)
    _sync(folder)
    report = report.model_copy(
        update={
            "chunks": len(chunks),
            "embedded": embedded,
            "generation": number,
            "seconds": time.perf_counter() - began,
        }
    )
    with store.db:
        store.db.execute(
            "INSERT INTO generations VALUES (?, ?, ?)",
            (number, model.name if model else None, report.model_dump_json()),
        )
        store.db.executemany(
            "INSERT INTO members VALUES (?, ?, ?, ?)",
            (
                (number, d, related[d].superseded_by, related[d].duplicate_of)
                if d in related
                else (number, d, None, None)
                for d in documents
            ),
        )
    _clear(store, index_dir, number)
    return report


def _sync(folder: Path) -> None:
    """What the switch will point to must be on the disk before it."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def _clear(store: Store, index_dir: Path, number: int) -> None:
    """Generations that nobody reads any more, and documents that are in none."""
    with store.db:
        store.db.execute("DELETE FROM generations WHERE id < ?", (number - _KEPT,))
        store.db.execute("DELETE FROM documents WHERE id NOT IN (SELECT document FROM members)")
        store.db.execute("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM chunks)")
        store.db.execute("DELETE FROM sentences WHERE key NOT IN (SELECT key FROM chunks)")
    kept = {folder_of(index_dir, n) for n in range(number - _KEPT, number + 1)}
    for folder in index_dir.glob("generation-*"):
        if folder not in kept:
            shutil.rmtree(folder, ignore_errors=True)
