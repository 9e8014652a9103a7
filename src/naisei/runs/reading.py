"""Queries on the log of a run: events, outcomes, costs, notes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import JsonValue

from naisei.core import Event, InputError, Usage, Where
from naisei.lang import say
from naisei.runs import rows
from naisei.runs.budget import SPENT, USED, Ledger, Spent
from naisei.runs.integrity import stored_digest
from naisei.runs.rows import Rows, Texts
from naisei.runs.task import EpisodeRow


class LogReader:
    """Reads a log's rows; thread-safe."""

    def __init__(self, place: Rows) -> None:
        self.path, self._rows = place.place, place
        # Handlers may log from worker threads; the connection is shared under a lock.
        self._lock = threading.RLock()
        self._texts = Texts(place)

    def select(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a custom SELECT.

        Raises:
            InputError: the log cannot be read.
        """
        with self._lock:
            return self._rows.select(query, values)

    def read(self, episode: str) -> list[Event]:
        """Return the events of an episode, in the order they were appended.

        Raises:
            InputError: their digests do not match.
        """
        query = f"SELECT checksum, {rows.EVENT} FROM events WHERE episode = ? ORDER BY seq"
        events, texts = [], _Cached(self._rows)
        with self._lock:
            for digest, *row in self.select(query, (episode,)):
                try:
                    if stored_digest(row, lambda n: texts.get(n)[0]) != digest:
                        raise ValueError("digest")
                    events.append(rows.event(tuple(row), texts))
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

    def sent(self, episode: str, step: str | None = None) -> list[tuple[str, str, JsonValue]]:
        """Return the requests and raw replies of an episode or of one step, in order, with step
        ("" for failed attempts without an event) and role."""
        there, at = ("", ()) if step is None else (" AND path = ?", (step,))
        found = self.select(
            f"SELECT path, role, sent FROM exchanges WHERE episode = ?{there} ORDER BY seq",
            (episode, *at),
        )
        return [(path or "", role, self.unpacked(sent)) for path, role, sent in found]

    def left_out(self) -> list[tuple[str, str, str]]:
        """Return model, role and unsupported sampling parameters."""
        return self.select(
            "SELECT DISTINCT model, role, left_out FROM exchanges WHERE left_out != ''"
            " ORDER BY model, role"
        )

    def rows(self) -> dict[str, EpisodeRow]:
        """Return outcomes by episode, scored or failed, each with its cost."""
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
        """Return the result of an episode; `None` while it is unscored."""
        found = self.select("SELECT result FROM episodes WHERE episode = ?", (episode,))
        return None if not found or found[0][0] is None else self.loaded(found[0][0], episode)

    def _usages(self) -> Iterator[tuple[str, Usage]]:
        """Yield the costs of effects, including failed ones, by episode, role and model."""
        for table in ("events", "lost"):
            for episode, *row in self.select(USED.format(table)):
                if (usage := rows.usage(tuple(row))) is not None:
                    yield episode, usage

    def counts(self) -> tuple[int, int, int]:
        """Return the numbers of scored episodes, failed episodes and events."""
        ((events,),) = self.select("SELECT count(*) FROM events")
        return (*self.outcomes(), int(events))

    def outcomes(self) -> tuple[int, int]:
        """Return the numbers of scored and failed episodes in constant time."""
        ((done, all_),) = self.select("SELECT count(result), count(*) FROM episodes")
        return int(done), int(all_ - done)

    def known_episodes(self) -> list[str]:
        """Return all episodes with recorded events."""
        found = self.select(
            "SELECT episode FROM events UNION SELECT episode FROM episodes ORDER BY 1"
        )
        return [episode for (episode,) in found]

    def ledger(self) -> Ledger:
        """Return the run's costs so far."""
        found = Ledger()
        for role, model, unpriced, *sums in self.select(SPENT):
            found.roles.setdefault(role, Spent()).add(unpriced, *sums)
            if unpriced:
                found.unpriced.add(model)
        cost = "role, sum(cached_input), sum(reasoning)"
        for role, cached, reasoning in self.select(f"SELECT {cost} FROM exchanges GROUP BY role"):
            spent = found.roles.setdefault(role, Spent())
            spent.cached_input, spent.reasoning = int(cached or 0), int(reasoning or 0)
        return found

    def loaded(self, text: str, where: str) -> JsonValue:
        """Parse JSON from the log. Raises `InputError` if it is invalid. where: for the message."""
        try:
            found: JsonValue = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise self._damaged(where) from error
        return found

    def unpacked(self, text: str) -> JsonValue:
        """Parse a stored `request` or `result` and restore its long texts."""
        with self._lock:
            try:
                return self._texts.unpack(json.loads(text))
            except (LookupError, TypeError, ValueError, RecursionError) as error:
                raise self._damaged("texts") from error

    def get(self, key: str) -> JsonValue:
        """Return a note of the run, or `None`."""
        found = self.select("SELECT value FROM meta WHERE key = ?", (key,))
        return self.loaded(found[0][0], key) if found else None


class _Cached(Texts):
    """Reads each text once while an episode is read, since its events share long texts."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows)
        self._read: dict[int, tuple[bytes, str]] = {}

    def get(self, number: int) -> tuple[bytes, str]:
        if number not in self._read:
            self._read[number] = super().get(number)
        return self._read[number]
