"""The index file: SQLite with a write-ahead log, one writer and any number of readers.

Documents and chunks are immutable, keyed by content: (path, hash of the bytes, recipe). A
generation is a list of documents, written in one transaction; readers use the highest one.
Documents from a killed indexer belong to no generation; the next run reuses them.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shlex
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from naisei.core import InputError, fingerprint
from naisei.identity import of_embedder, of_rooms
from naisei.japanese.sentences import search_tokens
from naisei.lang import say
from naisei.retrieval.chunking import CHUNKING, UNITS_VERSION, RawChunk, embedding_text
from naisei.retrieval.editions import Known
from naisei.retrieval.seal import damaged, of_row, of_rows, telling
from naisei.retrieval.types import Document, Hidden, LoadLimits

#: Schema version.
VERSION = 6

SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL, sha256 TEXT NOT NULL, recipe TEXT NOT NULL,
  title TEXT NOT NULL, format TEXT NOT NULL, date TEXT, version TEXT NOT NULL,
  meta TEXT NOT NULL, signature BLOB NOT NULL,
  UNIQUE (path, sha256, recipe));
CREATE TABLE IF NOT EXISTS chunks (
  id INTEGER PRIMARY KEY,
  document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  name TEXT NOT NULL, headings TEXT NOT NULL, page INTEGER, text TEXT NOT NULL,
  tokens TEXT NOT NULL, key BLOB NOT NULL, digest BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS chunks_of ON chunks (document, id);
CREATE TABLE IF NOT EXISTS generations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, embedder TEXT, report TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS members (
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  document INTEGER NOT NULL REFERENCES documents (id),
  superseded_by TEXT, duplicate_of TEXT, groups TEXT, url TEXT,
  PRIMARY KEY (generation, document)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hidden (
  document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  how TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS hidden_of ON hidden (document);
CREATE INDEX IF NOT EXISTS members_of ON members (document);
CREATE TABLE IF NOT EXISTS vectors (
  embedder TEXT NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, sentences BLOB NOT NULL,
  PRIMARY KEY (embedder, key));
"""
FILE = "index.sqlite"
#: File with a generation's chunk numbers and document numbers.
CHUNKS = "chunks.npy"


def recipe(limits: LoadLimits) -> str:
    """Digest of all that affects chunks except a file's bytes: code and limits."""
    code = of_rooms("japanese", "retrieval", "text_files")
    return fingerprint([code, *CHUNKING, limits.characters, limits.pages])


def known_as(embedder: str) -> str:
    """Key of an embedder's vectors: name, weights, sentence splitting."""
    weights = of_embedder(embedder)
    return f"{embedder} {fingerprint(weights)[:16] if weights else ''}#{UNITS_VERSION}"


def folder_of(index_dir: Path, generation: int) -> Path:
    """The folder with a generation's arrays."""
    return index_dir / f"generation-{generation:08d}"


def key_of(title: str, headings: Sequence[str], text: str) -> bytes:
    """Key of a chunk's vectors."""
    whole = embedding_text(title, headings, text)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest()


class ChunkRow(NamedTuple):
    """headings: as JSON. tokens: search words, space-separated. key: of its vectors."""

    id: int
    document: int
    name: str
    headings: str
    page: int | None
    text: str
    tokens: str
    key: bytes


class Store:
    """An open index file."""

    def __init__(self, directory: Path, *, create: bool = False) -> None:
        """Raises:
        InputError: no index, or one written by another version.
        """
        self.path = path = directory / FILE
        if create:
            directory.mkdir(parents=True, exist_ok=True)
        elif not path.is_file():
            raise InputError(
                say("索引がありません", "no index is there"),
                place=str(directory),
                remedy=f"naisei intent index DIR --index {shlex.quote(str(directory))}",
            )
        with telling(path):
            self.db = sqlite3.connect(path, timeout=30.0, check_same_thread=False)
            self.db.execute("PRAGMA foreign_keys = ON")
            if create:
                self.db.execute("PRAGMA journal_mode = WAL")
                if self._version() == 0:
                    self.db.executescript(
                        f"BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;"
                    )
            version = self._version()
        if version != VERSION:
            self.db.close()
            raise InputError(
                say(
                    "この索引は別のバージョンの naisei が作ったものです",
                    "the index was written by another version of naisei",
                ),
                place=str(path),
                remedy=say(
                    "フォルダーを消して、もう一度索引を作ってください",
                    "delete the folder and index again",
                ),
            )

    def _version(self) -> int:
        return int(self.db.execute("PRAGMA user_version").fetchone()[0])

    def close(self) -> None:
        self.db.close()

    def generation(self) -> int:
        """The newest complete generation; 0 if there is none."""
        return int(self.db.execute("SELECT coalesce(max(id), 0) FROM generations").fetchone()[0])

    def members(self, generation: int) -> dict[str, tuple[int, str, str]]:
        """Path → (document, sha256, recipe)."""
        rows = self.db.execute(
            "SELECT path, d.id, sha256, recipe FROM members JOIN documents d ON d.id = document "
            "WHERE generation = ?",
            (generation,),
        )
        return {path: (number, digest, how) for path, number, digest, how in rows}

    def filed(self, generation: int) -> list[tuple[Any, ...]]:
        """For each document of a generation: id, path, title, format, date, meta, superseded_by,
        duplicate_of, groups (JSON) and URL."""
        return self.db.execute(
            "SELECT d.id, path, title, format, date, meta, superseded_by, duplicate_of, groups, "
            "url FROM members JOIN documents d ON d.id = document WHERE generation = ?",
            (generation,),
        ).fetchall()

    def find(self, path: str, sha256: str, how: str) -> int | None:
        """The id of the document with this content, if known."""
        row = self.db.execute(
            "SELECT id FROM documents WHERE path = ? AND sha256 = ? AND recipe = ?",
            (path, sha256, how),
        ).fetchone()
        return None if row is None else int(row[0])

    def add(
        self, document: Document, pieces: Sequence[RawChunk], how: str, signature: bytes
    ) -> int:
        """Add a document in the open transaction."""
        cursor = self.db.execute(
            "INSERT INTO documents VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                document.path,
                document.sha256,
                how,
                document.title,
                document.format,
                document.date.isoformat() if document.date else None,
                json.dumps(document.version),
                json.dumps(document.meta, ensure_ascii=False),
                signature,
            ),
        )
        number = int(cursor.lastrowid or 0)
        self.db.executemany(
            "INSERT INTO chunks VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self._row(number, document, piece) for piece in pieces),
        )
        self.db.executemany(
            "INSERT INTO hidden VALUES (?, ?, ?)",
            ((number, hidden.how, hidden.text) for hidden in document.hidden),
        )
        return number

    def hidden(self) -> dict[str, list[Hidden]]:
        """Path → hidden text, for documents of the newest generation."""
        found: dict[str, list[Hidden]] = {}
        for path, how, text in self.db.execute(
            "SELECT path, how, text FROM hidden JOIN documents d ON d.id = hidden.document "
            "JOIN members m ON m.document = d.id "
            "WHERE generation = (SELECT max(id) FROM generations) ORDER BY path, hidden.rowid"
        ):
            found.setdefault(path, []).append(Hidden(how=how, text=text))
        return found

    def _row(self, number: int, document: Document, piece: RawChunk) -> tuple[object, ...]:
        row = (
            number,
            piece.id,
            json.dumps(piece.headings, ensure_ascii=False),
            piece.page,
            piece.text,
            " ".join([*_above(document.title, piece.headings), *search_tokens(piece.text)]),
            key_of(document.title, piece.headings, piece.text),
        )
        return *row, of_row(*row)

    def chunks(self, condition: str, values: Sequence[object]) -> Iterator[ChunkRow]:
        """Yield matching chunks by number. Raises `InputError` if one has changed."""
        rows = self.db.execute(
            f"SELECT {', '.join(ChunkRow._fields)}, digest FROM chunks WHERE {condition} "
            "ORDER BY id",
            values,
        )
        for *row, digest in rows:
            if of_row(*row[1:]) != digest:
                raise damaged(self.path)
            yield ChunkRow(*row)

    def vectors(self, embedder: str, keys: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """The stored vectors for each key, in order."""
        known = known_as(embedder)
        query = "SELECT vector, sentences FROM vectors WHERE embedder = ? AND key = ?"
        for key in keys:
            yield self.db.execute(query, (known, key)).fetchone()

    def keep(
        self, embedder: str, vectors: Iterable[tuple[bytes, npt.NDArray[np.float32], bytes]]
    ) -> None:
        """Store vectors in the open transaction. vectors: for each key, the chunk's vector and its
        sentences' vectors, packed."""
        known = known_as(embedder)
        self.db.executemany(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)",
            ((known, key, np.ascontiguousarray(v, "<f4").tobytes(), s) for key, v, s in vectors),
        )

    def tokens(self, documents: Iterable[int]) -> Iterator[tuple[ChunkRow, list[str]]]:
        """Yield chunks with their search words, in document order. Raises as `chunks`."""
        for document in documents:
            for chunk in self.chunks("document = ?", (document,)):
                yield chunk, chunk.tokens.split(" ") if chunk.tokens else []

    def digest(self, generation: int) -> str:
        """Digest of a generation's documents, except texts and words."""
        rows = self.db.execute(
            "SELECT * FROM members JOIN documents d ON d.id = document WHERE generation = ?",
            (generation,),
        ).fetchall()
        rows += self.db.execute(
            "SELECT id, embedder FROM generations WHERE id = ?", (generation,)
        ).fetchall()
        return of_rows(rows)

    def without_vectors(
        self, documents: Iterable[int], embedder: str
    ) -> dict[bytes, tuple[str, list[str], str]]:
        """Map keys to title, headings and text, for chunks of these documents without a vector."""
        known = known_as(embedder)
        found: dict[bytes, tuple[str, list[str], str]] = {}
        for document in documents:
            rows = self.db.execute(
                "SELECT key, title, headings, text FROM chunks JOIN documents d ON d.id = document "
                "WHERE document = ? AND NOT EXISTS (SELECT 1 FROM vectors v "
                "WHERE v.embedder = ? AND v.key = chunks.key) ORDER BY chunks.id",
                (document, known),
            )
            for key, title, headings, text in rows:
                found[key] = title, json.loads(headings), text
        return found

    def known(self, documents: Iterable[int]) -> Iterator[Known]:
        """Data for finding editions and copies."""
        for document in documents:
            row = self.db.execute(
                "SELECT path, title, date, version, meta, signature FROM documents WHERE id = ?",
                (document,),
            ).fetchone()
            path, title, date, version, meta, signature = row
            yield Known(
                document,
                path,
                title,
                dt.date.fromisoformat(date) if date else None,
                tuple(json.loads(version)),
                signature,
                _replaced(json.loads(meta)),
            )


@lru_cache(maxsize=256)
def _above(title: str, headings: tuple[str, ...]) -> list[str]:
    """Search words of a chunk's path, shared with its neighbours."""
    return search_tokens(embedding_text(title, headings, ""))


def _replaced(meta: dict[str, JsonValue]) -> tuple[str, ...]:
    value = meta.get("supersedes") or meta.get("replaces")
    names = value if isinstance(value, list) else [value] if value else []
    return tuple(unicodedata.normalize("NFC", str(name)) for name in names)
