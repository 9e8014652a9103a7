"""PostgreSQL: connections of this process to one database, and locks that end with the process.

Data are in the schema `naisei`, created if missing. The password comes from the address, or from
where libpq finds it (`PGPASSWORD`, `~/.pgpass`); it is never stored.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from naisei.core import InputError, LogBusy
from naisei.files import plain_file, write_atomically
from naisei.lang import say

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

#: The file of a folder that names the database with its data.
STORE_FILE = "store.json"
#: The variable that holds the store, with its password.
_STORE = "NAISEI_STORE"
#: Maximum connections of a process, and seconds to wait for one.
_MOST, _WAIT = 32, 3.0
_open: dict[tuple[int, str], Database] = {}
_opening = threading.Lock()


def is_address(store: str) -> bool:
    """Whether a store is a database address."""
    return store.startswith(("postgresql://", "postgres://"))


def without_password(address: str) -> str:
    """The address without its password. Raises `InputError` if it is invalid."""
    try:
        parts = urlsplit(address)
    except ValueError:
        raise _no_address() from None
    user, at, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}"))


def _no_address() -> InputError:
    # The address is not in the message: the password may be anywhere in it.
    return InputError(
        say("保存先の書き方が違います", "is not an address of a store"),
        place="--store",
        remedy="postgresql://USER@HOST:5432/NAME",
    )


class Stored(BaseModel):
    """`store.json`. store: address without its password. name: of the data in the database."""

    model_config = ConfigDict(frozen=True)

    format: int = 1
    store: str
    name: str

    def write(self, folder: Path) -> None:
        text = json.dumps(self.model_dump(), ensure_ascii=False) + "\n"
        write_atomically(folder / STORE_FILE, text)


def stored_in(folder: Path) -> Stored | None:
    """The content of the folder's `store.json`, or `None`. Raises `InputError`."""
    path = folder / STORE_FILE
    plain_file(path)
    try:
        return Stored.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValidationError) as error:
        raise InputError(
            say(f"保存先の記録として読めません: {error}", f"names no store: {error}"),
            place=str(path),
        ) from error


def address_of(store: str) -> str:
    """The address with the password from `NAISEI_STORE`, if it is the same database."""
    known = os.environ.get(_STORE, "")
    return (
        known if is_address(known) and without_password(known) == without_password(store) else store
    )


def lock_number(*names: object) -> int:
    """The number of an advisory lock: 63 bits of a digest of its names."""
    digest = hashlib.blake2b("\n".join(map(str, names)).encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest()[:8]) >> 1


def database(address: str) -> Database:
    """The database at an address (`postgresql://USER@HOST:PORT/NAME`); one object per process.

    An address without a password matches a database opened before with one.

    Raises:
        InputError: no such address, or it cannot be reached.
    """
    if not is_address(address):
        raise _no_address()
    with _opening:
        key = (os.getpid(), without_password(address))
        if (found := _open.get(key)) is None:
            found = _open[key] = Database(address)
    found.prepare()
    return found


class Database:
    """Connections to one database, shared by the threads of a process; created by `database`."""

    def __init__(self, address: str) -> None:
        self.address, self.shown = address, without_password(address)
        self._lock = threading.RLock()
        self._pool: ConnectionPool[Connection[Any]] | None = None
        self._claims: Connection[Any] | None = None
        self._claimed: dict[int, None] = {}
        # Whether a connection was lost since the locks were last verified.
        self._lost = False
        self._prepared: set[str] = set()

    def prepare(self, name: str = "", make: str = "") -> None:
        """Create the schema and the tables of `make`, once. name: identifies these tables."""
        with self._lock:
            if name in self._prepared:
                return
            key, made = name or "schema", lock_number(_SCHEMA, make)
            with self.connection() as db, db.transaction():
                db.execute("SELECT pg_advisory_xact_lock(%s)", (lock_number("schema"),))
                if _versions(db).get(key) != made:
                    # Skipped if they exist, since it locks tables that other processes use.
                    db.execute(_SCHEMA)
                    if make:
                        db.execute(make)
                    db.execute(_VERSION, (key, made))
            self._prepared.add(name)

    @contextmanager
    def connection(self) -> Iterator[Connection[Any]]:
        """A context with an exclusive connection in autocommit mode.

        Raises:
            LogBusy: the database cannot be reached.
            InputError: the database refuses a statement.
        """
        import psycopg

        try:
            if self._lost:
                self._renew()
            with self._connections().connection(_WAIT) as db:
                yield db
        except psycopg.Error as error:
            self._lost |= isinstance(error, psycopg.OperationalError)
            raise self.input_error(error) from error

    def _connections(self) -> ConnectionPool[Connection[Any]]:
        from psycopg_pool import ConnectionPool

        with self._lock:
            if self._pool is None:
                # Connect once directly, since a pool hides the reason.
                self._connected().close()
                self._pool = ConnectionPool(
                    kwargs=self._settings(),
                    min_size=0,
                    max_size=_MOST,
                    configure=_configured,
                    check=ConnectionPool.check_connection,
                    timeout=_WAIT,
                    open=True,
                )
            return self._pool

    def _settings(self) -> dict[str, Any]:
        import psycopg

        return {
            "application_name": "naisei",
            # Detect a dead server.
            "connect_timeout": 5,
            "tcp_user_timeout": 10_000,
            **psycopg.conninfo.conninfo_to_dict(self.address),
            "autocommit": True,
        }

    def _connected(self) -> Connection[Any]:
        import psycopg

        db = psycopg.connect(**self._settings())
        _configured(db)
        return db

    def input_error(self, error: Exception) -> InputError:
        """A readable `InputError` for a psycopg error."""
        import psycopg

        secret = urlsplit(self.address).password
        said = str(error).replace(secret, "…") if secret else str(error)
        lines = said.strip().splitlines() or [type(error).__name__]
        state = getattr(error, "sqlstate", None) or ""
        lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        if lost and state[:2] not in ("28", "3D", "53"):
            return LogBusy(
                say(
                    f"データベースに接続できません: {lines[0]}",
                    f"the database cannot be reached: {lines[0]}",
                ),
                place=self.shown,
                remedy=say(
                    "動いていることを確かめて、同じコマンドをもう一度実行してください"
                    "（続きから始まります）",
                    "see that it runs, then give the same command again: it goes on from there",
                ),
            )
        return InputError(
            say(f"データベースのエラー: {lines[0]}", f"the database says: {lines[0]}"),
            place=self.shown,
        )

    def claim(self, number: int) -> bool:
        """Take an advisory lock until `unclaim`, or until this process or the database stops;
        returns whether it was free."""
        import psycopg

        with self._lock:
            if number in self._claimed:
                return False
            try:
                self._renew()
                assert self._claims is not None
                if not _locked(self._claims, number):
                    return False
            except psycopg.Error as error:
                raise self.input_error(error) from error
            self._claimed[number] = None
            return True

    def unclaim(self, number: int) -> None:
        """Release the lock. If the database is unreachable, it is released when the connection
        ends."""
        with self._lock:
            self._claimed.pop(number, None)
            if self._claims is not None:
                with suppress(Exception):
                    self._claims.execute("SELECT pg_advisory_unlock(%s)", (number,))

    def _renew(self) -> None:
        """Take the locks again after a lost connection. Locks taken by others meanwhile stay
        theirs: see `naisei.runs.postgres`."""
        with self._lock:
            self._lost = False
            if self._claims is not None:
                with suppress(Exception):
                    self._claims.execute("SELECT 1")
                    return
                self._claims = None
            self._claims = self._connected()
            for number in self._claimed:
                _locked(self._claims, number)

    def close(self) -> None:
        """Close idle connections and release all locks."""
        with self._lock:
            if self._pool is not None:
                self._pool.close()
            if self._claims is not None:
                with suppress(Exception):
                    self._claims.close()
            self._pool = self._claims = None


def _configured(db: Connection[Any]) -> None:
    db.execute("SET search_path = naisei, public")
    # Counts are summed as numerics, and Python integers are unbounded.
    db.adapters.register_loader("numeric", _number_loader())


def _versions(db: Connection[Any]) -> dict[str, int]:
    """Versions of the created tables by name."""
    if db.execute("SELECT to_regclass('naisei.versions')").fetchone() == (None,):
        return {}
    return dict(db.execute("SELECT name, number FROM naisei.versions").fetchall())


def _locked(db: Connection[Any], number: int) -> bool:
    found = db.execute("SELECT pg_try_advisory_lock(%s)", (number,)).fetchone()
    return found is not None and bool(found[0])


def _number_loader() -> type[Any]:
    from psycopg.adapt import Loader

    class NumberLoader(Loader):  # type: ignore[misc, unused-ignore]  # without the extra, Any
        """Loads an integer as `int`, any other number as `float`."""

        def load(self, data: Any) -> int | float:
            text = bytes(data).decode()
            return int(text) if text.lstrip("-").isdecimal() else float(text)

    return NumberLoader


_SCHEMA = """
CREATE SCHEMA IF NOT EXISTS naisei;
CREATE TABLE IF NOT EXISTS naisei.versions(name text PRIMARY KEY, number bigint NOT NULL);
"""
_VERSION = """
INSERT INTO naisei.versions VALUES (%s, %s) ON CONFLICT (name) DO UPDATE
SET number = excluded.number
"""
