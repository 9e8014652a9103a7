"""SQLite files: what their errors mean to the user, and reading one without a trace."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say

__all__ = ["database_error", "read_only"]

_ROOM = (
    "空きを作ってから、もう一度実行してください",
    "make room, then run the same command again",
)
_RIGHTS = ("場所と権限を確かめてください", "check the place and its rights")
_WAIT = ("そのプロセスが終わるのを待つか、止めてください", "wait for that process, or stop it")
_OTHER = (
    "ファイルを確かめるか、別の場所を指定してください",
    "check the file, or name another place",
)
#: Primary result code → why, and the remedy, in Japanese and English.
_REASONS = {
    sqlite3.SQLITE_FULL: (("ディスクに空きがありません", "no space is left on the disk"), _ROOM),
    sqlite3.SQLITE_IOERR: (
        ("ディスクの読み書きに失敗しました", "reading or writing the disk failed"),
        ("ディスクの空きと接続を確かめてください", "check that the disk is there and has room"),
    ),
    sqlite3.SQLITE_READONLY: (("書き込めません: 読み取り専用です", "it is read only"), _RIGHTS),
    sqlite3.SQLITE_PERM: (("権限がありません", "permission denied"), _RIGHTS),
    sqlite3.SQLITE_CANTOPEN: (("開けません", "it cannot be opened"), _RIGHTS),
    sqlite3.SQLITE_BUSY: (("別のプロセスが使っています", "another process is using it"), _WAIT),
    sqlite3.SQLITE_LOCKED: (("別のプロセスが使っています", "another process is using it"), _WAIT),
    sqlite3.SQLITE_CORRUPT: (("ファイルが壊れています", "the file is damaged"), _OTHER),
    sqlite3.SQLITE_NOTADB: (("SQLite のファイルではありません", "it is no SQLite file"), _OTHER),
}


def database_error(error: sqlite3.Error, path: Path | str) -> InputError | None:
    """What it amounts to for the user where the disk, the file or another process is at fault;
    `None` where it is a bug of ours, such as a wrong statement."""
    # The lower byte is the primary code; the rest tells its kinds apart.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code not in _REASONS:
        return None
    why, remedy = _REASONS[code]
    return InputError(say(*why), place=str(path), remedy=say(*remedy))


def read_only(path: Path) -> tuple[sqlite3.Connection, tempfile.TemporaryDirectory[str] | None]:
    """A connection for reading a file in WAL mode, with whatever a killed or living writer left
    in the WAL. Nothing is written or made beside the file.

    The folder, if one comes with it, holds the copy that is read: to be removed after closing.

    Raises:
        sqlite3.Error, OSError: it cannot be read.
    """
    wal, shared = (path.with_name(f"{path.name}-{end}") for end in ("wal", "shm"))
    uri = path.absolute().as_uri()
    if wal.exists() and shared.exists():  # a writer is at work, or was killed
        with suppress(sqlite3.OperationalError):  # a folder that cannot be written
            return _checked(f"{uri}?mode=ro"), None
    if not (wal.exists() and wal.stat().st_size):
        return _checked(f"{uri}?immutable=1"), None
    # To read a WAL without its index is to write one.
    folder = tempfile.TemporaryDirectory(prefix="naisei-")
    try:
        copy = Path(folder.name) / path.name
        _copy(path, copy, wal, Path(f"{copy}-wal"))
        return _checked(f"{copy.as_uri()}?mode=rw"), folder
    except BaseException:
        folder.cleanup()
        raise


def _copy(path: Path, to: Path, wal: Path, wal_to: Path) -> None:
    """Both as they stood at one moment."""
    for _ in range(5):
        before = _state(path), _state(wal)
        shutil.copyfile(path, to)
        shutil.copyfile(wal, wal_to)
        if before == (_state(path), _state(wal)):
            return
    raise sqlite3.OperationalError("it is being written too fast to be copied")


def _state(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _checked(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA busy_timeout=10000")
        db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.Error:
        db.close()
        raise
    return db
