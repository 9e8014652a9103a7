"""The log of a run, or of a server, in PostgreSQL: rows, digests and promises as in a file.

Logs of all runs share the tables; each sees its own rows through views that go by a setting of the
connection (`naisei.log`), so that whatever reads a log asks the same of both stores. The head is a
table, written in the transaction of the rows that it lists: it tells of rows that somebody changed
or took away, while it is PostgreSQL's own matter that what was committed stays.

Who writes an episode holds an advisory lock, which ends with the process, and is its owner by name:
one that lost the lock together with its connection, while another took over, writes nothing more.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from naisei.core import EpisodeBusy, Event, InputError, LogBusy, Usage
from naisei.core.events import claimed
from naisei.lang import say
from naisei.postgres import database, lock_number
from naisei.runs import chain
from naisei.runs.head import Listed
from naisei.runs.log import RunLog
from naisei.runs.postgres_rows import SCHEMA, TABLES, Rows, StoredTexts, TableHead
from naisei.runs.task import EpisodeRow
from naisei.runs.verification import Findings, verified

if TYPE_CHECKING:
    from psycopg import Connection


class PostgresLog(RunLog):
    """A `RunLog` in a database.

    Args:
        address: of the database, `postgresql://…`.
        name: of the log in it; made if it is not there, unless `read_only`.
        place: what errors name, and `naisei runs check` is told to look at.
        read_only, origin, check: see `RunLog`.
        alone: nobody else opens it so, until it is closed.

    Raises:
        InputError: as `RunLog`; where the database cannot be reached (`LogBusy`); somebody else
            has the log alone.
    """

    _db: Any
    _head: Any

    def __init__(
        self,
        address: str,
        name: str,
        *,
        place: Path,
        read_only: bool = False,
        origin: str | None = None,
        check: bool = True,
        alone: bool = False,
    ) -> None:
        self.database = database(address)
        self.database.prepare("logs", SCHEMA)
        self.name, self.path, self.notes = name, place, []
        self._lock = threading.RLock()
        self._copy = self._copied = None
        self._origin, self._read_only = origin or "", read_only
        self._any_origin = origin is None
        self._last: dict[str, bytes] = {}
        self._version = 0
        self._chained, self._open = True, False
        self._owner = secrets.token_hex(16)
        self._owned: set[str] = set()
        self._erasing = False
        # Of which steps it is not known whether they were kept: the connection was lost.
        self._unsure: set[tuple[str, str]] = set()
        number = self._number(make=not read_only)
        self._db = cast(Any, Rows(self.database, number))
        self._alone = lock_number(number, "alone") if alone else None
        if self._alone is not None and not self.database.claim(self._alone):
            raise _in_use(place)
        self._head = TableHead(self._db)
        self._texts = StoredTexts(self._db)
        try:
            if not read_only and self.get(chain.CHAIN_KEY) is None:
                self.put(chain.CHAIN_KEY, {"format": 1, "origin": self._origin})
            if check or not read_only:
                self._check()
        except BaseException:
            self.close()
            raise

    def _number(self, *, make: bool) -> int:
        def find(db: Connection[Any]) -> int | None:
            query = "SELECT id FROM logs WHERE name = %s"
            found = db.execute(query, (self.name,)).fetchone()
            if found is None and make:
                add = "INSERT INTO logs(name) VALUES (%s) ON CONFLICT DO NOTHING"
                db.execute(add, (self.name,))
                found = db.execute(query, (self.name,)).fetchone()
            return None if found is None else int(found[0])

        if (number := self.database.again(find)) is None:
            raise InputError(
                say(
                    f"データベースに {self.name} の記録がありません",
                    f"the database has no log {self.name}",
                ),
                place=self.database.shown,
                remedy=say(
                    "始めたときの --store を指定してください", "give the --store it began with"
                ),
            )
        return number

    def verified(self) -> Findings:
        """All of it held against its digests. Writes nothing."""
        with self._lock, self.database.telling():
            self._same_origin()
            self._db.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                listed = self._head.read()
                return verified(self._db, self._origin, listed, chained=True, structure=False)
            finally:
                self._db.end("ROLLBACK")

    def check_kinds(self) -> None:
        """The columns have types: there is nothing to check."""

    @contextmanager
    def writing(self, episode: str) -> Iterator[None]:
        """Within, nobody else writes the episode. Raises `EpisodeBusy` if somebody does."""
        busy = EpisodeBusy(
            say(
                f"エピソード {episode} は、いま別の呼び出しが進めています",
                f"another call is running the episode {episode}",
            ),
            place=str(self.path),
            remedy=say(
                "終わってから呼び直すと、その結果が返ります。二度実行されることはありません",
                "call again when it has ended: you get its result, and nothing is done twice",
            ),
        )
        number = lock_number(self._db.log, episode)
        with claimed((self.database.shown, number), busy):
            if not self.database.claim(number):
                raise busy
            try:
                with self._transaction() as (db, _):
                    # Where the database dies before this is on its disk, nobody has taken over.
                    db.execute("SET LOCAL synchronous_commit = off")
                    db.execute(
                        "INSERT INTO log_writers(log, episode, owner) VALUES (?, ?, ?)"
                        " ON CONFLICT (log, episode) DO UPDATE SET owner = excluded.owner",
                        (self._db.log, episode, self._owner),
                    )
                self._owned.add(episode)
                yield
            finally:
                self._owned.discard(episode)
                self.database.unclaim(number)

    def _begun(self) -> Any:
        import psycopg

        try:
            self._db.begin(alone=self._erasing)
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            told = self._told(error)
            if isinstance(told, LogBusy):
                # It may have come back by now.
                self.database.renew()
                self._db.begin(alone=self._erasing)
            else:
                raise told from error
        # Others write this log, too.
        self._last.clear()
        return self._db

    def _link(self, episode: str) -> bytes:
        # Of one episode one at a time: each row is chained to the one before.
        self._db.hold(lock_number(self._db.log, episode, "write"))
        query = (
            "SELECT (SELECT owner FROM log_writers WHERE log = ? AND episode = ?),"
            " (SELECT chain FROM events WHERE episode = ? ORDER BY seq DESC LIMIT 1)"
        )
        ((owner, last),) = self._db.execute(query, (self._db.log, episode, episode))
        if episode in self._owned and owner not in (None, self._owner):
            raise EpisodeBusy(
                say(
                    f"エピソード {episode} は別のプロセスが引き継ぎました",
                    f"another process has taken over the episode {episode}",
                ),
                place=str(self.path),
                remedy=say("続きから始め直してください", "start again: it goes on from there"),
            )
        if (known := self._last.get(episode)) is not None:
            return known
        return chain.genesis(self._origin, episode) if last is None else bytes(last)

    def _commit(self, lines: bytes) -> None:
        if lines:
            self._head.add(lines)
        self._db.end("COMMIT")

    @staticmethod
    def _step_is_there() -> type[Exception]:
        from psycopg.errors import UniqueViolation

        violation: type[Exception] = UniqueViolation
        return violation

    def _undo(self, error: BaseException) -> NoReturn:
        import psycopg

        self._roll_back()
        if isinstance(error, psycopg.Error):
            raise self._told(error) from error
        raise error

    def _roll_back(self) -> None:
        self._texts.forget()
        self._last.clear()
        self._db.end("ROLLBACK")

    def _told(self, error: Exception) -> Exception:
        return self.database.told(error)

    def append(self, event: Event) -> None:
        step = event.where.episode, event.where.step
        try:
            super().append(event)
        except LogBusy:
            # The connection may have been lost after the commit.
            self._unsure.add(step)
            raise
        except EpisodeBusy:
            if step not in self._unsure or not self._holds(event):
                raise
        self._unsure.discard(step)

    def _holds(self, event: Event) -> bool:
        return any(
            kept.where == event.where
            and kept.digest == event.digest
            and kept.result == event.result
            for kept in self.read(event.where.episode)
        )

    def finish(self, row: EpisodeRow, lost: Iterable[Usage] = ()) -> None:
        name, costs = row.where.episode, tuple(lost)
        failure = row.failure.replace("\0", "\N{REPLACEMENT CHARACTER}")
        if (name, "") in self._unsure and self._ended(row):
            costs = ()  # kept with what was
        try:
            super().finish(replace(row, failure=failure), costs)
        except LogBusy:
            self._unsure.add((name, ""))
            raise
        self._unsure.discard((name, ""))

    def _ended(self, row: EpisodeRow) -> bool:
        kept = self.rows().get(row.where.episode)
        return kept is not None and (kept.result, kept.failure) == (row.result, row.failure)

    def erase(
        self,
        *,
        instances: Sequence[str] = (),
        keys: Sequence[str] = (),
        prefixes: Sequence[str] = (),
        requests: str = "",
    ) -> None:
        """As `RunLog.erase`. Copies that the database made meanwhile (backups, replicas, its own
        log) are its operator's."""
        self._erasing = True
        try:
            self._erased(instances, keys, prefixes, requests)
        finally:
            self._erasing = False
        with self.database.connection() as db:
            for table in TABLES:
                db.execute(f"VACUUM log_{table}".encode())

    def _relinked(self, db: Any) -> None:
        self._head.replace(chain.relinked(db, self._origin))

    def head(self) -> bytes:
        listed: Listed = self._head.read()
        return listed.whole()

    def _has_exchanges(self) -> bool:
        return True

    def select(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock, self.database.telling():
            found: list[tuple[Any, ...]] = self._db.execute(query, values).fetchall()
            return found

    def made_anew(self, fill: Callable[[Any], None]) -> str:
        old = f"{self.name}.damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        with self._lock, self.database.telling():
            self._db.begin(alone=True)
            try:
                before = self._db.log
                rename = "UPDATE logs SET name = ? WHERE id = ?"
                self._db.execute(rename, (old, before))
                new = self._db.execute(
                    "INSERT INTO logs(name) VALUES (?) RETURNING id", (self.name,)
                )
                self._db.turn_to(int(new[0][0]))
                fill(self._db)
                self._relinked(self._db)
                self._db.end("COMMIT")
            except BaseException:
                self._db.end("ROLLBACK")
                raise
        return old

    def close(self) -> None:
        """The log cannot be used afterwards."""
        with self._lock:
            self._db.end("ROLLBACK")
            if self._alone is not None:
                self.database.unclaim(self._alone)
                self._alone = None


def _in_use(place: Path) -> InputError:
    return InputError(
        say(
            "別のプロセスがこの実行を進めています",
            "another process is working on this run",
        ),
        place=str(place.parent),
        remedy=say(
            "終わるのを待つか、止めるか、別の --run-dir を指定してください",
            "wait for it, stop it, or give another --run-dir",
        ),
    )
