"""The head of a log: a list of every row that was committed, in a file beside it.

A line a row, written after COMMIT, so that the head never lists what is not there. What is
erased from a log must leave its head, too: the new list lies beside the old one
(`log.sqlite.head.next`) before the COMMIT of the erasure, and that transaction also writes a note
(`HEAD_KEY`) which the new list names. Whoever finds both knows by the note's digest which list is
the log's, wherever a process was killed, and puts it in its place.
"""

from __future__ import annotations

import errno
import io
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pydantic_core import to_json

from naisei.files import output_error, plain_file

#: The note of a log by which its head was made anew the last time.
HEAD_KEY = "head"
#: Of a row: its table, and what it is known by there.
Key = tuple[str | int, ...]

#: Bytes of a list that are read at once.
_PART = 1 << 16
#: Bytes of a line, at most.
_LONGEST = 1 << 20


class Entry(NamedTuple):
    """A line of the head. tokens, usd: what the row had cost, to say what its loss would."""

    key: Key
    chain: bytes
    tokens: int = 0
    usd: float = 0.0


def line(chain: bytes, tokens: int, usd: float | None, key: Key) -> bytes:
    """A line of the head."""
    return f"{chain.hex()} {tokens} {usd or 0} ".encode() + to_json(key) + b"\n"


def entries(head: Iterable[bytes]) -> tuple[list[Entry], int]:
    """The lines, and how many cannot be read."""
    found, unreadable = [], 0
    for each in head:
        if not each:
            continue
        try:
            chain, tokens, usd, key = each.decode().split(" ", 3)
            entry = Entry(tuple(json.loads(key)), bytes.fromhex(chain), int(tokens), float(usd))
            hash(entry)
        except (ValueError, TypeError, RecursionError):
            unreadable += 1
        else:
            found.append(entry)
    return found, unreadable


class Listed:
    """The lines of a list as they stood when it was opened; what is added later is not seen.

    Args:
        source: of the lines; a file is closed with this.
    """

    def __init__(self, source: BinaryIO | bytes) -> None:
        self._file = io.BytesIO(source) if isinstance(source, bytes) else source
        self._size = self._file.seek(0, os.SEEK_END)

    def __bool__(self) -> bool:
        return self._size > 0

    def __iter__(self) -> Iterator[bytes]:
        """Its lines, without their ends, a part of the file at a time."""
        left, rest = self._size, b""
        self._file.seek(0)
        while left and (part := self._file.read(min(left, _PART))):
            left -= len(part)
            *lines, rest = (rest + part).split(b"\n")
            yield from lines
            if len(rest) > _LONGEST:  # no line of ours: it would be copied with every part
                yield rest
                rest = b""
        yield rest

    def whole(self) -> bytes:
        self._file.seek(0)
        return self._file.read(self._size)

    def close(self) -> None:
        self._file.close()


class Lists(NamedTuple):
    """What lies beside a log. next: the list that is to take the place of the other, if there is
    one. files: changes when one of them is replaced."""

    head: Listed | None
    next: Listed | None
    files: tuple[int | None, int | None]

    def of(self, db: Any) -> Listed | None:
        """The one that belongs to the rows that a connection sees; `None` if there is none."""
        if self.next is not None:
            with suppress(sqlite3.Error):  # damaged, or of before there were digests: told later
                return self.next if _names(self.next, _mark(db)) else self.head
        return self.head

    def close(self) -> None:
        for each in (self.head, self.next):
            if each is not None:
                each.close()


def _mark(db: Any) -> bytes | None:
    """The digest of the note by which the head was made anew; `None` if it never was."""
    # All columns: in a log of before there were digests, the last one is the text of the note.
    found = db.execute("SELECT * FROM meta WHERE key = ?", (HEAD_KEY,)).fetchone()
    return found[-1] if found and isinstance(found[-1], bytes) else None


def _names(listed: Listed, mark: bytes | None) -> bool:
    return mark is not None and line(mark, 0, None, ("note", HEAD_KEY))[:-1] in iter(listed)


class Head:
    """The list of a log's rows, in a file beside it. Appending is one write, whoever writes.

    Args:
        path: of the log.
    """

    def __init__(self, log: Path) -> None:
        self.path = log.with_name(f"{log.name}.head")
        self._next = log.with_name(f"{log.name}.head.next")
        self._file = -1
        # What was committed and could not be listed yet, for a disk that is full.
        self._owed = b""
        #: By which note the list of now was made; empty while that is not known.
        self._mark: bytes | None = b""

    def open(self) -> None:
        """Before COMMIT of rows that `add` lists: their lines belong to the list of now, even if
        another process erases before they are written.

        Raises:
            OSError: it cannot be opened for another reason than a full or a broken disk.
        """
        if self._file >= 0:
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        plain_file(self.path)
        try:
            self._file = os.open(self.path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            _tolerate(error)

    def add(self, lines: bytes) -> None:
        """List rows that are committed. What cannot be written now is written with the next."""
        lines = self._owed + lines
        self._owed = b""
        written = 0
        try:
            self.open()
            if self._file >= 0:
                written = os.write(self._file, lines)
        except OSError as error:
            _tolerate(error)
        if written < len(lines):
            # Begins with a line end, so that a half line stays one.
            self._owed = b"\n" + lines[written:] if not written else b"\n" + lines

    def close(self) -> None:
        if self._owed:
            self.add(b"")
        self._shut()

    def _shut(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def prepare(self, lines: bytes) -> None:
        """In a transaction that writes the note `HEAD_KEY`, whose digest is in these lines: once
        it is committed, they are the list."""
        plain_file(self._next)
        try:
            # Half of it is harmless: nothing was committed that names it.
            with self._next.open("wb") as file:
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise output_error(error, self._next) from error

    def put(self) -> None:
        """What `prepare` left becomes the list."""
        self._next.replace(self.path)

    def settle(self, db: sqlite3.Connection) -> bool:
        """Put the list that `prepare` left in its place if its transaction was committed, and
        remove it if it was not. Within a transaction in which nobody else writes. Returns whether
        the list is another one than this object knew.

        Raises:
            InputError: it cannot be put there.
        """
        if (mark := _mark(db)) == self._mark:
            return False
        plain_file(self._next)
        try:
            with closing(Listed(self._next.open("rb"))) as listed:
                named = _names(listed, mark)
            if named:
                self.put()
            else:
                self._next.unlink()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise output_error(error, self.path) from error
        self._mark = mark
        # Rows that were owed are in the new list.
        self._owed = b""
        self._shut()
        return True

    def read(self) -> Lists:
        """What lies beside the log, before its rows are looked at."""
        files = self.files()
        # In this order: the next one becomes the head, never the other way.
        following = _listed(self._next)
        return Lists(_listed(self.path), following, files)

    def files(self) -> tuple[int | None, int | None]:
        """Changes when a file of `read` is replaced."""
        return _inode(self.path), _inode(self._next)


def _tolerate(error: OSError) -> None:
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG):
        raise error


def _listed(path: Path) -> Listed | None:
    plain_file(path)
    try:
        return Listed(path.open("rb"))
    except FileNotFoundError:
        return None


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None
