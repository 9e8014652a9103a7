"""The log of a run: one SQLite file that survives a killed process, and tells when it is damaged.

Events are the truth; results of episodes, and what was spent on failed ones, stand beside
them. Each write is one transaction in WAL mode: with `synchronous=NORMAL` it outlives the
process (kill -9), though the last ones may not outlive the machine losing power. WAL needs
a local file system: a network share will not do. Rows are chained by digests, and listed beside
the log (`naisei.runs.chain`): what is lost or changed is told when the log is opened.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, TypeVar

from pydantic import JsonValue

from naisei import files
from naisei.core import EpisodeBusy, Event, InputError, LogBusy, Usage, Where
from naisei.lang import say
from naisei.runs import chain, ledger
from naisei.runs.head import HEAD_KEY, Head, Lists, line
from naisei.runs.ledger import Ledger, Spent, Texts
from naisei.runs.lock import locked, writing
from naisei.runs.task import EpisodeRow
from naisei.runs.verification import Damage, Findings, verified

T = TypeVar("T")
#: How many objects of this process write a log, by its path.
_open_here: Counter[Path] = Counter()
#: Seconds that another program may hold the file while something is to be written.
_PATIENCE = 10.0
#: Milliseconds of a try, of which nothing else is done in an event loop.
_LONGEST_WAIT = 20
#: Seconds between two tries.
_AGAIN = 0.05


async def patiently(write: Callable[[], T]) -> T:
    """What `write` returns, once the log is not locked by another program; the event loop goes on
    meanwhile.

    Raises:
        LogBusy: it stays locked.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return write()
        except LogBusy:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(_AGAIN)


class RunLog:
    """A `SharedLog` in a file, with the results of episodes.

    Any number of objects and processes may have it open; each episode has one writer at a
    time (`writing`), and holds each step once.

    Args:
        path: the file; made if it is not there, unless `read_only`.
        read_only: for looking at a run, even while another process writes it.
        origin: what the chain begins with, the digest of the frozen configuration; whatever the
            log says by default.
        check: hold all of it against its digests first. Without, only what is read is.

    `notes`: what a reader should know of a log that is sound as far as it can be told.

    Raises:
        InputError: the file cannot be opened, is no run log or is damaged. From any method that
            writes: the disk is full, cannot be written, or another process keeps the file locked
            (`LogBusy`: within an event loop at once, else after ten seconds); what was to be
            written is not in the log then, neither whole nor in part.
    """

    def __init__(
        self, path: Path, *, read_only: bool = False, origin: str | None = None, check: bool = True
    ) -> None:
        self.path = path
        self.notes: list[str] = []
        # Handlers may log from worker threads; the connection is shared under a lock.
        self._lock = threading.RLock()
        self._copy: TemporaryDirectory[str] | None = None
        #: What lay beside the log when the copy was made.
        self._copied: Lists | None = None
        self._origin, self._read_only = origin or "", read_only
        self._any_origin = origin is None
        self._head = Head(path)
        self._last: dict[str, bytes] = {}
        self._version = 0
        # Whether the connection was closed because it could not take back a transaction.
        self._broken = False
        self._waits = _LONGEST_WAIT
        with self._opening():
            if read_only:
                live = _open_here[path.absolute()] > 0 or locked(path.parent)
                self._look(live=live)
            else:
                with closing(self._head.read()) as began:
                    self._db = _writer(path)
                _open_here[path.absolute()] += 1
                self._open = True
        self._texts = Texts(self._db)
        try:
            with self._opening():
                if read_only:
                    self._chained = ledger.check_schema(self._db)
                else:
                    self._prepare(began)
                if check or not read_only:
                    self._check()
        except BaseException:
            self.close()
            raise

    def _look(self, *, live: bool) -> None:
        """Open for reading. Of a copy, what the head was when it was made is remembered."""
        for _ in range(5):
            # Before the rows: it never lists what is not there.
            lists = self._head.read()
            self._db, self._copy = files.read_only(self.path, live=live)
            if self._copy is None:
                lists.close()
                return
            if lists.files == self._head.files():
                self._copied = lists
                return
            lists.close()
            self._db.close()
            self._copy.cleanup()
        raise sqlite3.OperationalError("it is being written too fast to be copied")

    @contextmanager
    def _opening(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                say(f"実行の記録を開けません: {error}", f"cannot open the run log: {error}"),
                place=str(self.path),
            ) from error
        except ValueError as error:
            raise self._foreign(str(error)) from error

    def _foreign(self, what: str) -> InputError:
        return InputError(
            say(f"実行の記録ではない中身があります: {what}", f"holds what no run log does: {what}"),
            place=str(self.path),
            remedy=say(
                f"`naisei runs check {self.path.parent}` で確かめられます",
                f"`naisei runs check {self.path.parent}` tells more",
            ),
        )

    def _prepare(self, began: Lists) -> None:
        """The tables, and digests for a log of before there were any. began: what lay beside the
        log before it was opened."""
        db = self._db
        if not began.head and not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            self._head.add(b"")
            db.executescript(f"BEGIN IMMEDIATE; {ledger.SCHEMA}; COMMIT")
        elif not ledger.check_schema(db):
            with self._transaction() as (db, _):
                self._relinked(db)
            self._settle()
        elif began.next is not None:
            self._settle()
        self._chained = True
        try:
            db.executescript(ledger.UNIQUE_STEPS)
        except sqlite3.IntegrityError:
            db.execute(ledger.EPISODES_INDEX)
        if self.get(chain.CHAIN_KEY) is None:
            self.put(chain.CHAIN_KEY, {"format": 1, "origin": self._origin})

    def verified(self) -> Findings:
        """All of it held against its digests. Writes nothing."""
        self._same_origin()
        while True:
            lists = self._copied or self._head.read()
            self._db.execute("BEGIN")
            try:
                found = verified(self._db, self._origin, lists.of(self._db), chained=self._chained)
            finally:
                if self._copied is None:
                    lists.close()
                if self._read_only:
                    with suppress(sqlite3.Error):  # nothing was written
                        self._db.execute("ROLLBACK")
                else:
                    self._roll_back()
            # Else another process erased meanwhile, and these are the rows of afterwards.
            if not found.damages or self._copied or lists.files == self._head.files():
                return found

    def check_kinds(self) -> None:
        """Only whether all rows are such as a log has: a small part of the time of `verified`.

        Raises:
            InputError: they are not.
        """
        with self._opening():
            ledger.check_rows(self._db)

    def _check(self) -> None:
        found = self.verified()
        if found.chained and not self._read_only:
            # Going on would hide that the head is missing.
            found.damages += [Damage(note) for note in found.notes]
        found.refuse(self.path)
        self.notes += found.notes
        self._last = found.last

    def _same_origin(self) -> None:
        """Raises `InputError` where the chain begins with another configuration. A note that is
        itself damaged is told of later."""
        note = self.get(chain.CHAIN_KEY)
        known = note.get("origin") if isinstance(note, dict) else None
        if not isinstance(known, str):
            return
        if self._any_origin:
            self._origin = known
        if known == self._origin:
            return
        link = chain.row_link(chain.genesis(known, ""), (), (chain.CHAIN_KEY, ledger.dump(note)))
        if self.select("SELECT 1 FROM meta WHERE key = ? AND chain = ?", (chain.CHAIN_KEY, link)):
            raise InputError(
                say(
                    "config.json がこの記録を始めたときのものではありません",
                    "config.json is not the one that this log began with",
                ),
                place=str(self.path.parent),
                remedy=say(
                    "元に戻すか、`naisei runs repair` で今の config.json を受け入れてください",
                    "put the old one back, or accept this one by `naisei runs repair`",
                ),
            )

    def writing(self, episode: str) -> AbstractContextManager[None]:
        """Within, nobody else writes the episode. Raises `EpisodeBusy` if somebody does."""
        return writing(self.path, episode)

    def _begin(self) -> sqlite3.Connection:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return self._begun()
            except LogBusy:
                if _in_a_loop() or time.monotonic() > until:
                    raise
            time.sleep(_AGAIN)

    def _begun(self) -> sqlite3.Connection:
        """The connection, in a transaction in which nobody else writes. Raises `LogBusy`."""
        try:
            self._sound()
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if _is_busy(error):
                self._wait(0)
                raise self._told(error) from error
            raise
        self._wait(_LONGEST_WAIT)
        # Another connection wrote meanwhile: what is remembered of the chain may be older.
        (version,) = self._db.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._last.clear()
            if self._head.settle(self._db):
                # Another process erased: texts that were met may be gone.
                self._texts.forget()
            self._version = version
        return self._db

    def _wait(self, milliseconds: int) -> None:
        """How long SQLite waits for another program. None at all while one is known to hold the
        file: many who wait for it in an event loop would leave that no time."""
        if milliseconds != self._waits and not self._broken:
            self._db.execute(f"PRAGMA busy_timeout={milliseconds}")
            self._waits = milliseconds

    def _undo(self, error: BaseException) -> NoReturn:
        """Whatever went wrong, COMMIT too: nothing of the transaction was stored, and nothing of
        it is remembered."""
        self._roll_back()
        if isinstance(error, sqlite3.Error):
            raise self._told(error) from error
        raise error

    def _roll_back(self) -> None:
        self._texts.forget()
        self._last.clear()
        if not self._broken and self._db.in_transaction:
            try:
                self._db.execute("ROLLBACK")
            except sqlite3.Error:
                # In no state to go on from: closing rolls back, too.
                self._db.close()
                self._broken = True

    def _sound(self) -> None:
        """Opens the file again where the connection was in no state to go on with; the disk may
        have been full for longer. Raises `sqlite3.Error`."""
        if self._broken:
            self._db = self._texts.db = _writer(self.path)
            self._version, self._broken, self._waits = -1, False, _LONGEST_WAIT

    def _told(self, error: sqlite3.Error) -> Exception:
        told = files.database_error(error, self.path)
        if told is not None and _is_busy(error):
            return LogBusy(told.message, place=told.place, remedy=told.remedy)
        return told or error

    @contextmanager
    def _transaction(self) -> Iterator[tuple[sqlite3.Connection, list[bytes]]]:
        """With the lines that its rows have in the head."""
        lines: list[bytes] = []
        with self._lock:
            try:
                yield self._begin(), lines
                self._commit(b"".join(lines))
            except BaseException as error:
                self._undo(error)

    def append(self, event: Event) -> None:
        """Returns when the event survives a killed process. Raises `EpisodeBusy` if the step is
        there already: somebody wrote it who did not ask for `writing`."""
        with self._lock:
            try:
                db = self._begin()
                texts = self._texts
                texts.digests.clear()
                row = ledger.event_row(event, texts)
                episode, path, used = row[0], row[3], event.usage
                link = chain.event_link(self._link(episode), texts.digests, row)
                db.execute(ledger.INSERT_EVENT, (*row, link))
                cost = (0, None) if used is None else (used.tokens, used.usd)
                lines = line(link, *cost, ("event", episode, path))
                lines += self._exchanged(db, episode, path, used, link)
                self._commit(lines)
            except self._step_is_there() as error:
                self._roll_back()
                raise EpisodeBusy(
                    say(
                        f"{event.where} はすでに記録されています",
                        f"{event.where} is in the log already",
                    ),
                    place=str(self.path),
                    remedy=say("続きから始め直してください", "start again: it goes on from there"),
                ) from error
            except BaseException as error:
                self._undo(error)
            self._last[episode] = link

    @staticmethod
    def _step_is_there() -> type[Exception]:
        """What the database raises for a second event at one step."""
        return sqlite3.IntegrityError

    def _commit(self, lines: bytes) -> None:
        """lines: of the head, for the rows of the transaction."""
        self._head.open()
        self._db.execute("COMMIT")
        self._head.add(lines)

    def _link(self, episode: str) -> bytes:
        """The digest of the episode's last event."""
        if (known := self._last.get(episode)) is None:
            found = self._db.execute(
                "SELECT chain FROM events WHERE episode = ? ORDER BY seq DESC LIMIT 1", (episode,)
            ).fetchone()
            known = chain.genesis(self._origin, episode) if found is None else bytes(found[0])
        return known

    def read(self, episode: str) -> list[Event]:
        """The events of an episode, in the order they were appended.

        Raises:
            InputError: they are not as they were recorded.
        """
        column = ", chain" if self._chained else ""
        found = self.select(
            f"SELECT {ledger.EVENT}{column} FROM events WHERE episode = ? ORDER BY seq", (episode,)
        )
        events, texts = [], _Cached(self._texts)
        before = chain.genesis(self._origin, episode)
        with self._lock:
            for row in found:
                try:
                    if self._chained:
                        used = [texts.get(n)[0] for n in chain.references(row[6], row[7])]
                        if chain.event_link(before, used, row[:-1]) != row[-1]:
                            raise ValueError("digest")
                        before, row = row[-1], row[:-1]
                    events.append(ledger.event(row, texts))
                except (LookupError, TypeError, ValueError, RecursionError) as error:
                    raise self._damaged(f"{episode} {row[3]}") from error
        return events

    def _damaged(self, where: str) -> InputError:
        return InputError(
            say(f"記録が壊れています: {where}", f"the record is damaged: {where}"),
            place=str(self.path),
            remedy=say(
                f"`naisei runs check {self.path.parent}` で確かめられます",
                f"`naisei runs check {self.path.parent}` tells more",
            ),
        )

    def finish(self, row: EpisodeRow, lost: Iterable[Usage] = ()) -> None:
        """Store an episode's outcome. lost: what failed effects cost that left no event."""
        where, now = row.where, time.time()
        name = where.episode
        result = None if row.result is None else ledger.dump(row.result)
        failure = row.failure.encode("utf-8", "replace").decode()
        begin = chain.genesis(self._origin, name)
        with self._transaction() as (db, lines):
            after = self._link(name)
            kept = (name, where.instance, where.trial, result, failure, now)
            link = chain.row_link(begin, (), (*kept, after.hex()))
            db.execute(ledger.INSERT_EPISODE, (*kept, after, link))
            lines.append(line(link, 0, None, ("episode", name)))
            for usage in lost:
                cost = (name, now, *ledger.usage_row(usage.wasted()))
                link = chain.row_link(begin, (), cost)
                seq = db.execute(ledger.INSERT_LOST, (*cost, link)).lastrowid or 0
                lines.append(line(link, usage.tokens, usage.usd, ("lost", seq)))
                lines.append(self._exchanged(db, name, None, usage, begin))

    def _exchanged(
        self,
        db: sqlite3.Connection,
        episode: str,
        path: str | None,
        usage: Usage | None,
        before: bytes,
    ) -> bytes:
        """Store what went over the line; its line in the head. before: what it is chained to."""
        if usage is None or not (usage.sent or usage.cached_input or usage.reasoning):
            return b""
        self._texts.digests.clear()
        row = ledger.exchange_row(episode, path, usage, self._texts)
        link = chain.row_link(before, self._texts.digests, row)
        seq = db.execute(ledger.INSERT_EXCHANGE, (*row, link)).lastrowid or 0
        return line(link, 0, None, ("exchange", seq))

    def _has_exchanges(self) -> bool:
        """Logs of earlier versions have none."""
        return bool(self.select("SELECT 1 FROM sqlite_master WHERE name = 'exchanges'"))

    def sent(self, episode: str, step: str | None = None) -> list[tuple[str, str, JsonValue]]:
        """What went over the line in an episode, or at a step of it: step (empty for failed tries
        that left no event), role, and each request as it was sent with the raw reply, in order."""
        if not self._has_exchanges():
            return []
        there, at = ("", ()) if step is None else (" AND path = ?", (step,))
        found = self.select(
            f"SELECT path, role, sent FROM exchanges WHERE episode = ?{there} ORDER BY seq",
            (episode, *at),
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
        found = self.select("SELECT episode, instance, trial, result, failure FROM episodes")
        used: dict[str, list[Usage]] = {row[0]: [] for row in found}
        for episode, usage in self._usages():
            if episode in used:
                used[episode].append(usage)
        return {
            episode: EpisodeRow(
                Where(instance, trial),
                None if result is None else self.loaded(result, episode),
                failure,
                tuple(used[episode]),
            )
            for episode, instance, trial, result, failure in found
        }

    def result(self, episode: str) -> JsonValue:
        """The result of an episode; `None` while it is not scored."""
        found = self.select("SELECT result FROM episodes WHERE episode = ?", (episode,))
        return None if not found or found[0][0] is None else self.loaded(found[0][0], episode)

    def _usages(self) -> Iterator[tuple[str, Usage]]:
        """What effects cost, failed ones included, by episode, role and model."""
        for table in ("events", "lost"):
            for episode, *row in self.select(ledger.USED.format(table)):
                if (usage := ledger.usage(tuple(row))) is not None:
                    yield episode, usage

    def counts(self) -> tuple[int, int, int]:
        """Scored episodes, failed episodes, events."""
        ((events,),) = self.select("SELECT count(*) FROM events")
        return (*self.outcomes(), int(events))

    def outcomes(self) -> tuple[int, int]:
        """Scored episodes, failed episodes: at once, however many events there are."""
        ((done, all_),) = self.select("SELECT count(result), count(*) FROM episodes")
        return int(done), int(all_ - done)

    def known_episodes(self) -> list[str]:
        """Every episode of which anything was recorded."""
        found = self.select(
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
        """The rows of a SELECT, for what looks at a run in ways of its own.

        Raises:
            InputError: the file cannot be read.
        """
        with self._lock:
            try:
                self._sound()
                return self._db.execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise self._told(error) from error

    def loaded(self, text: str, where: str) -> JsonValue:
        """JSON of the log. Raises `InputError` if it is none. where: for the message."""
        try:
            found: JsonValue = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise self._damaged(where) from error
        return found

    def unpacked(self, text: str) -> JsonValue:
        """A `request` or `result` as stored, with its long texts in place."""
        with self._lock:
            try:
                return self._texts.unpack(json.loads(text))
            except (LookupError, TypeError, ValueError, RecursionError) as error:
                raise self._damaged("texts") from error

    def get(self, key: str) -> JsonValue:
        """A note kept with the run; `None` if there is none of this name."""
        found = self.select("SELECT value FROM meta WHERE key = ?", (key,))
        return self.loaded(found[0][0], key) if found else None

    def put(self, key: str, value: JsonValue) -> None:
        text = ledger.dump(value)
        link = chain.row_link(chain.genesis(self._origin, ""), (), (key, text))
        with self._transaction() as (db, lines):
            db.execute(ledger.INSERT_NOTE, (key, text, link))
            lines.append(line(link, 0, None, ("note", key)))

    def erase(
        self,
        *,
        instances: Sequence[str] = (),
        keys: Sequence[str] = (),
        prefixes: Sequence[str] = (),
        requests: str = "",
    ) -> None:
        """Take away what was recorded of people, beyond recovery: whole episodes of these
        instances, notes by key or prefix, and the words of the requests of episodes whose name
        begins with `requests`. The only thing that changes a log: its digests and its head are
        made anew."""
        with self._lock:
            try:
                self._sound()
                self._db.execute("PRAGMA secure_delete=ON")
                self._erased(instances, keys, prefixes, requests)
                self._settle()
            except sqlite3.Error as error:
                raise self._told(error) from error

    def _settle(self) -> None:
        """After COMMIT of an erasure, by this process or by one that was killed: nothing of what
        was erased left in the WAL, and then the new head in its place."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._version = -1
        try:
            self._begin()
        finally:
            self._roll_back()

    def _erased(
        self,
        instances: Sequence[str],
        keys: Sequence[str],
        prefixes: Sequence[str],
        requests: str,
    ) -> None:
        """As `erase`, in one transaction, with the head of what is left."""
        with self._transaction() as (db, _):
            for instance in instances:
                found = db.execute(
                    "SELECT DISTINCT episode FROM events WHERE instance = ?", (instance,)
                ).fetchall()
                for (episode,) in found:
                    for table in ("events", "episodes", "lost", "exchanges"):
                        db.execute(f"DELETE FROM {table} WHERE episode = ?", (episode,))
            db.executemany("DELETE FROM meta WHERE key = ?", ((key,) for key in keys))
            for prefix in prefixes:
                db.execute("DELETE FROM meta WHERE substr(key, 1, ?) = ?", (len(prefix), prefix))
            if requests:
                db.execute(
                    """UPDATE events SET request = '{"question":""}', digest = '' """
                    "WHERE substr(episode, 1, ?) = ?",
                    (len(requests), requests),
                )
            self._texts.sweep()
            self._relinked(db)

    def _relinked(self, db: sqlite3.Connection) -> None:
        """All digests and the head anew, in the transaction that is open."""
        note = (HEAD_KEY, ledger.dump(secrets.token_hex(8)))
        db.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", note)
        self._head.prepare(chain.rechained(db, self._origin))

    def head(self) -> bytes:
        """The list of its rows as it stands (`naisei.runs.head`)."""
        with closing(self._head.read()) as lists:
            listed = lists.of(self._db)
            return b"" if listed is None else listed.whole()

    def made_anew(self, fill: Callable[[Any], None]) -> str:
        """Put a log in the place of this one, which stays under the name that is returned. fill:
        makes its rows, without their digests. Of a file, `naisei.runs.repair` does it.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Folds the WAL into the file. The log cannot be used afterwards."""
        with self._lock:
            if not self._read_only:
                _open_here.subtract([self.path.absolute()] if self._open else [])
                self._open = False
            self._head.close()
            self._db.close()
            if self._copied is not None:
                self._copied.close()
            if self._copy is not None:
                self._copy.cleanup()


class _Cached(Texts):
    """Each text read once: for one look at an episode, whose events share their long texts."""

    def __init__(self, texts: Texts) -> None:
        super().__init__(texts.db)
        self._read: dict[int, tuple[bytes, str]] = {}

    def get(self, number: int) -> tuple[bytes, str]:
        if number not in self._read:
            self._read[number] = super().get(number)
        return self._read[number]


def _is_busy(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _writer(path: Path) -> sqlite3.Connection:
    for end in ("", "-wal", "-shm", ".writers"):
        files.plain_file(path.with_name(f"{path.name}{end}"))
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA busy_timeout=10000")
        files.untrusting(db)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        # 16 MB of WAL between checkpoints: a fifth less time an append than the default.
        db.execute("PRAGMA wal_autocheckpoint=4000")
        # From here on whoever writes waits by itself: it may have other work meanwhile.
        db.execute(f"PRAGMA busy_timeout={_LONGEST_WAIT}")
    except sqlite3.Error:
        db.close()
        raise
    return db
