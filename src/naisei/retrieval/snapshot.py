"""One generation of an index, as it is searched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from naisei.core import InputError
from naisei.retrieval.generation import folder_of
from naisei.retrieval.store import Store
from naisei.retrieval.types import Chunk
from naisei.retrieval.vectors import VectorIndex
from naisei.retrieval.words import WordIndex

__all__ = ["Snapshot"]


class Snapshot:
    """Rows are chunks, numbered from 0 in the order of their documents."""

    def __init__(self, store: Store, directory: Path, generation: int) -> None:
        self.generation = generation
        self._db = store.db
        folder = folder_of(directory, generation)
        self._chunks: npt.NDArray[np.int64] = np.load(folder / "chunks.npy", mmap_mode="r")
        self.words = WordIndex(folder, len(self._chunks))
        self.vectors = VectorIndex(folder)
        self.embedder: str | None = self._db.execute(
            "SELECT embedder FROM generations WHERE id = ?", (generation,)
        ).fetchone()[0]

    def __len__(self) -> int:
        return len(self._chunks)

    def mask(self, filters: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
        raise InputError("filters are not there yet")

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """In the order given."""
        return [self._chunk(int(self._chunks[row, 0])) for row in rows]

    def _chunk(self, number: int) -> Chunk:
        name, headings, page, text, path, title, form, date, meta, newer, twin = self._db.execute(
            "SELECT name, headings, page, text, path, title, format, date, meta, superseded_by, "
            "duplicate_of FROM chunks c JOIN documents d ON d.id = c.document "
            "JOIN members m ON m.document = d.id AND m.generation = ? WHERE c.id = ?",
            (self.generation, number),
        ).fetchone()
        more = {"superseded_by": newer, "duplicate_of": twin}
        return Chunk(
            id=name,
            path=path,
            title=title,
            headings=tuple(json.loads(headings)),
            page=page,
            text=text,
            format=form,
            date=date,
            meta=json.loads(meta) | {key: value for key, value in more.items() if value},
        )
