"""The log of a run: events are authoritative; results of episodes and costs of failures are stored
with them. Each write is one transaction, which survives a killed process.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from pydantic import JsonValue

from naisei.core import EpisodeBusy, Event, InputError, LogBusy, Usage
from naisei.lang import say
from naisei.runs import rows
from naisei.runs.integrity import Findings, digest_anew, row_digest
from naisei.runs.reading import LogReader
from naisei.runs.rows import Rows, StepThere
from naisei.runs.sqlite_rows import SqliteRows
from naisei.runs.task import EpisodeRow

#: Key of the log note with the digest of the configuration.
ORIGIN_KEY = "origin"


class RunLog(LogReader):
    """A `SharedLog` with the results of episodes.

    Any number of objects and processes may open it; each episode has one writer at a
    time (`writing`), and contains each step once.

    Args:
        path: the file; created if missing, unless `read_only`.
        read_only: open for reading, even while another process writes.
        origin: digest of the frozen configuration, stored as a note in the log; by default
            any is accepted.
        check: verify all digests first; otherwise only those of events that are read.
        rows: storage to use instead of the file.

    Raises:
        InputError: the log cannot be opened, is not a log or is damaged. From any method that
            writes: the disk is full or read-only, or another process holds the file (`LogBusy`:
            immediately within an event loop, else after ten seconds); nothing is written then.
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        origin: str | None = None,
        check: bool = True,
        rows: Rows | None = None,
    ) -> None:
        super().__init__(rows or SqliteRows(path, read_only=read_only))
        # Steps with unknown outcome: the connection was lost at COMMIT.
        self._unsure: set[tuple[str, str]] = set()
        try:
            if check or not read_only:
                self._rows.verified().refuse(self.path)
            known = self.get(ORIGIN_KEY)
            if known is None and not read_only:
                self.put(ORIGIN_KEY, origin or "")
            elif None not in (known, origin) and known != origin:
                raise self._other_origin()
        except BaseException:
            self.close()
            raise

    def _other_origin(self) -> InputError:
        return InputError(
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

    def verified(self) -> Findings:
        """Verify all digests. Writes nothing."""
        with self._lock:
            return self._rows.verified()

    def writing(self, episode: str) -> AbstractContextManager[None]:
        """Hold the exclusive write lock for the episode. Raises `EpisodeBusy` if it is taken."""
        return self._rows.writing(episode)

    def append(self, event: Event) -> None:
        """Append an event; returns once it would survive a killed process. Raises `EpisodeBusy` if
        a caller without `writing` already wrote the step."""
        step = event.where.episode, event.where.step
        try:
            with self._writing() as texts:
                texts.digests.clear()
                row = rows.event_row(event, texts)
                self._rows.check_writer(row[0])
                self._rows.execute(rows.INSERT_EVENT, (*row, row_digest(row, texts.digests)))
                self._exchanged(row[0], row[3], event.usage)
        except LogBusy:
            self._unsure.add(step)
            raise
        except StepThere:
            if step not in self._unsure or event not in self.read(event.where.episode):
                raise self._there(event) from None
        self._unsure.discard(step)

    def _there(self, event: Event) -> EpisodeBusy:
        return EpisodeBusy(
            say(f"{event.where} はすでに記録されています", f"{event.where} is in the log already"),
            place=str(self.path),
            remedy=say("続きから始め直してください", "start again: it goes on from there"),
        )

    @contextmanager
    def _writing(self, *, erases: bool = False) -> Iterator[rows.Texts]:
        """Open a transaction. Clears the text cache if it fails or others wrote meanwhile."""
        with self._lock:
            try:
                with self._rows.transaction(erases=erases) as others:
                    if others:
                        self._texts.forget()
                    yield self._texts
            except BaseException:
                self._texts.forget()
                raise

    def finish(self, row: EpisodeRow, lost: Iterable[Usage] = ()) -> None:
        """Store an episode's outcome. lost: cost of failed effects without an event."""
        where, now = row.where, time.time()
        name = where.episode
        result = None if row.result is None else rows.dump(row.result)
        failure = row.failure.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        try:
            with self._writing():
                if (name, "") in self._unsure and self._ended(name, result, failure):
                    lost = ()  # stored with the previous ones
                self._rows.check_writer(name)
                count = "SELECT count(*) FROM events WHERE episode = ?"
                ((events,),) = self._rows.select(count, (name,))
                kept = (name, where.instance, where.trial, result, failure, now, int(events))
                self._rows.replace("episodes", (*kept, row_digest(kept)))
                for usage in lost:
                    cost = (name, now, *rows.usage_row(usage.wasted()))
                    self._rows.execute(rows.INSERT_LOST, (*cost, row_digest(cost)))
                    self._exchanged(name, None, usage)
        except LogBusy:
            self._unsure.add((name, ""))
            raise
        self._unsure.discard((name, ""))

    def _ended(self, name: str, result: str | None, failure: str) -> bool:
        query = "SELECT result, failure FROM episodes WHERE episode = ?"
        return self.select(query, (name,)) == [(result, failure)]

    def _exchanged(self, episode: str, path: str | None, usage: Usage | None) -> None:
        """Store requests and raw replies."""
        if usage is None or not (usage.sent or usage.cached_input or usage.reasoning):
            return
        self._texts.digests.clear()
        row = rows.exchange_row(episode, path, usage, self._texts)
        digest = row_digest(row, self._texts.digests)
        self._rows.execute(rows.INSERT_EXCHANGE, (*row, digest))

    def put(self, key: str, value: JsonValue) -> None:
        """Set a note."""
        text = rows.dump(value)
        with self._writing():
            self._rows.replace("meta", (key, text, row_digest((key, text))))

    def erase(
        self,
        *,
        instances: Sequence[str] = (),
        keys: Sequence[str] = (),
        prefixes: Sequence[str] = (),
        requests: str = "",
    ) -> None:
        """Erase personal data beyond recovery: whole episodes of these instances, notes by key or
        prefix, and the request texts of episodes whose name begins with `requests`. This is the
        only method that changes existing entries."""
        with self._writing(erases=True):
            execute = self._rows.execute
            for instance in instances:
                query = "SELECT DISTINCT episode FROM events WHERE instance = ?"
                for (episode,) in self._rows.select(query, (instance,)):
                    for table in ("events", "episodes", "lost", "exchanges"):
                        execute(f"DELETE FROM {table} WHERE episode = ?", (episode,))
            for key in keys:
                execute("DELETE FROM meta WHERE key = ?", (key,))
            for prefix in prefixes:
                execute("DELETE FROM meta WHERE substr(key, 1, ?) = ?", (len(prefix), prefix))
            if requests:
                execute(
                    """UPDATE events SET request = '{"question":""}', digest = '' """
                    "WHERE substr(episode, 1, ?) = ?",
                    (len(requests), requests),
                )
            self._texts.sweep()
            digest_anew(self._rows)

    def close(self) -> None:
        """Close the log, which cannot be used afterwards."""
        with self._lock:
            self._rows.close()
