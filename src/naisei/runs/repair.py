"""Checking the log of a run, and rebuilding it from the intact episodes. Resuming the run repeats
the others. The old files are kept next to the new ones."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from naisei.core import InputError
from naisei.files import output_error
from naisei.lang import say
from naisei.runs import rows
from naisei.runs.directory import LOG, in_database, open_log, refuse_links
from naisei.runs.frozen import Frozen
from naisei.runs.integrity import Damage, Findings, Row, row_digest, walk
from naisei.runs.lock import RunLock
from naisei.runs.log import ORIGIN_KEY
from naisei.runs.report import SUMMARY_KEY
from naisei.runs.sqlite_rows import commits_of


def checked(directory: Path) -> Findings:
    """Find all damage in a run's log. Writes nothing.

    Raises:
        InputError: not a run directory.
    """
    refuse_links(directory)
    frozen = Frozen.read(directory / "config.json")
    try:
        log = open_log(directory, read_only=True, origin=frozen.digest, check=False)
        with closing(log):
            return log.verified()
    except InputError as error:
        return Findings(damages=[Damage(error.message)])


@dataclass(slots=True)
class Repaired(Findings):
    """Result of a repair. events, episodes: how many were saved. damages: damage found. again:
    truncated episodes, removed with their costs; they will run again. saved: the old files."""

    again: list[str] = field(default_factory=list)
    saved: list[Path] = field(default_factory=list)

    def text(self) -> str:
        """Return the result as text."""
        kept = Findings(self.events, self.episodes).text()
        lost = [
            say(
                f"エピソード {episode} は残せません。再開すると最初からやり直します",
                f"episode {episode} is cut off: resuming does it again from its beginning",
            )
            for episode in self.again
        ]
        old = [say(f"元のファイル: {path}", f"the old file: {path}") for path in self.saved]
        return "\n".join([*map(str, self.damages), kept, *lost, *old])

    def to_json(self) -> dict[str, JsonValue]:
        return {**asdict(self), "saved": list(map(str, self.saved))}


def repaired(directory: Path) -> Repaired:
    """Rebuild a run's log from its intact episodes. An intact log is unchanged.

    Raises:
        InputError: not a run directory, its log is in a database, is unreadable or cannot be
            written, or another process works on the run.
    """
    found = checked(directory)
    if not found.damages:
        return Repaired(found.events, found.episodes)
    if in_database(directory):
        raise InputError(
            say(
                "データベースにある記録は修復できません",
                "a log in a database is not repaired",
            ),
            place=str(directory),
            remedy=say("データベースの控えを戻してください", "restore the database's backup"),
        )
    lock = RunLock(directory)
    path = directory / LOG
    new = path.with_name(f"{path.name}.new")
    try:
        done = _written(path, new, Frozen.read(directory / "config.json").digest)
        done.damages = found.damages
        done.saved = _put_in_place(path, new)
        return done
    except OSError as error:
        raise output_error(error, path) from error
    finally:
        new.unlink(missing_ok=True)
        lock.release()


def _files(path: Path) -> list[Path]:
    """Return the files of a log, including SQLite's WAL files."""
    names = [path.with_name(f"{path.name}{end}") for end in ("", "-wal", "-shm")]
    return [name for name in (*names, commits_of(path)) if name.exists()]


def _written(path: Path, new: Path, origin: str) -> Repaired:
    """Write the intact episodes of the log at `path` to a log at `new`."""
    new.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="naisei-") as scratch:
        for file in _files(path)[:2]:
            shutil.copyfile(file, Path(scratch) / file.name)
        with (
            closing(sqlite3.connect(Path(scratch) / path.name)) as old,
            closing(sqlite3.connect(new, isolation_level=None)) as db,
        ):
            old.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
            db.executescript(f"{rows.SCHEMA} BEGIN")
            done = _filled(db, old, path.parent)
            note = ORIGIN_KEY, rows.dump(origin)
            values = (*note, row_digest(note))
            db.execute("INSERT OR REPLACE INTO meta(key, value, checksum) VALUES (?, ?, ?)", values)
            db.execute("COMMIT")
    with new.open("rb") as copied:
        os.fsync(copied.fileno())
    return done


def _filled(db: sqlite3.Connection, old: sqlite3.Connection, place: Path) -> Repaired:
    found = [*walk(lambda query: _readable(old, query))]
    if not any(row.sound for row in found):
        raise InputError(
            say("読み取れる行がありません", "no row of it can be read"),
            place=str(place),
            remedy=say("控えがあれば、それを使ってください", "use a backup, if there is one"),
        )
    for row in _readable(old, "SELECT id, digest, text FROM texts ORDER BY id"):
        if rows.text_digest(row[2]) == row[1]:
            db.execute("INSERT INTO texts(id, digest, text) VALUES (?, ?, ?)", row)
    cut = [row.episode for row in found if not (row.sound and _inserted(db, row))]
    again = {name.encode(errors="replace").decode() for name in cut}
    count = "SELECT count(*) FROM events WHERE events.episode = episodes.episode"
    short = db.execute(f"SELECT episode FROM episodes WHERE events > ({count})").fetchall()
    again = {*again, *(name for (name,) in short)} - {""}
    for episode in again:
        for table in ("events", "episodes", "lost", "exchanges"):
            db.execute(f"DELETE FROM {table} WHERE episode = ?", (episode,))
    db.execute("DELETE FROM meta WHERE key = ?", (SUMMARY_KEY,))
    ((events,),) = db.execute("SELECT count(*) FROM events")
    ((episodes,),) = db.execute("SELECT count(*) FROM episodes")
    return Repaired(events, episodes, again=sorted(again))


def _readable(db: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows before the first unreadable page and after the last. query: ends in an ORDER
    BY on its first column."""
    known = set()
    for order in ("", " DESC"):
        try:
            for row in db.execute(query + order):
                if row[0] not in known:
                    known.add(row[0])
                    yield row
            return
        except sqlite3.Error:
            continue


def _inserted(db: sqlite3.Connection, row: Row) -> bool:
    """Insert the row with a new digest if it is valid; return whether it is."""
    by, columns = rows.TABLES[row.table]
    values = dict(zip(columns.split(", "), row.values, strict=True))
    values |= {by: row.key, "checksum": row.digest}
    marks = ",".join("?" * len(values))
    try:
        db.execute(
            f"INSERT INTO {row.table}({', '.join(values)}) VALUES ({marks})", [*values.values()]
        )
    except sqlite3.IntegrityError:
        return False
    return True


def _put_in_place(path: Path, new: Path) -> list[Path]:
    """Replace the old log by the new one, after making a copy of the old one."""
    at = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    saved = []
    for old in _files(path):
        if not old.name.endswith("-shm"):
            saved.append(path.with_name(f"{path.name}.damaged-{at}{old.name[len(path.name) :]}"))
            shutil.copyfile(old, saved[-1])
    # A WAL left behind by the old file would be read into the new one. The commit count goes last:
    # after a kill in between, the old log counts as having lost some.
    _, *beside = _files(path)
    for old in beside:
        if old != commits_of(path):
            old.unlink()
    new.replace(path)
    commits_of(path).unlink(missing_ok=True)
    return saved
