"""A text stored between conversations, in a file or a database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from naisei.core import InputError
from naisei.files import output_error, write_atomically
from naisei.lang import say
from naisei.postgres import database

if TYPE_CHECKING:
    from psycopg import Connection


class KeptText(Protocol):
    """A stored text. place: its name in messages."""

    @property
    def place(self) -> str: ...

    def read(self) -> str | None:
        """The text, or `None`. Raises `InputError` if it cannot be read."""
        ...

    def change(self, change: Callable[[str | None], str | None]) -> None:
        """Replace the text with `change(text)` atomically; `None` removes it. Raises `InputError`
        if it cannot be written."""
        ...


#: Held while a file is changed, for a few milliseconds.
_changing = threading.Lock()


class _FileText:
    """A file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def place(self) -> str:
        return str(self.path)

    def read(self) -> str | None:
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                say(f"読めません: {error}", f"cannot be read: {error}"), place=self.place
            ) from error

    def change(self, change: Callable[[str | None], str | None]) -> None:
        """Concurrent changes by two processes may lose one of them."""
        with _changing:
            before = self.read()
            after = change(before)
            try:
                if after is None:
                    self.path.unlink(missing_ok=True)
                elif after != before:
                    self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    write_atomically(self.path, after)
                    self.path.chmod(0o600)
            except OSError as error:
                raise output_error(error, self.path) from error


class _StoredText:
    """A text in a database, by name."""

    def __init__(self, address: str, name: str) -> None:
        self._database, self.name = database(address), name
        self._database.prepare("kept", _SCHEMA)

    @property
    def place(self) -> str:
        return f"{self._database.shown} {self.name}"

    def read(self) -> str | None:
        with self._database.connection() as db:
            return self._text(db)

    def _text(self, db: Connection[Any]) -> str | None:
        found = db.execute("SELECT text FROM kept WHERE name = %s", (self.name,)).fetchone()
        return None if found is None else bytes(found[0]).decode()

    def change(self, change: Callable[[str | None], str | None]) -> None:
        with self._database.connection() as db, db.transaction():
            # A row that does not exist yet cannot be locked.
            db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (self.name,))
            after = change(self._text(db))
            if after is None:
                db.execute("DELETE FROM kept WHERE name = %s", (self.name,))
            else:
                db.execute(
                    "INSERT INTO kept VALUES (%s, %s)"
                    " ON CONFLICT (name) DO UPDATE SET text = excluded.text",
                    (self.name, after.encode()),
                )


#: Bytes, since PostgreSQL's `text` cannot contain NUL.
_SCHEMA = "CREATE TABLE IF NOT EXISTS naisei.kept(name text PRIMARY KEY, text bytea NOT NULL)"


def kept_text(place: Path | KeptText) -> KeptText:
    """The text at a path; a `KeptText` is returned unchanged."""
    return _FileText(place) if isinstance(place, Path) else place


def kept_at(folder: Path, name: str, store: str | None = None) -> KeptText:
    """`folder/name`; with a store, in the database under the folder's name."""
    if store is None:
        return _FileText(folder / name)
    return _StoredText(store, f"{folder.name}/{name}")
