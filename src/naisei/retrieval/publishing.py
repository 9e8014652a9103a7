"""Publishing an index: its newest generation is copied into PostgreSQL, in one transaction.

The tables of `naisei.retrieval.published`: of each chunk its words with their scores, its vector
and those of its sentences, and who may find it; of each word how many chunks have it.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from naisei.postgres import Stored, database, shown, stored_in
from naisei.retrieval.permissions import own_groups
from naisei.retrieval.snapshot import Snapshot
from naisei.retrieval.store import Store, folder_of
from naisei.retrieval.vectors import WordIndex

if TYPE_CHECKING:
    from psycopg import Connection

Floats = npt.NDArray[np.float32]
#: Chunks up to which every vector is compared; beyond, HNSW.
EXACT = 50_000
#: Numbers of a vector that pgvector can index.
_WIDEST = 2_000
#: Chunks copied at once.
_BATCH = 2_000


def publish(directory: Path, address: str, name: str, *, exact: int = EXACT) -> int:
    """Copy the newest generation of the index in a folder into a database; the number of chunks.
    Readers see the generation before until all is there.

    Args:
        address: of the database. name: of the index there.
        exact: chunks up to which there is no HNSW index.

    Raises:
        InputError: no index, or the database cannot be used or has no pgvector.
    """
    there = database(address)
    there.prepare("indexes", SCHEMA)
    with closing(Store(directory)) as store, there.connection() as db, db.transaction():
        snapshot = Snapshot(store, directory, store.generation())
        db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (name,))
        number = _begun(db, name, snapshot)
        _copy_documents(db, number, snapshot)
        mean = _copy_chunks(db, number, snapshot, folder_of(directory, snapshot.generation))
        _copy_words(db, number, snapshot)
        db.execute("UPDATE indexes SET mean = %s WHERE id = %s", (vector_text(mean), number))
        db.execute(f"CREATE INDEX ON index_chunks_{number} USING gin(words)".encode())
        db.execute(f"CREATE INDEX ON index_chunks_{number}(document, id)".encode())
        vectors = snapshot.vectors.rows
        if vectors is not None and vectors.shape[1] <= _WIDEST and len(snapshot) > exact:
            db.execute("SET LOCAL maintenance_work_mem = '1GB'")
            how = "USING hnsw(embedding vector_ip_ops)"
            db.execute(f"CREATE INDEX ON index_chunks_{number} {how}".encode())
        db.execute(f"ANALYZE index_chunks_{number}".encode())
        old = db.execute(
            "SELECT id FROM indexes WHERE name = %s AND id < %s ORDER BY id DESC OFFSET 1",
            (name, number),
        ).fetchall()
        for (gone,) in old:
            db.execute(f"DROP TABLE index_chunks_{gone}".encode())
            db.execute("DELETE FROM indexes WHERE id = %s", (gone,))
        return len(snapshot)


def published(directory: Path, address: str) -> None:
    """Publish, and have the folder name where it is (`store.json`), so that whoever opens the
    folder searches there. Raises as `publish`."""
    before = stored_in(directory)
    there = before is not None and before.store == shown(address)
    name = before.name if before and there else f"{directory.resolve().name}-{token_hex(4)}"
    publish(directory, address, name)
    Stored(store=shown(address), name=name).write(directory)


def _begun(db: Connection[Any], name: str, snapshot: Snapshot) -> int:
    found = db.execute(
        "INSERT INTO indexes(name, embedder, size) VALUES (%s, %s, %s) RETURNING id",
        (name, snapshot.embedder, len(snapshot)),
    ).fetchone()
    assert found is not None
    number = int(found[0])
    width = "" if snapshot.vectors.rows is None else f"({snapshot.vectors.rows.shape[1]})"
    # A table a generation: it is made, indexed and dropped as a whole.
    db.execute(
        f"CREATE TABLE index_chunks_{number}(row bigint PRIMARY KEY, id bigint, name text,"
        " document bigint, headings text, page integer, text bytea, place text, words text[],"
        f" weights jsonb, embedding vector{width}, spans bytea, listed text[],"
        " own text[])".encode()
    )
    return number


def _copy_documents(db: Connection[Any], number: int, snapshot: Snapshot) -> None:
    with db.cursor().copy("COPY index_documents FROM STDIN") as copy:
        for filed in snapshot.filed.values():
            row = (filed.id, filed.path, filed.title, filed.format)
            date = filed.date.isoformat() if filed.date else None
            groups = None if filed.groups is None else json.dumps(filed.groups)
            more = (json.dumps(filed.meta), filed.newer, filed.twin, groups, filed.url)
            copy.write_row((number, *row, date, *more))


def _copy_chunks(
    db: Connection[Any], number: int, snapshot: Snapshot, folder: Path
) -> Floats | None:
    """The mean of the vectors, if there are any."""
    words = _Transposed(snapshot.words)
    vectors = snapshot.vectors.rows
    total: npt.NDArray[np.float64] | None = None
    with db.cursor().copy(f"COPY index_chunks_{number} FROM STDIN".encode()) as copy:
        for start in range(0, len(snapshot), _BATCH):
            rows = range(start, min(start + _BATCH, len(snapshot)))
            some = None if vectors is None else np.ascontiguousarray(vectors[start : rows.stop])
            if some is not None:
                added = some.sum(axis=0, dtype=np.float64)
                total = added if total is None else total + added
            for row, (chunk, text) in zip(rows, snapshot.stored(rows), strict=True):
                filed = snapshot.document(row)
                found, weights = words.of(row)
                copy.write_row(
                    (
                        *(row, chunk[0], chunk[1], filed.id, chunk[2], chunk[3]),
                        *(text.encode(), snapshot.place(filed, chunk[2]), found),
                        json.dumps(dict(zip(found, weights, strict=True)), ensure_ascii=False),
                        None if some is None else vector_text(some[row - start]),
                        snapshot.spans.stored(row),
                        None if filed.groups is None else list(filed.groups),
                        own_groups(filed.meta),
                    )
                )
    return None if total is None else (total / len(snapshot)).astype(np.float32)


def _copy_words(db: Connection[Any], number: int, snapshot: Snapshot) -> None:
    with db.cursor().copy("COPY index_words FROM STDIN") as copy:
        for word, count, most in snapshot.words.statistics():
            copy.write_row((number, word, count, most))


class _Transposed:
    """The words of each chunk, of an index that has the chunks of each word."""

    def __init__(self, index: WordIndex) -> None:
        self._names, rows, numbers, self._weights = index.postings_by_row()
        self._numbers = numbers
        self._starts = np.searchsorted(rows, np.arange(index.size + 1))

    def of(self, row: int) -> tuple[list[str], list[float]]:
        some = slice(int(self._starts[row]), int(self._starts[row + 1]))
        return [self._names[n] for n in self._numbers[some]], self._weights[some].tolist()


def vector_text(vector: Floats | None) -> str | None:
    """As pgvector reads it, every number as exactly as it is."""
    return None if vector is None else "[" + ",".join(map(repr, vector.tolist())) + "]"


SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
CREATE TABLE IF NOT EXISTS naisei.indexes(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, embedder text,
  size bigint NOT NULL, mean text, made timestamptz NOT NULL DEFAULT now());
CREATE INDEX IF NOT EXISTS indexes_of ON naisei.indexes(name, id);
CREATE TABLE IF NOT EXISTS naisei.index_documents(
  index bigint NOT NULL REFERENCES naisei.indexes ON DELETE CASCADE, id bigint, path text,
  title text, format text, date text, meta text, newer text, twin text, groups text, url text,
  PRIMARY KEY (index, id));
CREATE TABLE IF NOT EXISTS naisei.index_words(
  index bigint NOT NULL REFERENCES naisei.indexes ON DELETE CASCADE, word text,
  df bigint NOT NULL, most real NOT NULL, PRIMARY KEY (index, word));
CREATE TABLE IF NOT EXISTS naisei.index_notes(
  index bigint NOT NULL REFERENCES naisei.indexes ON DELETE CASCADE, name text,
  text bytea NOT NULL, PRIMARY KEY (index, name));
CREATE TABLE IF NOT EXISTS naisei.index_views(
  index bigint NOT NULL REFERENCES naisei.indexes ON DELETE CASCADE, view text, word text,
  df bigint NOT NULL, most real NOT NULL, PRIMARY KEY (index, view, word));
"""
