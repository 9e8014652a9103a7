"""Indexes in PostgreSQL: a table of generations, each with the files of a complete index.

`publish` uploads a folder's newest generation in one transaction. A reader copies the newest
generation from the database into a folder next to `store.json` and searches it like any other
index, so results and permissions equal those of the folder's index.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from naisei.core import InputError
from naisei.lang import say
from naisei.postgres import Database, Stored, database, lock_number, stored_in, without_password
from naisei.retrieval.snapshot import Gone, Snapshot
from naisei.retrieval.store import FILE, Store, folder_of

if TYPE_CHECKING:
    from psycopg import Connection

_SCHEMA = """
CREATE TABLE IF NOT EXISTS naisei.index_generations(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,
  made timestamptz NOT NULL DEFAULT now());
CREATE INDEX IF NOT EXISTS index_generations_of ON naisei.index_generations(name, id);
CREATE TABLE IF NOT EXISTS naisei.index_files(
  generation bigint NOT NULL REFERENCES naisei.index_generations ON DELETE CASCADE,
  path text, part integer, data bytea NOT NULL, PRIMARY KEY (generation, path, part));
ALTER TABLE naisei.index_files ALTER data SET STORAGE EXTERNAL;
"""
#: Bytes of a file in one row.
_PART = 1 << 23
#: Stored generations: a reader may still be copying the previous one.
_KEPT = 2
#: Folder of the copies.
_COPIES = "published"


def publish(directory: Path, address: str, name: str) -> int:
    """Upload the newest generation of a folder's index to a database. Returns the number of chunks.
    Readers see the previous generation until the upload is complete.

    Args:
        address: database URL. name: name of the index there.

    Raises:
        InputError: no index, or the database cannot be used.
    """
    there = database(address)
    there.prepare("indexes", _SCHEMA)
    with (
        closing(Store(directory)) as store,
        TemporaryDirectory(prefix="naisei-index-") as scratch,
        there.connection() as db,
        db.transaction(),
    ):
        number = store.generation()
        chunks = len(Snapshot(store, directory, number))
        _copy_tables(directory, number, Path(scratch))
        lock = lock_number("index", name)
        db.execute("SELECT pg_advisory_xact_lock(%s)", (lock,))
        made = "INSERT INTO index_generations(name) VALUES (%s) RETURNING id"
        ((generation,),) = db.execute(made, (name,)).fetchall()
        with db.cursor().copy("COPY index_files FROM STDIN") as copy:
            for path, file in _files(Path(scratch) / FILE, folder_of(directory, number)):
                with file.open("rb") as data:
                    for part, block in enumerate(iter(lambda: data.read(_PART), b"")):
                        copy.write_row((generation, path, part, block))
        db.execute(
            "DELETE FROM index_generations WHERE name = %s AND id NOT IN"
            " (SELECT id FROM index_generations WHERE name = %s ORDER BY id DESC LIMIT %s)",
            (name, name, _KEPT),
        )
        return chunks


def publish_folder(directory: Path, address: str) -> None:
    """Publish, and record the database in the folder's `store.json`, so that opening the folder
    searches there. Raises as `publish`."""
    before = stored_in(directory)
    there = before is not None and before.store == without_password(address)
    name = before.name if before and there else f"{directory.resolve().name}-{token_hex(4)}"
    publish(directory, address, name)
    Stored(store=without_password(address), name=name).write(directory)


def _copy_tables(directory: Path, number: int, scratch: Path) -> None:
    """Write the tables of one generation, but not its vectors, which are in the array files."""
    members = "SELECT document FROM whole.members WHERE generation = ?"
    conditions = {
        "generations": "id = ?",
        "documents": f"id IN ({members})",
        "chunks": f"document IN ({members})",
        "members": "generation = ?",
    }
    with closing(Store(scratch, create=True)) as copy:
        copy.db.execute("ATTACH ? AS whole", (str(directory / FILE),))
        with copy.db:
            for table, condition in conditions.items():
                rows = f"SELECT * FROM whole.{table} WHERE {condition}"
                copy.db.execute(f"INSERT INTO main.{table} {rows}", (number,))


def _files(tables: Path, arrays: Path) -> Iterator[tuple[str, Path]]:
    yield FILE, tables
    for path in sorted(arrays.rglob("*")):
        # Readers rebuild cached files.
        part = path.relative_to(arrays).parts[0].startswith("part-")
        if path.is_file() and not part:
            yield path.relative_to(arrays.parent).as_posix(), path


class Published:
    """The generations of one index in a database, with local copies in a folder."""

    def __init__(self, directory: Path, address: str, name: str) -> None:
        """Raises `InputError`: the database cannot be used."""
        self._there, self._name = database(address), name
        self._there.prepare("indexes", _SCHEMA)
        self._copies = directory / _COPIES
        self._own: TemporaryDirectory[str] | None = None
        self._opened: tuple[int, Store] | None = None
        try:
            self._copies.mkdir(exist_ok=True)
        except OSError:
            # Without write access every process has its own copy.
            self._own = TemporaryDirectory(prefix="naisei-index-")
            self._copies = Path(self._own.name)

    def generation(self) -> int:
        """The newest generation. Raises `InputError` if none."""
        query = "SELECT max(id) FROM index_generations WHERE name = %s"
        with self._there.connection() as db:
            found = db.execute(query, (self._name,)).fetchone()
        if found is None or found[0] is None:
            raise InputError(
                say(
                    f"データベースに索引 {self._name} がありません",
                    f"no index {self._name} is there",
                ),
                place=self._there.shown,
                remedy="naisei intent index DIR --publish --store URL",
            )
        return int(found[0])

    def snapshot(self, generation: int, groups: Collection[str] | None) -> Snapshot:
        """A generation as visible to these groups. Raises `Gone`."""
        folder = self._copies / str(generation)
        if not folder.is_dir():
            with FileLock(self._copies / "lock"):
                if not folder.is_dir():
                    self._copy(generation, folder)
        if self._opened is None or self._opened[0] != generation:
            # The previous store is closed when its last search ends.
            self._opened = generation, Store(folder)
        store = self._opened[1]
        return Snapshot(store, folder, store.generation(), groups)

    def _copy(self, generation: int, folder: Path) -> None:
        unfinished = folder.with_suffix(".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        query = "SELECT path, part, data FROM index_files WHERE generation = %s ORDER BY path, part"
        with _streamed(self._there, query, generation) as rows:
            for path, _, data in rows:
                file = unfinished / path
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("ab") as opened:
                    opened.write(data)
        if not (unfinished / FILE).is_file():
            raise Gone
        unfinished.rename(folder)
        numbers = sorted(int(each.name) for each in self._copies.iterdir() if each.name.isdigit())
        for old in numbers[:-_KEPT]:
            shutil.rmtree(self._copies / str(old), ignore_errors=True)

    def close(self) -> None:
        if self._opened is not None:
            self._opened[1].close()
        if self._own is not None:
            self._own.cleanup()


@contextmanager
def _streamed(there: Database, query: str, generation: int) -> Iterator[Iterator[Any]]:
    """Stream rows in batches from a snapshot taken at the first read."""
    db: Connection[Any]
    with there.connection() as db, db.transaction(), db.cursor(name="files") as cursor:
        cursor.itersize = 4
        cursor.execute(query.encode(), (generation,))
        yield iter(cursor)
