"""The rows of one log in PostgreSQL, with the same guarantees as a file.

Logs of all runs share the tables; each sees its own rows through views selected by the transaction
setting `naisei.log`, so that both stores answer the same queries. PostgreSQL guarantees durability.
A writer of an episode holds an advisory lock, released with the process, and is recorded as owner:
a writer that lost its lock and connection cannot write after another took over.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei.core import EpisodeBusy, InputError
from naisei.core.events import claimed
from naisei.lang import say
from naisei.postgres import Database, database, lock_number
from naisei.runs import rows
from naisei.runs.integrity import Findings, verified_rows
from naisei.runs.lock import episode_busy, in_use
from naisei.runs.log import RunLog
from naisei.runs.rows import StepThere

if TYPE_CHECKING:
    from psycopg import Connection


def postgres_log(
    address: str,
    name: str,
    *,
    place: Path,
    read_only: bool = False,
    alone: bool = False,
    **how: Any,
) -> RunLog:
    """Open a `RunLog` in a database.

    Args:
        address: address of the database, `postgresql://…`.
        name: name of the log in it; created if missing, unless `read_only`.
        place: its name in errors and for `naisei runs check`.
        alone: hold the log exclusively until it is closed.
        how: `origin` and `check` of `RunLog`.

    Raises:
        InputError: as for `RunLog`; the database cannot be reached (`LogBusy`); or another
            process holds the log exclusively.
    """
    there = PostgresRows(address, name, place=place, make=not read_only, alone=alone)
    return RunLog(place, read_only=read_only, rows=there, **how)


class PostgresRows:
    """A `Rows` in a database; see `postgres_log`."""

    def __init__(
        self, address: str, name: str, *, place: Path, make: bool, alone: bool = False
    ) -> None:
        self.database: Database = database(address)
        self.database.prepare("logs", SCHEMA)
        self.name, self.place = name, place
        self.log = self._number(make=make)
        self._owner, self._owned = secrets.token_hex(16), set[str]()
        self._db: Connection[Any] | None = None
        self._erased = 0
        self._alone = lock_number(self.log, "alone") if alone else None
        if self._alone is not None and not self.database.claim(self._alone):
            self._alone = None
            raise in_use(place.parent)

    def _number(self, *, make: bool) -> int:
        with self.database.connection() as db:
            if make:
                add = "INSERT INTO logs(name) VALUES (%s) ON CONFLICT DO NOTHING"
                db.execute(add, (self.name,))
            found = db.execute("SELECT id FROM logs WHERE name = %s", (self.name,)).fetchone()
        if found is not None:
            return int(found[0])
        raise InputError(
            say(
                f"データベースに {self.name} の記録がありません",
                f"the database has no log {self.name}",
            ),
            place=self.database.shown,
            remedy=say("始めたときの --store を指定してください", "give the --store it began with"),
        )

    def verified(self) -> Findings:
        with self._within("ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            return verified_rows(self.execute)

    @contextmanager
    def transaction(self, *, erases: bool = False) -> Iterator[bool]:
        shared = "" if erases else "_shared"
        with self._within(lock=f"pg_advisory_xact_lock{shared}({-self.log:d})") as erased:
            others, self._erased = erased != self._erased, erased
            yield others
            if erases:
                self.execute("UPDATE logs SET erased = erased + 1 WHERE id = ?", (self.log,))
        if erases:
            with self.database.connection() as db:
                for table in TABLES:
                    db.execute(f"VACUUM log_{table}".encode())

    @contextmanager
    def _within(self, how: str = "", lock: str = "NULL") -> Iterator[int]:
        """Open a transaction; yields the number of erasures. lock: acquired first."""
        assert self._db is None
        with self.database.connection() as db:
            self._db = db
            try:
                # One round trip; several statements cannot be prepared.
                found = db.execute(
                    f"BEGIN {how}; SELECT set_config('naisei.log', '{self.log:d}', true), {lock};"
                    f" SELECT erased FROM logs WHERE id = {self.log:d}".encode(),
                    prepare=False,
                )
                while found.nextset():
                    pass
                yield (found.fetchone() or (0,))[0]
                db.execute("COMMIT")
            except BaseException:
                _rolled_back(db)
                raise
            finally:
                self._db = None

    def execute(self, query: str, values: Sequence[object] = ()) -> Any:
        """Return a cursor in the open transaction, else in a new one."""
        import psycopg

        query = query.replace("%", "%%").replace("?", "%s")
        if self._db is None:
            with self._within():
                return self._db.execute(query.encode(), values)  # type: ignore[attr-defined]
        try:
            return self._db.execute(query.encode(), values)
        except psycopg.errors.UniqueViolation:
            raise StepThere from None

    def select(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.execute(query, values).fetchall()
        return found

    def replace(self, table: str, values: Sequence[object]) -> None:
        key, columns = rows.TABLES[table]
        names = [*columns.split(", "), "checksum"]
        changed = [f"{n} = excluded.{n}" for n in names if n != key]
        if table == "episodes":
            changed.append("rowid = excluded.rowid")
        self.execute(
            f"INSERT INTO {table}({', '.join(names)}) VALUES ({','.join('?' * len(names))})"
            f" ON CONFLICT (log, {key}) DO UPDATE SET {', '.join(changed)}",
            values,
        )

    def check_writer(self, episode: str) -> None:
        if episode not in self._owned:
            return
        query = "SELECT owner FROM log_writers WHERE log = ? AND episode = ? FOR SHARE"
        if self.select(query, (self.log, episode)) not in ([], [(self._owner,)]):
            raise EpisodeBusy(
                say(
                    f"エピソード {episode} は別のプロセスが引き継ぎました",
                    f"another process has taken over the episode {episode}",
                ),
                place=str(self.place),
                remedy=say("続きから始め直してください", "start again: it goes on from there"),
            )

    @contextmanager
    def writing(self, episode: str) -> Iterator[None]:
        busy = episode_busy(self.place, episode)
        number = lock_number(self.log, episode)
        with claimed((self.database.shown, number), busy):
            if not self.database.claim(number):
                raise busy
            try:
                with self.transaction():
                    # If the database dies before this is on disk, nobody has taken over.
                    self.execute("SET LOCAL synchronous_commit = off")
                    self.execute(
                        "INSERT INTO log_writers(log, episode, owner) VALUES (?, ?, ?)"
                        " ON CONFLICT (log, episode) DO UPDATE SET owner = excluded.owner",
                        (self.log, episode, self._owner),
                    )
                self._owned.add(episode)
                yield
            finally:
                self._owned.discard(episode)
                self.database.unclaim(number)

    def close(self) -> None:
        if self._alone is not None:
            self.database.unclaim(self._alone)
            self._alone = None


def _rolled_back(db: Connection[Any]) -> None:
    import psycopg

    try:
        db.execute("ROLLBACK")
    except psycopg.Error:  # the connection is lost, and the transaction with it
        db.close()


_KINDS = {"TEXT": "text", "INTEGER": "bigint", "REAL": "double precision"}
#: Tables with rows of a log, and their columns except the log number.
TABLES = {
    "meta": "key, value, checksum",
    "texts": "id, digest, text",
    "events": f"seq, {rows.EVENT}, checksum",
    "episodes": f"{rows.EPISODE}, checksum, rowid",
    "lost": f"seq, {rows.LOST}, checksum",
    "exchanges": f"seq, {rows.EXCHANGE}, checksum",
    "writers": "episode, owner",
}
#: Keys of rows within a log.
_KEYS = {
    "meta": "key",
    "texts": "digest",
    "events": "episode, path",
    "episodes": "episode",
    "writers": "episode",
}
_NUMBERED = ("seq", "id", "rowid")
_LOG = "current_setting('naisei.log')::bigint"


def _table(name: str, columns: str) -> str:
    in_bytes = ("checksum", "digest", "text") if name == "texts" else ("checksum",)
    names = columns.split(", ")
    lines = [
        f"{n} bigint GENERATED BY DEFAULT AS IDENTITY"
        if n in _NUMBERED
        else f"{n} {'bytea' if n in in_bytes else _KINDS[rows.column_type(n)]}"
        for n in names
    ]
    lines.append(f"log bigint NOT NULL DEFAULT {_LOG} REFERENCES naisei.logs ON DELETE CASCADE")
    numbered = next((n for n in names if n in _NUMBERED), "")
    if key := _KEYS.get(name):
        lines.append(f"UNIQUE (log, {key})")
    made = f"CREATE TABLE IF NOT EXISTS naisei.log_{name}({', '.join(lines)});\n"
    if numbered:
        by = "episode, seq" if name == "events" else numbered
        made += f"CREATE INDEX IF NOT EXISTS {name}_in_order ON naisei.log_{name}(log, {by});\n"
    if name != "writers":
        made += (
            f"CREATE OR REPLACE VIEW naisei.{name} AS SELECT {columns}, log FROM naisei.log_{name}"
            f" WHERE log = {_LOG};\n"
        )
    return made


SCHEMA = f"""
CREATE TABLE IF NOT EXISTS naisei.logs(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text UNIQUE NOT NULL,
  erased bigint NOT NULL DEFAULT 0, made timestamptz NOT NULL DEFAULT now());
{"".join(_table(name, columns) for name, columns in TABLES.items())}
"""
