"""Long strings of a log are kept once: system prompts, vectors and memos repeat."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import OrderedDict

from pydantic import JsonValue

__all__ = ["Texts"]

#: A reference to a stored text is this mark and its number; so is any string that
#: happens to begin with the mark.
_MARK = "\x00"
_LONG = 160
_REMEMBERED = 50_000


class Texts:
    """The table `texts`: content-addressed strings. Not thread-safe; see `RunLog`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: OrderedDict[bytes, int] = OrderedDict()

    def forget(self) -> None:
        """After a rollback: what was remembered may not be stored."""
        self._known.clear()

    def pack(self, value: JsonValue) -> JsonValue:
        """The value with its long strings replaced by references."""
        if isinstance(value, str):
            return self._put(value) if len(value) > _LONG or value.startswith(_MARK) else value
        if isinstance(value, list):
            return [self.pack(v) for v in value]
        if isinstance(value, dict):
            return {k: self.pack(v) for k, v in value.items()}
        return value

    def unpack(self, value: JsonValue) -> JsonValue:
        """The value as it was before `pack`."""
        if isinstance(value, str):
            return self._get(value) if value.startswith(_MARK) else value
        if isinstance(value, list):
            return [self.unpack(v) for v in value]
        if isinstance(value, dict):
            return {k: self.unpack(v) for k, v in value.items()}
        return value

    def _put(self, text: str) -> str:
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        number = self._known.get(digest)
        if number is None:
            number = self._stored(digest, text)
            self._known[digest] = number
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return f"{_MARK}{number}"

    def _stored(self, digest: bytes, text: str) -> int:
        found = self._db.execute("SELECT id FROM texts WHERE digest = ?", (digest,)).fetchone()
        if found is not None:
            return int(found[0])
        done = self._db.execute("INSERT INTO texts(digest, text) VALUES (?, ?)", (digest, text))
        return int(done.lastrowid or 0)

    def _get(self, reference: str) -> str:
        number = int(reference[len(_MARK) :])
        (text,) = self._db.execute("SELECT text FROM texts WHERE id = ?", (number,)).fetchone()
        return str(text)
