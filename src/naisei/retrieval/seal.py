"""Digests of an index generation: changed files and rows are detected and rejected. Not a
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

from naisei.core import InputError, fingerprint
from naisei.lang import say

_SEAL = "seal.json"
#: Bytes. Larger files are verified only when the folder is indexed again, since each search would
#: wait for a full read.
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
    """An 8-byte digest."""
    told = repr(values).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(told, digest_size=8).digest()


def of_rows(rows: Iterable[Sequence[object]]) -> str:
    """Digest of rows, independent of their order."""
    return hashlib.blake2b("".join(sorted(map(repr, rows))).encode(), digest_size=16).hexdigest()


def seal(folder: Path, documents: str) -> None:
    """documents: `of_rows` of the stored document rows."""
    files: dict[str, tuple[int, str]] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        now = path.stat()
        name = path.relative_to(folder).as_posix()
        files[name] = now.st_size, _digest(path, now.st_ino, now.st_mtime_ns)
    told = json.dumps({"documents": documents, "files": files})
    (folder / _SEAL).write_text(f"{fingerprint(told)}\n{told}", encoding="utf-8")


def check(folder: Path, documents: str, *, whole: bool = False) -> None:
    """Verify the seal. whole: include large files.

    Raises:
        InputError: something has changed.
    """
    try:
        own, _, told = (folder / _SEAL).read_bytes().decode("latin-1").partition("\n")
        if own != fingerprint(told):
            raise damaged(folder / _SEAL)
        known = json.loads(told)
        if known["documents"] != documents:
            raise damaged(folder)
        for name, (size, digest) in known["files"].items():
            now = (folder / name).stat()
            if now.st_size != size or (
                (whole or size <= _SMALL)
                and _digest(folder / name, now.st_ino, now.st_mtime_ns) != digest
            ):
                raise damaged(folder / name)
    except FileNotFoundError as error:
        raise damaged(Path(error.filename)) from error


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
    """Turn SQLite errors (damaged, in use, disk full) into `InputError`."""
    try:
        yield
    except UnicodeDecodeError as error:  # SQLite quotes the file
        raise damaged(place, str(error)) from error
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _PASSING:
            raise damaged(place, str(error)) from error
        raise InputError(
            say(f"索引を使えません: {error}", f"the index cannot be used: {error}"),
            place=str(place),
        ) from error


@lru_cache(maxsize=1024)
def _digest(path: Path, inode: int, changed: int) -> str:
    """Cached per process, since an index is opened again for each set of groups."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
