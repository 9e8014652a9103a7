"""Digests of an index generation: changed files and rows are reported and not used. Not a
signature: anyone with write access can renew it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say

_SEAL = "seal.json"
#: Bytes. Larger files are verified only when the folder is indexed again: each search would wait
#: for all of it to be read.
_SMALL = 1 << 26
_PASSING = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
    )
)


def of_row(*values: object) -> bytes:
    """8 bytes."""
    told = repr(values).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(told, digest_size=8).digest()


def of_rows(rows: Iterable[Sequence[object]]) -> str:
    """Of rows in any order."""
    return hashlib.blake2b("".join(sorted(map(repr, rows))).encode(), digest_size=16).hexdigest()


def seal(folder: Path, documents: str = "") -> None:
    """documents: `of_rows` of their stored rows."""
    files = {name: _of_file(folder / name) for name in _files(folder)}
    told = json.dumps({"documents": documents, "files": files}, sort_keys=True)
    (folder / _SEAL).write_text(f"{_of_bytes(told.encode())}\n{told}", encoding="utf-8")


def check(folder: Path, documents: str = "", *, whole: bool = False) -> None:
    """whole: large files as well.

    Raises:
        InputError: something has changed.
    """
    if (wrong := _wrong(folder, documents, whole)) is not None:
        raise damaged(folder / wrong)


def intact(folder: Path) -> bool:
    return _wrong(folder, "", False) is None


def damaged(place: Path, why: str = "") -> InputError:
    more = f": {why}" if why else ""
    return InputError(
        say(f"索引が壊れています{more}", f"the index is damaged{more}"),
        place=str(place),
        remedy=say(
            "索引のフォルダーを消して、もう一度索引を作ってください",
            "delete the folder of the index and index again",
        ),
    )


@contextmanager
def telling(place: Path) -> Iterator[None]:
    """Turns SQLite errors (damaged, in use, disk full) into `InputError`."""
    try:
        yield
    except UnicodeDecodeError as error:  # its messages quote the file
        raise damaged(place, str(error)) from error
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _PASSING:
            raise damaged(place, str(error)) from error
        raise InputError(
            say(f"索引を使えません: {error}", f"the index cannot be used: {error}"),
            place=str(place),
        ) from error


def _wrong(folder: Path, documents: str, whole: bool) -> str | None:
    """The name of what has changed."""
    try:
        data = (folder / _SEAL).read_bytes()
    except FileNotFoundError:
        return _SEAL
    own, _, told = data.partition(b"\n")
    if own.decode("latin-1") != _of_bytes(told):
        return _SEAL
    known = json.loads(told)
    if known["documents"] != documents:
        return ""
    for name, (size, digest) in known["files"].items():
        path = folder / name
        try:
            now = path.stat()
        except FileNotFoundError:
            return str(name)
        look = whole or size <= _SMALL
        if now.st_size != size or (
            look and _cached_digest(path, now.st_ino, now.st_mtime_ns) != digest
        ):
            return str(name)
    return None


def _files(folder: Path) -> list[str]:
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if name != _SEAL)


def _of_bytes(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _of_file(path: Path) -> tuple[int, str]:
    return path.stat().st_size, _digest(path)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


@lru_cache(maxsize=1024)
def _cached_digest(path: Path, inode: int, changed: int) -> str:
    """Cached per process, since an index is opened for each set of groups."""
    return _digest(path)
