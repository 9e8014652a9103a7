"""The log of a run: one SQLite file that survives a killed process.

Events are the truth; results of episodes, and what was spent on failed ones, stand beside
them. Each write is one transaction in WAL mode: with `synchronous=NORMAL` it outlives the
process (kill -9), though the last ones may not outlive the machine losing power. WAL needs
a local file system: a network share will not do.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import JsonValue

from naisei import files
from naisei.core import EpisodeBusy, Event, InputError, Usage, Where
from naisei.lang import say
from naisei.runs import ledger
from naisei.runs.ledger import Ledger, Spent, Texts
from naisei.runs.lock import writing
from naisei.runs.task import EpisodeRow

__all__ = ["RunLog"]


class RunLog:
    """A `SharedLog` in a file, with the results of episodes.

    Any number of objects and processes may have it open; each episode has one writer at a
    time (`writing`), and holds each step once.

    Args:
        path: the file; made if it is not there, unless `read_only`.
        read_only: for looking at a run, even while another process writes it.

    Raises:
        InputError: the file cannot be opened or is no run log. From any method that writes:
            the disk is full, cannot be written, or another process keeps the file locked;
            what was to be written is not in the log then, neither whole nor in part.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        # Handlers may log from worker threads; the connection is shared under a lock.
        self._lock = threading.RLock()
        self._copy: TemporaryDirectory[str] | None = None
        try:
            if read_only:
                self._db, self._copy = files.read_only(path)
                self._db.execute("SELECT 1 FROM episodes LIMIT 1")
            else:
                self._db = _writer(path)
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                say(f"実行の記録を開けません: {error}", f"cannot open the run log: {error}"),
                place=str(path),
            ) from error
        self._texts = Texts(self._db)

    def writing(self, episode: str) -> AbstractContextManager[None]:
        """Within, nobody else writes the episode. Raises `EpisodeBusy` if somebody does."""
        return writing(self.path, episode)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield self._db
                self._db.execute("COMMIT")
            except BaseException as error:
                # A COMMIT may fail like any other: whatever it was, nothing was stored.
                self._texts.forget()
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise files.database_error(error, self.path) or error from error
                raise

    def append(self, event: Event) -> None:
        """Returns when the event survives a killed process. Raises `EpisodeBusy` if the step is
        there already: somebody wrote it who did not ask for `writing`."""
        try:
            with self._transaction() as db:
                db.execute(ledger.INSERT_EVENT, ledger.event_row(event, self._texts))
                self._exchanged(db, event.where.episode, event.where.step, event.usage)
        except sqlite3.IntegrityError as error:
            raise EpisodeBusy(
                say(
                    f"{event.where} はすでに記録されています",
                    f"{event.where} is in the log already",
                ),
                place=str(self.path),
                remedy=say("続きから始め直してください", "start again: it goes on from there"),
            ) from error

    def read(self, episode: str) -> list[Event]:
        """The events of an episode, in the order they were appended."""
        with self._lock:
            found = self._db.execute(
                f"{ledger.SELECT_EVENTS} WHERE episode = ? ORDER BY seq", (episode,)
            )
            return [ledger.event(row, self._texts) for row in found.fetchall()]

    def finish(self, row: EpisodeRow, lost: Iterable[Usage] = ()) -> None:
        """Store an episode's outcome. lost: what failed effects cost that left no event."""
        where, now = row.where, time.time()
        result = None if row.result is None else ledger.dump(row.result)
        failure = row.failure.encode("utf-8", "replace").decode()
        with self._transaction() as db:
            db.execute(
                "INSERT OR REPLACE INTO episodes VALUES (?,?,?,?,?,?)",
                (where.episode, where.instance, where.trial, result, failure, now),
            )
            for usage in lost:
                cost = ledger.usage_row(usage.wasted())
                db.execute(ledger.INSERT_LOST, (where.episode, now, *cost))
                self._exchanged(db, where.episode, None, usage)

    def _exchanged(
        self, db: sqlite3.Connection, episode: str, path: str | None, usage: Usage | None
    ) -> None:
        if usage is not None and (usage.sent or usage.cached_input or usage.reasoning):
            row = ledger.exchange_row(episode, path, usage, self._texts)
            db.execute(ledger.INSERT_EXCHANGE, row)

    def _has_exchanges(self) -> bool:
        """Logs of earlier versions have none."""
        return bool(self.select("SELECT 1 FROM sqlite_master WHERE name = 'exchanges'"))

    def sent(self, episode: str) -> list[tuple[str, str, JsonValue]]:
        """What went over the line in an episode: step (empty for failed tries that left no
        event), role, and each request as it was sent with the raw reply, in order."""
        if not self._has_exchanges():
            return []
        found = self.select(
            "SELECT path, role, sent FROM exchanges WHERE episode = ? ORDER BY seq", (episode,)
        )
        return [(path or "", role, self.unpacked(sent)) for path, role, sent in found]

    def left_out(self) -> list[tuple[str, str, str]]:
        """Model, role and the sampling parameters that it did not take."""
        if not self._has_exchanges():
            return []
        return self.select(
            "SELECT DISTINCT model, role, left_out FROM exchanges WHERE left_out != ''"
            " ORDER BY model, role"
        )

    def rows(self) -> dict[str, EpisodeRow]:
        """Outcomes by episode, scored or failed, each with what it cost."""
        with self._lock:
            found = self._db.execute(
                "SELECT episode, instance, trial, result, failure FROM episodes"
            ).fetchall()
            used: dict[str, list[Usage]] = {row[0]: [] for row in found}
            for episode, usage in self._usages():
                if episode in used:
                    used[episode].append(usage)
        return {
            episode: EpisodeRow(
                Where(instance, trial),
                None if result is None else json.loads(result),
                failure,
                tuple(used[episode]),
            )
            for episode, instance, trial, result, failure in found
        }

    def result(self, episode: str) -> JsonValue:
        """The result of an episode; `None` while it is not scored."""
        with self._lock:
            row = self._db.execute(
                "SELECT result FROM episodes WHERE episode = ?", (episode,)
            ).fetchone()
        return None if row is None or row[0] is None else json.loads(row[0])

    def _usages(self) -> Iterator[tuple[str, Usage]]:
        """What each effect cost, failed ones included, with its episode, in order."""
        for table in ("events", "lost"):
            for episode, *row in self._db.execute(
                f"SELECT episode, {ledger.USAGE} FROM {table} WHERE role IS NOT NULL ORDER BY seq"
            ):
                if (usage := ledger.usage(tuple(row))) is not None:
                    yield episode, usage

    def counts(self) -> tuple[int, int, int]:
        """Scored episodes, failed episodes, events."""
        with self._lock:
            done, all_ = self._db.execute("SELECT count(result), count(*) FROM episodes").fetchone()
            (events,) = self._db.execute("SELECT count(*) FROM events").fetchone()
        return int(done), int(all_ - done), int(events)

    def known_episodes(self) -> list[str]:
        """Every episode of which anything was recorded."""
        with self._lock:
            found = self._db.execute(
                "SELECT episode FROM events UNION SELECT episode FROM episodes ORDER BY 1"
            )
            return [episode for (episode,) in found]

    def ledger(self) -> Ledger:
        """What the run has cost so far."""
        found = Ledger()
        for role, model, unpriced, *sums in self.select(ledger.SPENT):
            found.roles.setdefault(role, Spent()).add(unpriced, *sums)
            if unpriced:
                found.unpriced.add(model)
        if self._has_exchanges():
            cost = "role, total(cached_input), total(reasoning)"
            for role, cached, reasoning in self.select(
                f"SELECT {cost} FROM exchanges GROUP BY role"
            ):
                spent = found.roles.setdefault(role, Spent())
                spent.cached_input, spent.reasoning = int(cached), int(reasoning)
        return found

    def select(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a SELECT, for what looks at a run in ways of its own."""
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def unpacked(self, text: str) -> JsonValue:
        """A `request` or `result` as stored, with its long texts in place."""
        with self._lock:
            return self._texts.unpack(json.loads(text))

    def get(self, key: str) -> JsonValue:
        """A note kept with the run; `None` if there is none of this name."""
        with self._lock:
            row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def put(self, key: str, value: JsonValue) -> None:
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, ledger.dump(value)))

    def close(self) -> None:
        """Folds the WAL into the file. The log cannot be used afterwards."""
        with self._lock:
            self._db.close()
            if self._copy is not None:
                self._copy.cleanup()


def _writer(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA busy_timeout=10000")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        # 16 MB of WAL between checkpoints: a fifth less time an append than the default.
        db.execute("PRAGMA wal_autocheckpoint=4000")
        db.executescript(ledger.SCHEMA)
        try:
            db.executescript(ledger.UNIQUE_STEPS)
        except sqlite3.IntegrityError:
            db.execute(ledger.EPISODES_INDEX)
    except sqlite3.Error:
        db.close()
        raise
    return db
