"""One generation of an index, as it is searched."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from naisei.japanese.dates import is_old
from naisei.retrieval.filters import OWN, document_tests, fold, heading_words, known_keys
from naisei.retrieval.generation import folder_of
from naisei.retrieval.spans import SpanIndex
from naisei.retrieval.types import Chunk
from naisei.retrieval.vectors import VectorIndex
from naisei.retrieval.words import WordIndex

__all__ = ["Filed", "Gone", "Snapshot"]


class Gone(Exception):
    """The generation has been cleared away by newer ones."""


class Filed:
    """A document of the generation. newer: the path of the edition that supersedes it."""

    __slots__ = ("date", "format", "id", "meta", "newer", "old", "path", "title", "twin")

    def __init__(self, row: Sequence[Any]) -> None:
        self.id: int = row[0]
        self.path: str = row[1]
        self.title: str = row[2]
        self.format: Any = row[3]
        self.date = dt.date.fromisoformat(row[4]) if row[4] else None
        self.meta: dict[str, JsonValue] = json.loads(row[5])
        self.old = is_old(self.path) or is_old(self.title)
        self.newer: str | None = row[6]
        self.twin: str | None = row[7]


class Snapshot:
    """Rows are chunks, numbered from 0 in the order of their documents.

    Not for two threads at once: all that touches the store is called under the index's lock.
    """

    def __init__(self, db: sqlite3.Connection, directory: Path, generation: int) -> None:
        """Raises `Gone`."""
        self.generation, self._db = generation, db
        folder = folder_of(directory, generation)
        row = db.execute("SELECT embedder FROM generations WHERE id = ?", (generation,)).fetchone()
        if row is None:
            raise Gone
        self.embedder: str | None = row[0]
        try:
            self._chunks: npt.NDArray[np.int64] = np.load(folder / "chunks.npy")
            self.words = WordIndex(folder, len(self._chunks))
            self.vectors = VectorIndex(folder)
            self.spans = SpanIndex(folder)
        except FileNotFoundError as error:
            raise Gone from error
        rows = db.execute(
            "SELECT d.id, path, title, format, date, meta, superseded_by, duplicate_of "
            "FROM members JOIN documents d ON d.id = document WHERE generation = ?",
            (generation,),
        )
        self.filed = {row[0]: Filed(row) for row in rows}

    def __len__(self) -> int:
        return len(self._chunks)

    def document(self, row: int) -> Filed:
        return self.filed[int(self._chunks[row, 1])]

    @cached_property
    def keys(self) -> frozenset[str]:
        """All that front matter is asked for by."""
        return frozenset(key for filed in self.filed.values() for key in filed.meta)

    def usable(self, filters: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the filters whose key something here has."""
        return {key: value for key, value in filters.items() if key in OWN or key in self.keys}

    def mask(self, filters: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
        """Shape (rows,). Raises `InputError`."""
        known_keys(filters, self.keys)
        tests = document_tests(filters)
        fitting = [
            n
            for n, filed in self.filed.items()
            if all(test(filed.path, filed.format, filed.date, filed.meta) for test in tests)
        ]
        mask = np.isin(self._chunks[:, 1], np.array(fitting, dtype=np.int64))
        if words := heading_words(filters):
            rows = np.flatnonzero(mask)
            mask[rows] = [any(w in self._places[row] for w in words) for row in rows]
        return mask

    @cached_property
    def _places(self) -> list[str]:
        """Title and headings of each row, folded."""
        found = dict(
            self._db.execute(
                "SELECT c.id, headings FROM chunks c JOIN members m ON m.document = c.document "
                "WHERE generation = ?",
                (self.generation,),
            )
        )
        return [
            fold("\n".join([self.filed[int(d)].title, *json.loads(found[int(c)])]))
            for c, d in self._chunks
        ]

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """In the order given. Raises `Gone`."""
        return [self._chunk(int(self._chunks[row, 0]), self.document(row)) for row in rows]

    def named(self, name: str) -> Chunk | None:
        """The chunk of this id, if the generation has it. Raises `Gone`."""
        # An id begins with the path of its document; chunks are indexed by document.
        filed = self._paths.get(name.rpartition("#")[0])
        row = (
            filed
            and self._db.execute(
                "SELECT id FROM chunks WHERE document = ? AND name = ?", (filed.id, name)
            ).fetchone()
        )
        return self._chunk(row[0], filed) if filed and row else None

    @cached_property
    def _paths(self) -> dict[str, Filed]:
        return {filed.path: filed for filed in self.filed.values()}

    def _chunk(self, number: int, filed: Filed) -> Chunk:
        found = self._db.execute(
            "SELECT name, headings, page, text FROM chunks WHERE id = ?", (number,)
        ).fetchone()
        if found is None:
            raise Gone
        name, headings, page, text = found
        more: dict[str, JsonValue] = {
            "superseded_by": filed.newer,
            "duplicate_of": filed.twin,
            "old": filed.old,
        }
        return Chunk(
            id=name,
            path=filed.path,
            title=filed.title,
            headings=tuple(json.loads(headings)),
            page=page,
            text=text,
            format=filed.format,
            date=filed.date,
            meta=filed.meta | {key: value for key, value in more.items() if value},
        )
