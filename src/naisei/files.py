"""Atomic output files; SQLite databases; the cache folder."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import socket
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

import platformdirs

from naisei.core import InputError
from naisei.lang import say

_ROOM = ("空きを作るか、別の場所を指定してください", "make room, or name another place")
_RIGHTS = ("権限を変えるか、別の場所を指定してください", "change the rights, or name another place")
_PLACE = ("別の場所を指定してください", "name another place")
#: Causes and remedies of disk errors, in Japanese and English.
_REASONS = {
    errno.ENOSPC: (("ディスクに空きがありません", "no space is left on the disk"), _ROOM),
    errno.EDQUOT: (("ディスクの割り当てを使い切りました", "the disk quota is used up"), _ROOM),
    errno.EFBIG: (("ファイルの大きさが上限を超えます", "the file is larger than allowed"), _ROOM),
    errno.EROFS: (("読み取り専用のディスクです", "the disk is read only"), _PLACE),
    errno.EACCES: (("権限がありません", "permission denied"), _RIGHTS),
    errno.EPERM: (("許可されていません", "not permitted"), _RIGHTS),
    errno.ENOTDIR: (("パスの途中がファイルです", "a part of the path is a file"), _PLACE),
    errno.EEXIST: (("パスの途中がファイルです", "a part of the path is a file"), _PLACE),
    errno.EISDIR: (("フォルダーです", "it is a folder"), _PLACE),
    errno.EIO: (("ディスクの読み書きに失敗しました", "reading or writing the disk failed"), _PLACE),
    errno.ENAMETOOLONG: (("名前が長すぎます", "the name is too long"), _PLACE),
}


def is_disk_error(error: BaseException) -> bool:
    """Whether the disk or the path is at fault: full, read-only, no permission, invalid."""
    return isinstance(error, OSError) and error.errno in _REASONS


def output_error(error: OSError, path: Path | str) -> InputError:
    """The user-facing error for a failed write to `path`."""
    strerror = error.strerror or str(error)
    why, remedy = _REASONS.get(error.errno or 0, ((strerror, strerror), _PLACE))
    return InputError(
        say(f"書き込めません: {why[0]}", f"cannot be written: {why[1]}"),
        place=str(path),
        remedy=say(*remedy),
    )


@contextmanager
def written_beside(path: Path) -> Iterator[Path]:
    """Yield a path in the same folder to write to. It replaces `path` when the block ends, and is
    removed when the block fails.

    Missing folders are created. A file keeps its mode; a link's target is replaced, not the link;
    special files (`/dev/stdout`) are written directly.

    Raises:
        InputError: the disk is full or read-only, or the path cannot be written.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            yield path
            return
        place = path.resolve()
        place.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place.parent)
        # Writers such as numpy's check the suffix.
        scratch = place.with_name(f"{_scratch(os.getpid())}{token_hex(4)}{place.suffix}")
        try:
            yield scratch
            if place.is_file():
                scratch.chmod(place.stat().st_mode & 0o7777)
            scratch.replace(place)
        except BaseException:
            scratch.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise output_error(error, path) from error


#: Folders from which this process has removed leftovers.
_swept: set[Path] = set()


def _scratch(pid: int) -> str:
    """Prefix of scratch file names of a process on this machine."""
    host = hashlib.blake2b(socket.gethostname().encode(), digest_size=3).hexdigest()
    return f".naisei-{host}-{pid}-"


def _sweep(folder: Path) -> None:
    """Remove the scratch files of killed processes of this machine."""
    if folder in _swept:
        return
    _swept.add(folder)
    ours = _scratch(0).removesuffix("0-")
    # A folder may be writable but not readable; another process may have cleaned it.
    with suppress(OSError):
        for path in folder.glob(f"{ours}*"):
            pid = path.name.removeprefix(ours).partition("-")[0]
            if pid.isdecimal() and not lives(int(pid)):
                path.unlink(missing_ok=True)


def lives(pid: int) -> bool:
    """Whether a process with this id runs on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def write_atomically(path: Path, data: str | bytes) -> None:
    """Replace a file atomically; text is written in UTF-8, with unchanged line ends.

    Raises:
        InputError: see `written_beside`.
    """
    with written_beside(path) as scratch:
        scratch.write_bytes(data.encode() if isinstance(data, str) else data)


def check_place(path: Path) -> None:
    """Check before long work that its result can be written to `path`. An existing file is not
    changed.

    Raises:
        InputError: as in `write_atomically`.
    """
    if path.is_dir():
        raise output_error(IsADirectoryError(errno.EISDIR, ""), path)
    scratch = path.with_name(f"{_scratch(os.getpid())}{token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.touch()
        scratch.unlink()
    except OSError as error:
        raise output_error(error, path) from error


def cache_root() -> Path:
    """The user's cache folder for naisei; `NAISEI_CACHE` overrides it."""
    if override := os.environ.get("NAISEI_CACHE"):
        return Path(override).expanduser()
    return Path(platformdirs.user_cache_dir("naisei", appauthor=False))


def plain_file(path: Path) -> None:
    """Check before opening an untrusted file that it is a regular one, not a link or a pipe.

    Raises:
        InputError: it exists and is not a regular file.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:
        return  # opening it gives the error
    if not stat.S_ISREG(mode):
        raise InputError(
            say(
                "ふつうのファイルではありません (リンク、パイプ、フォルダーなどは開きません)",
                "is not an ordinary file (links, pipes and folders are not opened here)",
            ),
            place=str(path),
            remedy=say(
                "覚えがなければ、このフォルダーを使わないでください",
                "unless you put it there, do not use this folder",
            ),
        )


_DATABASE_ROOM = (
    "空きを作ってから、もう一度実行してください",
    "make room, then run the same command again",
)
_DATABASE_RIGHTS = ("場所と権限を確かめてください", "check the place and its rights")
_WAIT = ("そのプロセスが終わるのを待つか、止めてください", "wait for that process, or stop it")
_OTHER = (
    "ファイルを確かめるか、別の場所を指定してください",
    "check the file, or name another place",
)
#: Primary result code → cause and remedy, in Japanese and English.
_DATABASE_REASONS = {
    sqlite3.SQLITE_FULL: (
        ("ディスクに空きがありません", "no space is left on the disk"),
        _DATABASE_ROOM,
    ),
    sqlite3.SQLITE_IOERR: (
        ("ディスクの読み書きに失敗しました", "reading or writing the disk failed"),
        ("ディスクの空きと接続を確かめてください", "check that the disk is there and has room"),
    ),
    sqlite3.SQLITE_READONLY: (
        ("書き込めません: 読み取り専用です", "it is read only"),
        _DATABASE_RIGHTS,
    ),
    sqlite3.SQLITE_PERM: (("権限がありません", "permission denied"), _DATABASE_RIGHTS),
    sqlite3.SQLITE_CANTOPEN: (("開けません", "it cannot be opened"), _DATABASE_RIGHTS),
    sqlite3.SQLITE_BUSY: (("別のプロセスが使っています", "another process is using it"), _WAIT),
    sqlite3.SQLITE_LOCKED: (("別のプロセスが使っています", "another process is using it"), _WAIT),
    sqlite3.SQLITE_TOOBIG: (("大きすぎる値があります", "a value in it is too large"), _OTHER),
    sqlite3.SQLITE_CORRUPT: (("ファイルが壊れています", "the file is damaged"), _OTHER),
    sqlite3.SQLITE_NOTADB: (("SQLite のファイルではありません", "it is no SQLite file"), _OTHER),
}


def database_error(error: sqlite3.Error, path: Path | str) -> InputError | None:
    """The user-facing error if the disk, the file or another process is at fault; `None` for a bug,
    such as an invalid statement."""
    # The lower byte is the primary code; the rest is the extended code.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code not in _DATABASE_REASONS:
        return None
    why, remedy = _DATABASE_REASONS[code]
    return InputError(say(*why), place=str(path), remedy=say(*remedy))


def read_only(
    path: Path, *, live: bool
) -> tuple[sqlite3.Connection, tempfile.TemporaryDirectory[str] | None]:
    """Open a connection for reading a file in WAL mode, including the WAL of a killed or running
    writer. Nothing is written or created beside the file.

    live: a writer has it open; the connection sees its additions. (Without a writer, reading beside
    the WAL would rebuild its index.) A returned folder holds the copy that is read; remove it after
    closing.

    Raises:
        sqlite3.Error, OSError: it cannot be read.
    """
    wal, shared = (path.with_name(f"{path.name}-{end}") for end in ("wal", "shm"))
    for each in (path, wal, shared):
        plain_file(each)
    uri = path.absolute().as_uri()
    if live and wal.exists() and shared.exists():
        with suppress(sqlite3.OperationalError):  # a read-only folder
            return _checked(f"{uri}?mode=ro"), None
    if not (wal.exists() and wal.stat().st_size):
        return _checked(f"{uri}?mode=ro&immutable=1"), None
    # Reading a WAL without its index writes the index.
    folder = tempfile.TemporaryDirectory(prefix="naisei-")
    try:
        copy = Path(folder.name) / path.name
        _copy(path, copy, wal, Path(f"{copy}-wal"))
        return _checked(f"{copy.as_uri()}?mode=rw"), folder
    except BaseException:
        folder.cleanup()
        raise


def _copy(path: Path, to: Path, wal: Path, wal_to: Path) -> None:
    """Copy both files as of the same moment."""
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


def untrusting(db: sqlite3.Connection) -> None:
    """Apply SQLite's advice for untrusted files (sqlite.org/security.html): functions, views and
    triggers of the file are not trusted, and cells are checked."""
    db.execute("PRAGMA trusted_schema=OFF")
    db.execute("PRAGMA cell_size_check=ON")
    db.execute("PRAGMA mmap_size=0")


def _checked(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA busy_timeout=10000")
        untrusting(db)
        db.execute("PRAGMA query_only=ON")
        db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.Error:
        db.close()
        raise
    return db


def make_folder(folder: Path) -> Path:
    """Create a private folder if missing.

    Raises:
        InputError: it cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise output_error(error, folder) from error
    return folder
