"""The rows of one log in a SQLite file (WAL mode): connections, transactions, and errors.

With `synchronous=NORMAL` a transaction survives the process (kill -9), but the last ones may
be lost in a power failure. WAL needs a local file system, not a network share.

SQLite silently drops everything after a damaged page in a killed process's WAL. Each transaction
therefore increments a counter in the database (`user_version`) and, after the commit, in the file
`<log>.commits`. A log whose counter is below that of the file has lost its last transactions.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from naisei import files
from naisei.core import InputError, LogBusy
from naisei.lang import say
from naisei.runs import rows
from naisei.runs.integrity import Findings, check_schema, verified_file
from naisei.runs.lock import AGAIN, PATIENCE, locked, writing
from naisei.runs.rows import StepThere

#: Number of writers in this process per log path.
_open_here: Counter[Path] = Counter()
#: Maximum milliseconds that an attempt may block the event loop.
_LONGEST_WAIT = 20


class SqliteRows:
    """A `Rows` in a file.

    Args:
        path: the file; created if missing, unless `read_only`.
        read_only: open for reading, even while another process writes.

    Raises:
        InputError: the file cannot be opened, is not a log, or has lost transactions.
    """

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.place = path
        # The working directory may have changed when the file is closed.
        self._file = path = path.absolute()
        self._copy: TemporaryDirectory[str] | None = None
        self._version, self._waits = 0, _LONGEST_WAIT
        # Whether the connection was closed after a failed rollback.
        self._broken = self._open = False
        self._counter: int | None = None
        live = _open_here[path] > 0 or (read_only and locked(path.parent))
        with self._opening():
            # Read before the database, since a concurrent writer increments it.
            self._commits = _commits(path)
            if read_only:
                self._db, self._copy = files.read_only(path, live=live)
            else:
                self._db = _writer(path)
                _open_here[path] += 1
                self._open = True
                flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
                self._counter = os.open(commits_of(path), flags, 0o666)
            self._begun_as_a_log()

    @contextmanager
    def _opening(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            self.close()
            what = f"実行の記録を開けません: {error}", f"cannot open the run log: {error}"
            raise self._refused(*what) from error
        except ValueError as error:
            self.close()
            what = (
                f"実行の記録ではない中身があります: {error}",
                f"holds what no run log does: {error}",
            )
            raise self._refused(*what) from error

    def _refused(self, *what: str) -> InputError:
        check = f"`naisei runs check {self.place.parent}`"
        remedy = say(f"{check} で確かめられます", f"{check} tells more")
        return InputError(say(*what), place=str(self.place), remedy=remedy)

    def _begun_as_a_log(self) -> None:
        db = self._db
        if self._open and not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            db.executescript(f"BEGIN IMMEDIATE; {rows.SCHEMA} COMMIT")
        check_schema(db)

    def verified(self) -> Findings:
        self.execute("BEGIN")
        try:
            return verified_file(self._db, self._commits)
        finally:
            if self._open:
                self._roll_back()
            else:
                with suppress(sqlite3.Error):  # read-only: nothing was written
                    self._db.execute("ROLLBACK")

    def writing(self, episode: str) -> AbstractContextManager[None]:
        return writing(self._file, episode)

    def execute(self, query: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        try:
            self._reopen()
            return self._db.execute(query, values)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CONSTRAINT_UNIQUE:
                raise StepThere from None
            raise self._explained(error) from error

    def select(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            self._reopen()
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def replace(self, table: str, values: Sequence[object]) -> None:
        _, columns = rows.TABLES[table]
        marks = ",".join("?" * len(values))
        self.execute(
            f"INSERT OR REPLACE INTO {table}({columns}, checksum) VALUES ({marks})", values
        )

    @contextmanager
    def transaction(self, *, erases: bool = False) -> Iterator[bool]:
        """Open an atomic, exclusive transaction; yields whether others wrote since the last one.
        erases: deleted data are unrecoverable afterwards.

        Raises:
            LogBusy: another process holds the file; raised immediately within an event loop,
                else after ten seconds.
        """
        if erases:
            self.execute("PRAGMA secure_delete=ON")
        self._begin()
        try:
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            yield version != self._version
            self._db.execute(f"PRAGMA user_version={version + 1}")
            self._db.execute("COMMIT")
        except BaseException as error:
            self._roll_back()
            if isinstance(error, sqlite3.Error):
                raise self._explained(error) from error
            raise
        self._version = version + 1
        self._count()
        if erases:
            self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _count(self) -> None:
        assert self._counter is not None
        try:
            # Fixed width: another process may have incremented it meanwhile.
            os.pwrite(self._counter, b"%012d" % self._version, 0)
        except OSError as error:
            raise files.output_error(error, commits_of(self.place)) from error

    def check_writer(self, episode: str) -> None:
        """Do nothing: the operating system's lock lasts as long as the process."""

    def _begin(self) -> None:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._reopen()
                self._db.execute("BEGIN IMMEDIATE")
                self._wait(_LONGEST_WAIT)
                return
            except sqlite3.Error as error:
                if not _is_busy(error):
                    raise self._explained(error) from error
                self._wait(0)
                if _in_a_loop() or time.monotonic() > until:
                    raise self._explained(error) from error
            time.sleep(AGAIN)

    def _wait(self, milliseconds: int) -> None:
        """Set how long SQLite waits for a lock; 0 while the file is known to be locked, so that the
        event loop is not blocked."""
        if milliseconds != self._waits and not self._broken:
            with suppress(sqlite3.Error):  # keep the previous timeout
                self._db.execute(f"PRAGMA busy_timeout={milliseconds}")
                self._waits = milliseconds

    def _roll_back(self) -> None:
        if not self._broken and self._db.in_transaction:
            try:
                self._db.execute("ROLLBACK")
            except sqlite3.Error:
                # Unusable state: closing also rolls back.
                self._db.close()
                self._broken = True

    def _reopen(self) -> None:
        """Reopen an unusable connection, such as after a full disk. Raises `sqlite3.Error`."""
        if self._broken:
            self._db = _writer(self._file)
            self._version, self._broken, self._waits = -1, False, _LONGEST_WAIT

    def _explained(self, error: sqlite3.Error) -> Exception:
        told = files.database_error(error, self.place)
        if told is not None and _is_busy(error):
            return LogBusy(told.message, place=told.place, remedy=told.remedy)
        if told is None and not self._open:  # rows written by another program
            return self._refused("記録が壊れています", "the record is damaged")
        return told or error

    def close(self) -> None:
        """Close the connection and merge the WAL into the file."""
        if db := getattr(self, "_db", None):
            db.close()
        if self._counter is not None:
            os.close(self._counter)
            self._counter = None
        if self._open:
            self._open = False
            _open_here.subtract([self._file])
        if self._copy is not None:
            self._copy.cleanup()


def commits_of(path: Path) -> Path:
    """Return the path of the sidecar file with the number of committed transactions."""
    return path.with_name(f"{path.name}.commits")


def _commits(path: Path) -> bytes:
    """Return the content of the commits file; empty without a log. Raises `OSError`."""
    files.plain_file(commits_of(path))
    if not path.exists():
        commits_of(path).unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        return commits_of(path).read_bytes()
    return b""


def _is_busy(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _writer(path: Path) -> sqlite3.Connection:
    for end in ("", "-wal", "-shm", ".writers"):
        files.plain_file(path.with_name(f"{path.name}{end}"))
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA busy_timeout=10000")
        files.untrusting(db)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        # 16 MB of WAL between checkpoints: an append takes a fifth less time than by default.
        db.execute("PRAGMA wal_autocheckpoint=4000")
        db.execute("PRAGMA journal_size_limit=0")
        # From here on, writers do their own waiting.
        db.execute(f"PRAGMA busy_timeout={_LONGEST_WAIT}")
        # Merge the WAL of a killed process into the file, so that erased data are really gone.
        # Other connections do this on close.
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error:
        db.close()
        raise
    return db
