"""Every statement that a log makes, and every file that takes the place of another, seen before
and after: for what lets one of them fail, or kills the process there.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

#: Is told the number of a statement from 0, its SQL (`replace` for a file in the
#: place of another), the connection if there is one, and whether it is done. May raise,
#: or not come back.
Act = Callable[[int, str, sqlite3.Connection | None, bool], None]
#: Of a write: its name, the connection if there is one, and what does it.
See = Callable[[str, sqlite3.Connection | None, Callable[[], Any]], Any]


class _Seen(sqlite3.Connection):
    """One whose statements are seen."""

    see: See

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        return type(self).see(sql, self, partial(super().execute, sql, *values))

    def executemany(self, sql: str, *values: Any) -> sqlite3.Cursor:
        return type(self).see(sql, self, partial(super().executemany, sql, *values))

    def executescript(self, sql: str) -> sqlite3.Cursor:
        return type(self).see(sql, self, partial(super().executescript, sql))

    def __exit__(self, *error: Any) -> Any:
        return type(self).see("COMMIT", self, partial(super().__exit__, *error))


@contextmanager
def seen_by(act: Act) -> Iterator[See]:
    """Within, connections that are opened are seen. Gives what makes others seen."""
    number = -1
    connect, replace = sqlite3.connect, os.replace

    def see(sql: str, db: sqlite3.Connection | None, done: Callable[[], Any]) -> Any:
        nonlocal number
        number += 1
        mine = number
        act(mine, sql, db, False)
        found = done()
        act(mine, sql, db, True)
        return found

    class Seen(_Seen):
        pass

    def opened(*given: Any, **options: Any) -> sqlite3.Connection:
        return connect(*given, **{"factory": Seen, **options})

    def replaced(*given: Any) -> None:
        see("replace", None, partial(replace, *given))

    Seen.see = staticmethod(see)
    sqlite3.connect, os.replace = opened, replaced  # type: ignore[assignment]
    try:
        yield see
    finally:
        sqlite3.connect, os.replace = connect, replace
