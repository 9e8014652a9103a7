"""Checking the log of a run, and making a sound one of what a damaged one still holds.

What is kept is a log as if the process had been killed earlier: of each episode the events up to
the first that is damaged, and its outcome only if nothing of it is missing. Resuming does the rest
again. The old files stay beside the new ones.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
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
from naisei.runs.integrity import (
    CHAIN_KEY,
    Damage,
    Findings,
    Row,
    Select,
    digest_anew,
    genesis,
    row_digest,
    seal,
    seal_of,
    wal_of,
    walk,
)
from naisei.runs.lock import RunLock
from naisei.runs.report import SUMMARY_KEY


def checked(directory: Path) -> Findings:
    """All that is wrong with a run's log. Nothing is written.

    Raises:
        InputError: no run directory.
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
    """What a repair came to. events, episodes: kept. damages: what was found. again: episode → the
    step from which on resuming does it again; empty where only its outcome is lost. saved: the old
    files, or the name that the old log has now in its database."""

    again: dict[str, str] = field(default_factory=dict)
    saved: list[Path | str] = field(default_factory=list)

    def text(self) -> str:
        """In words."""
        kept = Findings(self.events, self.episodes).text()
        lost = [
            say(
                f"エピソード {episode}: " + (f"ステップ {step} 以降" if step else "結果"),
                f"episode {episode}: " + (f"from step {step} on" if step else "its outcome"),
            )
            + say("を失いました", " is lost")
            for episode, step in sorted(self.again.items())
        ]
        old = [say(f"元のファイル: {path}", f"the old file: {path}") for path in self.saved]
        return "\n".join([*map(str, self.damages), kept, *lost, *old])

    def to_json(self) -> dict[str, JsonValue]:
        return {**asdict(self), "saved": list(map(str, self.saved))}


def repaired(directory: Path) -> Repaired:
    """Make the log of a run sound, from what of it is. A sound log is left as it is.

    Raises:
        InputError: no run directory, another process works on it, or it cannot be written.
    """
    refuse_links(directory)
    frozen = Frozen.read(directory / "config.json")
    found = checked(directory)
    if not found.damages:
        return Repaired(found.events, found.episodes)
    lock = RunLock(directory)
    try:
        if in_database(directory):
            done = _repaired_there(directory, frozen.digest)
        else:
            done = _repaired_file(directory / LOG, frozen.digest)
        done.damages = found.damages
        return done
    finally:
        lock.release()


def _repaired_there(directory: Path, origin: str) -> Repaired:
    """As `repaired`, of a log in a database, which stays there under another name."""
    from naisei.runs.postgres import PostgresRows

    with closing(open_log(directory, read_only=True, check=False, alone=True)) as log:
        there = log._rows
        assert isinstance(there, PostgresRows)
        salvage = _Salvage(there.select, directory)
        salvage.told.saved = [there.made_anew(lambda: salvage.fill(there, origin))]
        return salvage.told


def _repaired_file(path: Path, origin: str) -> Repaired:
    new = path.with_name(f"{path.name}.new")
    try:
        with tempfile.TemporaryDirectory(prefix="naisei-") as scratch:
            copy = Path(scratch) / path.name
            for file, to in ((path, copy), (wal_of(path), wal_of(copy))):
                if file.exists():
                    shutil.copyfile(file, to)
            with closing(sqlite3.connect(copy, isolation_level=None)) as old:
                old.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
                salvage = _Salvage(_Tolerant(old), path.parent)
                _write(salvage, new, origin)
        salvage.told.saved = _put_in_place(path, new)
        return salvage.told
    except OSError as error:
        raise output_error(error, path) from error
    finally:
        for end in ("", "-wal", "-shm"):
            new.with_name(f"{new.name}{end}").unlink(missing_ok=True)


def _write(salvage: _Salvage, new: Path, origin: str) -> None:
    new.unlink(missing_ok=True)
    with closing(sqlite3.connect(new, isolation_level=None)) as db:
        db.executescript(f"PRAGMA journal_mode=WAL; {rows.SCHEMA}")
        db.execute("BEGIN")
        salvage.fill(db, origin)
        db.execute("COMMIT")
    with new.open("rb") as file:
        os.fsync(file.fileno())


def _put_in_place(path: Path, new: Path) -> list[Path | str]:
    """The new log in the place of the old one, of which a copy is made first."""
    at = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    saved: list[Path | str] = []
    for old in (path, wal_of(path)):
        if old.exists():
            kept = path.with_name(f"{path.name}.damaged-{at}{old.name.removeprefix(path.name)}")
            shutil.copyfile(old, kept)
            saved.append(kept)
    # A WAL that outlived its file would be read into the new one.
    for gone in (seal_of(path), wal_of(path), path.with_name(f"{path.name}-shm")):
        gone.unlink(missing_ok=True)
    new.replace(path)
    seal(path)
    return saved


class _Tolerant:
    """Runs SELECTs on a damaged file: what comes before the first unreadable page, and after the
    last."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __call__(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        rows, failed = self._read(query, values)
        if failed and " ORDER BY " in query:
            known = {row[0] for row in rows}
            rest, _ = self._read(f"{query} DESC", values)
            rows += [row for row in reversed(rest) if row[0] not in known]
        return iter(rows)

    def _read(self, query: str, values: Sequence[object]) -> tuple[list[tuple[Any, ...]], bool]:
        found: list[tuple[Any, ...]] = []
        try:
            found.extend(self._db.execute(query, values))
        except sqlite3.Error:
            return found, True
        return found, False


class _Salvage:
    """The sound rows of a damaged log. told: what was kept and lost."""

    def __init__(self, select: Select, place: Path) -> None:
        self.told = Repaired()
        self.texts = [
            row
            for row in select("SELECT id, digest, text FROM texts ORDER BY id")
            if rows.text_digest(row[2]) == row[1]
        ]
        self.origin = _origin(select)
        self.rows = [*walk(select, self.origin)]
        self._steps: set[tuple[str, str]] = set()
        if not any(row.sound for row in self.rows):
            raise InputError(
                say("読み取れる行がありません", "no row of it can be read"),
                place=str(place),
                remedy=say("控えがあれば、それを使ってください", "use a backup, if there is one"),
            )

    def _is_kept(self, row: Row) -> bool:
        if row.table in ("events", "episodes"):
            return row.sound and not self.told.again.get(row.episode)
        if row.table == "exchanges" and row.values[1] is not None:
            return row.sound and (row.episode, row.values[1]) in self._steps
        return row.sound

    def fill(self, db: Any, origin: str) -> None:
        """What is sound into the tables of a new log, within a transaction."""
        for row in self.texts:
            db.execute("INSERT INTO texts(id, digest, text) VALUES (?, ?, ?)", row)
        for row in self.rows:
            if self._is_kept(row) and _inserted(db, row):
                self._steps.add((row.episode, row.step))
                self.told.events += row.table == "events"
                self.told.episodes += row.table == "episodes"
            elif row.table in ("events", "episodes"):
                step = row.step or "0" * (row.table == "events")
                self.told.again.setdefault(row.episode, step)
        if self.told.again:
            db.execute("DELETE FROM meta WHERE key = ?", (SUMMARY_KEY,))
        db.execute("DELETE FROM meta WHERE key = ?", (CHAIN_KEY,))
        note: JsonValue = {"format": 1, "origin": origin}
        db.execute("INSERT INTO meta(key, value) VALUES (?, ?)", (CHAIN_KEY, rows.dump(note)))
        digest_anew(db, origin)


def _inserted(db: Any, row: Row) -> bool:
    """Whether it is a row that a log may hold, whoever made its digest."""
    by, columns = rows.TABLES[row.table]
    names = dict.fromkeys((by, *columns.split(", ")))
    values = [*row.values] if len(names) == len(row.values) else [row.key, *row.values]
    marks = ",".join("?" * len(values))
    try:
        db.execute(f"INSERT INTO {row.table}({', '.join(names)}) VALUES ({marks})", values)
    except sqlite3.IntegrityError:
        return False
    return True


def _origin(select: Select) -> str:
    """What the digests begin with, by a note that is itself sound."""
    for key, value, digest in select("SELECT key, value, chain FROM meta ORDER BY key"):
        with suppress(ValueError, TypeError, KeyError):
            if key == CHAIN_KEY:
                origin = str(json.loads(value)["origin"])
                if row_digest(genesis(origin, ""), (), (key, value)) == digest:
                    return origin
    return ""
