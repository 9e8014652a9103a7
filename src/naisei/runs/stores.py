"""Where the log of a run is: a file in its directory, or a database that `store.json` there names.

A run's log stays where it began, whatever `--store` says later. The address is kept without its
password, which comes from `NAISEI_STORE`, or from where libpq finds it.
"""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from naisei.runs.log import RunLog

if TYPE_CHECKING:
    from naisei.postgres import Stored

#: The log of a run that is a file.
LOG = "log.sqlite"
#: Names the database, if the log is in one.
_STORE_FILE = "store.json"


def begin_log(directory: Path, store: str | None, *, name: str, origin: str) -> None:
    """The log of a directory that is being made. store: address of a database; `None`: a file.

    Raises:
        InputError: the store cannot be used.
    """
    if store is None:
        RunLog(directory / LOG, origin=origin).close()
        return
    from naisei.postgres import Stored, database, shown

    database(store)
    Stored(store=shown(store), name=f"{name}-{secrets.token_hex(6)}").write(directory)


def in_database(directory: Path) -> bool:
    """Whether the log of a run directory is in a database."""
    return _stored(directory) is not None


def _stored(directory: Path) -> Stored | None:
    if not os.path.lexists(directory / _STORE_FILE):
        return None
    from naisei.postgres import stored_in

    return stored_in(directory)


def open_log(
    directory: Path,
    *,
    read_only: bool = False,
    origin: str | None = None,
    check: bool = True,
    alone: bool = False,
) -> RunLog:
    """The log of a run directory; see `RunLog`. alone: as whoever writes it is."""
    if (stored := _stored(directory)) is None:
        return RunLog(directory / LOG, read_only=read_only, origin=origin, check=check)
    from naisei.postgres import address_of
    from naisei.runs.postgres import postgres_log

    return postgres_log(
        address_of(stored.store),
        stored.name,
        place=directory / _STORE_FILE,
        read_only=read_only,
        origin=origin,
        check=check,
        alone=alone or not read_only,
    )


def log_state(directory: Path) -> tuple[object, ...]:
    """Changes with what is in the log of a run directory."""
    if in_database(directory):
        with closing(open_log(directory, read_only=True, check=False)) as log:
            newest = ("max(seq)", "events"), ("max(rowid)", "episodes"), ("max(seq)", "lost")
            return tuple(log.select(f"SELECT {what} FROM {table}")[0] for what, table in newest)
    names = (LOG, f"{LOG}-wal")
    stats = [(directory / name).stat() if (directory / name).exists() else None for name in names]
    return tuple(s and (s.st_ino, s.st_size, s.st_mtime_ns) for s in stats)


def remove(directory: Path) -> None:
    """A run directory and its log. Raises `OSError`, and `InputError` where its store cannot be
    reached: then nothing is removed."""
    if (stored := _stored(directory)) is not None:
        from naisei.postgres import address_of, database

        with database(address_of(stored.store)).connection() as db:
            if db.execute("SELECT to_regclass('naisei.logs')").fetchone() != (None,):
                db.execute("DELETE FROM naisei.logs WHERE name = %s", (stored.name,))
    shutil.rmtree(directory)
