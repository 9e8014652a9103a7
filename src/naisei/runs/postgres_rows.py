"""The rows of one log in PostgreSQL: tables, and as much of a connection as a log asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from naisei.postgres import Database
from naisei.runs import ledger
from naisei.runs.head import Listed
from naisei.runs.ledger import Texts

if TYPE_CHECKING:
    from psycopg import Connection


class Rows:
    """What a log asks of its database, as `sqlite3.Connection` has it, of the rows of one log."""

    def __init__(self, database: Database, log: int) -> None:
        self.database, self.log = database, log
        self._db: Connection[Any] | None = None

    @property
    def in_transaction(self) -> bool:
        return self._db is not None

    def begin(self, how: str = "", *, alone: bool = False) -> None:
        """A transaction. how: of one that writes nothing. alone: while nobody else writes the
        log."""
        assert self._db is None
        db = self._db = self.database.take()
        try:
            what = f"set_config('naisei.log', '{self.log:d}', true)"
            if not how:
                kind = "" if alone else "_shared"
                what += f", pg_advisory_xact_lock{kind}({-self.log:d})"
            # One round trip; several statements cannot be prepared.
            db.execute(f"BEGIN {how}; SELECT {what}".encode(), prepare=False)
        except BaseException:
            self.end("ROLLBACK")
            raise

    def hold(self, number: int) -> None:
        """Within a transaction: wait for an advisory lock, and hold it until the end."""
        self.execute("SELECT pg_advisory_xact_lock(?)", (number,))

    def turn_to(self, log: int) -> None:
        """Within a transaction: from here on it is about another log."""
        self.log = log
        assert self._db is not None
        self._db.execute(_SET, (str(log),))

    def end(self, how: str) -> None:
        """COMMIT or ROLLBACK; nothing where there is no transaction."""
        db, self._db = self._db, None
        if db is None:
            return
        try:
            db.execute(how.encode())
        except Exception:
            db.close()
            if how == "COMMIT":
                raise
        finally:
            self.database.give(db)

    def execute(self, query: str, values: Sequence[object] = ()) -> _Found:
        if query == ledger.INSERT_TEXT:
            values = [*values[:2], str(values[2]).encode()]
        query = _DIALECT.get(query, query)
        if query.startswith(_IGNORE):
            query = f"INSERT INTO {query.removeprefix(_IGNORE)} ON CONFLICT DO NOTHING"
        query = query.replace("%", "%%").replace("?", "%s")

        def work(db: Connection[Any]) -> _Found:
            done = db.execute(query.encode(), values)
            return _Found(done.fetchall() if done.description else ())

        if self._db is not None:
            return work(self._db)

        def alone(db: Connection[Any]) -> _Found:
            # Of the transaction, not of the connection: a pooler between may give another one.
            with db.transaction():
                db.execute(_SET, (str(self.log),))
                return work(db)

        return self.database.again(alone)

    def executemany(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        for row in rows:
            self.execute(query, row)


class _Found(list[tuple[Any, ...]]):
    """The rows that a statement gave."""

    def fetchone(self) -> tuple[Any, ...] | None:
        return self.pop(0) if self else None

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self

    @property
    def lastrowid(self) -> int | None:
        return int(self[0][0]) if self else None


class TableHead:
    """As `naisei.runs.head.Head`, in a table."""

    def __init__(self, db: Rows) -> None:
        self._db = db

    def add(self, lines: bytes) -> None:
        """Within the transaction of the rows."""
        self._db.execute("INSERT INTO heads(lines) VALUES (?)", (lines,))

    def replace(self, lines: bytes) -> None:
        self._db.execute("DELETE FROM heads")
        self.add(lines)

    def read(self) -> Listed:
        found = self._db.execute("SELECT lines FROM heads ORDER BY seq")
        return Listed(b"".join(lines for (lines,) in found))

    def close(self) -> None:
        pass


class StoredTexts(Texts):
    """Texts as UTF-8: a `text` of PostgreSQL holds no NUL."""

    def _stored(self, digest: bytes, text: str) -> int:
        (number,) = self.db.execute(
            "INSERT INTO texts(digest, text) VALUES (?, ?) ON CONFLICT (log, digest)"
            " DO UPDATE SET digest = excluded.digest RETURNING id",
            (digest, text.encode()),
        ).fetchone()
        return int(number)


#: Tables whose rows belong to a log, and their columns beside its number.
_INT, _REAL, _TEXT, _BYTES = "bigint", "double precision", "text", "bytea"
_KINDS = {
    **dict.fromkeys(("seq", "id", "trial", "calls", "attempts", "input_tokens"), _INT),
    **dict.fromkeys(("output_tokens", "cached", "repaired", "lost_input", "lost_output"), _INT),
    **dict.fromkeys(("cached_input", "reasoning"), _INT),
    **dict.fromkeys(("seconds", "at", "usd"), _REAL),
    **dict.fromkeys(("chain", "after", "lines"), _BYTES),
}
TABLES = {
    "meta": "key, value, chain",
    "texts": "id, digest, text",
    "events": f"seq, {ledger.EVENT}, chain",
    "episodes": f"{ledger.EPISODE}, chain, rowid",
    "lost": f"seq, {ledger.LOST}, chain",
    "exchanges": f"seq, {ledger.EXCHANGE}, chain",
    "heads": "seq, lines",
    "writers": "episode, owner",
}
#: What identifies a row within its log.
_KEYS = {"meta": "key", "texts": "digest", "events": "episode, path", "episodes": "episode"}
_KEYS |= {"writers": "episode"}
_NUMBERED = ("seq", "id", "rowid")


def _table(name: str, columns: str) -> str:
    kinds = {**_KINDS, **(dict.fromkeys(("digest", "text"), _BYTES) if name == "texts" else {})}
    names = [column.strip() for column in columns.split(",")]
    lines = [
        f"{n} bigint GENERATED BY DEFAULT AS IDENTITY"
        if n in _NUMBERED
        else f"{n} {kinds.get(n, _TEXT)}"
        for n in names
    ]
    lines.append(f"log bigint NOT NULL DEFAULT {_LOG} REFERENCES naisei.logs ON DELETE CASCADE")
    numbered = next((n for n in names if n in _NUMBERED), "")
    if key := _KEYS.get(name):
        lines.append(f"UNIQUE (log, {key})")
    index = ""
    if numbered:
        by = "episode, seq" if name == "events" else numbered
        index = f"CREATE INDEX IF NOT EXISTS {name}_in_order ON naisei.log_{name}(log, {by});"
    view = (
        ""
        if name == "writers"
        else (
            f"CREATE OR REPLACE VIEW naisei.{name} AS SELECT {columns}, log FROM naisei.log_{name}"
            f" WHERE log = {_LOG};"
        )
    )
    return f"CREATE TABLE IF NOT EXISTS naisei.log_{name}({', '.join(lines)});\n{index}\n{view}\n"


#: The log that a transaction is about.
_SET = "SELECT set_config('naisei.log', %s, true)"
_LOG = "current_setting('naisei.log')::bigint"
#: Beside the tables, what SQLite has and PostgreSQL has not.
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS naisei.logs(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text UNIQUE NOT NULL,
  made timestamptz NOT NULL DEFAULT now());
{"".join(_table(name, columns) for name, columns in TABLES.items())}
CREATE OR REPLACE FUNCTION naisei.max(bigint, bigint) RETURNS bigint IMMUTABLE LANGUAGE sql
  AS 'SELECT greatest($1, $2)';
CREATE OR REPLACE FUNCTION naisei.instr(text, text) RETURNS integer IMMUTABLE LANGUAGE sql
  AS 'SELECT strpos($1, $2)';
CREATE OR REPLACE FUNCTION naisei.json_each(text) RETURNS TABLE(value text) IMMUTABLE LANGUAGE sql
  AS 'SELECT * FROM json_array_elements_text($1::json)';
CREATE OR REPLACE FUNCTION naisei.plus(double precision, double precision)
  RETURNS double precision IMMUTABLE LANGUAGE sql AS 'SELECT $1 + coalesce($2, 0)';
DO $$ BEGIN
  CREATE AGGREGATE naisei.total(double precision)
    (SFUNC = naisei.plus, STYPE = double precision, INITCOND = '0');
EXCEPTION WHEN duplicate_function THEN NULL;
END $$;
"""


def _upsert(table: str, columns: str) -> str:
    names = [column.strip() for column in columns.split(",")]
    key = _KEYS[table]
    changed = ", ".join(f"{n} = excluded.{n}" for n in names if n != key)
    return (
        f"INSERT INTO {table}({columns}) VALUES ({','.join('?' * len(names))})"
        f" ON CONFLICT (log, {key}) DO UPDATE SET {changed}"
    )


_IGNORE = "INSERT OR IGNORE INTO "
#: Statements of SQLite in the words of PostgreSQL.
_DIALECT = {
    ledger.INSERT_NOTE: _upsert("meta", "key, value, chain"),
    ledger.INSERT_EPISODE: _upsert("episodes", f"{ledger.EPISODE}, chain"),
    ledger.INSERT_LOST: f"{ledger.INSERT_LOST} RETURNING seq",
    ledger.INSERT_EXCHANGE: f"{ledger.INSERT_EXCHANGE} RETURNING seq",
}
