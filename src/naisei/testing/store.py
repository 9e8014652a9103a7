"""Tests for every log store (`naisei.runs.reading.Rows`, under a `RunLog`)."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from naisei.core import EpisodeBusy, Event, Usage, Where
from naisei.runs.log import RunLog
from naisei.runs.task import EpisodeRow
from naisei.testing.kit import Kit, expect, raises, temporary

#: Timeout in seconds for a process to write a dozen events.
_PATIENCE = 60.0
#: Step after which the process is killed.
_KILLED_AT = 10
_LONG = "あなたは家の助手です。" * 200


def _used(calls: int = 1, usd: float | None = 0.25) -> Usage:
    return Usage("agent", "m", calls, 1, 10, 5, usd, sent=({"messages": [_LONG]},))


def _event(step: int, instance: str = "a", **more: Any) -> Event:
    request = {"messages": [_LONG, f"{instance} {step}"], "k": [1, 2.5, None, True]}
    fields: dict[str, Any] = {"result": {"n": step, "言葉": "はい"}, "usage": _used()}
    fields |= {"request": request, "seconds": 0.125, **more}
    return Event(Where(instance, 0, (step,)), "chat", "d" * 16, **fields)


class StoreKit(Kit):
    """Tests a store, with a new log per case. Subclasses define `opener`."""

    def opener(self) -> Callable[..., RunLog]:
        """A function `(place: Path, *, read_only: bool = False)` that opens the log at `place`;
        equal places mean the same log in all processes. It must be picklable, since a subprocess
        calls it too."""
        raise NotImplementedError

    @contextmanager
    def _log(self) -> Iterator[Callable[..., RunLog]]:
        """Yield a function that opens the log at a new place, the same for all calls; close all
        logs at the end."""
        opener, opened = self.opener(), []
        with temporary() as place:

            def again(**how: Any) -> RunLog:
                opened.append(opener(place, **how))
                return opened[-1]

            again.place = place  # type: ignore[attr-defined]
            try:
                yield again
            finally:
                for store in reversed(opened):
                    store.close()

    def test_a_new_log_is_empty(self) -> None:
        with self._log() as log:
            store = log()
            expect(store.read("a#0") == [], "a new log has no events")
            expect(store.rows() == {} and store.known_episodes() == [], "nor outcomes")
            expect(store.counts() == (0, 0, 0), "nor counts", store.counts())
            expect(store.result("a#0") is None and store.get("note") is None, "nor notes")
            expect(not store.ledger().roles, "nor costs")

    def test_events_round_trip(self) -> None:
        events = [
            _event(0),
            _event(1, result=None, failure=("InstrumentFailure", "HTTP 500"), usage=None),
            _event(2, result=[{"深い": [[[{"x": -0.5}]]]}, "", "\n\t", "𠮷"], seconds=1e-9),
            _event(3, usage=Usage("agent", "m", 0, 3, 7, 0, None, repaired=True, lost_input=7)),
            _event(4, result=2**53, usage=Usage("judge", "n", cached=True)),
        ]
        with self._log() as log:
            store = log()
            for event in events:
                store.append(event)
            found = store.read("a#0")
            expect(found == events, "events come back equal and in order", found)
            nested = Event(Where("a", 0, (5, 1, 0)), "act", "e", {}, "x")
            store.append(nested)
            before = Event(Where("a", 0, (5, 0, 0)), "act", "e", {}, "y")
            store.append(before)
            found = store.read("a#0")[-2:]
            expect(found == [nested, before], "in order of appending, not of paths", found)

    def test_episodes_are_separate(self) -> None:
        names = ["a", "b", "物#語", "a b"]
        with self._log() as log:
            store = log()
            for step in range(3):
                for name in names:
                    store.append(_event(step, name))
            for name in names:
                events = [_event(step, name) for step in range(3)]
                expect(store.read(f"{name}#0") == events, "an episode has its own events", name)
            expect(store.known_episodes() == sorted(f"{n}#0" for n in names), "all are known")

    def test_writes_are_visible_to_other_objects(self) -> None:
        with self._log() as log:
            one, other = log(), log()
            one.append(_event(0))
            expect(other.read("a#0") == [_event(0)], "another object sees it at once")
            other.append(_event(1))
            one.append(_event(2))
            for reader in (one, log(read_only=True)):
                steps = [event.where.path for event in reader.read("a#0")]
                expect(steps == [(0,), (1,), (2,)], "in the order of all writers", steps)

    def test_a_step_is_stored_once(self) -> None:
        with self._log() as log:
            one, other = log(), log()
            one.append(_event(0))
            for store in (one, other):
                with raises(EpisodeBusy, "an existing step is refused"):
                    store.append(_event(0, result="another"))
            expect(one.read("a#0") == [_event(0)], "and the stored one stays")
            expect(one.ledger().tokens == 15, "and is paid for once", one.ledger().tokens)

    def test_an_episode_has_one_writer(self) -> None:
        with self._log() as log:
            one, other = log(), log()
            with one.writing("a#0"):
                with raises(EpisodeBusy, "a second writer is refused"), other.writing("a#0"):
                    pass
                with other.writing("b#0"):
                    other.append(_event(0, "b"))
            with other.writing("a#0"):
                other.append(_event(0))

    def test_a_failed_write_leaves_nothing(self) -> None:
        with self._log() as log:
            store = log()
            store.append(_event(0))
            with raises((TypeError, ValueError), "what is not JSON is refused"):
                store.append(_event(1, result=[_LONG, object()]))
            with raises((TypeError, ValueError), "as a note, too"):
                store.put("note", object())  # type: ignore[arg-type]
            store.append(_event(1))
            expect(store.read("a#0") == [_event(0), _event(1)], "the log continues unharmed")
            expect(store.get("note") is None, "and there is no such note")

    def test_outcomes_and_costs(self) -> None:
        failed = Usage("agent", "m", 0, 3, 7, 0, 0.5)
        with self._log() as log:
            store = log()
            store.append(_event(0))
            store.finish(EpisodeRow(Where("a"), None, "HTTP 500"), [failed])
            store.finish(EpisodeRow(Where("b"), {"勝ち": 1}))
            expect(store.counts() == (1, 1, 1), "scored, failed, events", store.counts())
            expect(store.result("a#0") is None, "a failed episode has no result")
            row = store.rows()["a#0"]
            expect(row.failure == "HTTP 500" and not row.scored, "and says why", row)
            expect(row.usage == (_used(), failed.wasted()), "and what it cost", row.usage)
            store.finish(EpisodeRow(Where("a"), {"勝ち": 0}))
            for reader in (store, log(read_only=True)):
                row = reader.rows()["a#0"]
                expect(row.result == {"勝ち": 0} and not row.failure, "a later outcome counts", row)
                spent = reader.ledger()
                expect(spent.tokens == 22, "the failed attempt stays counted, once", spent.tokens)
                expect(spent.known_usd == 0.75, "in money, too", spent.known_usd)
                expect(spent.roles["agent"].calls == 1, "answered calls", spent.roles)

    def test_notes(self) -> None:
        with self._log() as log:
            store = log()
            notes: list[JsonValue] = [["あ", 1.5, None], {"深い": {"x": []}}, "", 0, False]
            for value in notes:
                store.put("note", value)
                found = log(read_only=True).get("note")
                expect(
                    found == value and type(found) is type(value), "the last note is stored", found
                )
            expect(store.get("none") is None, "unknown notes are None")

    def test_erase(self) -> None:
        with self._log() as log:
            store = log()
            for name in ("a", "b"):
                store.append(_event(0, name))
                store.finish(EpisodeRow(Where(name), {"of": name}))
                store.put(f"talk:{name}", {"of": name})
            store.erase(instances=["a"], keys=["talk:a"])
            expect(store.known_episodes() == ["b#0"], "the instance is gone")
            expect(store.read("a#0") == [] and store.result("a#0") is None, "with its events")
            expect(store.get("talk:a") is None, "so is the note")
            expect(store.read("b#0") == [_event(0, "b")], "the others stay")
            store.erase(prefixes=["talk:"])
            expect(store.get("talk:b") is None, "notes go by prefix, too")
            expect(not log().verified().damages, "and the log is sound")

    def test_reopen(self) -> None:
        with self._log() as log:
            store = log()
            store.append(_event(0))
            store.finish(EpisodeRow(Where("a"), {"x": 1}))
            store.put("note", 1)
            store.close()
            store = log()
            expect(store.read("a#0") == [_event(0)], "events stay")
            expect(
                store.result("a#0") == {"x": 1} and store.get("note") == 1,
                "so do results and notes",
            )
            store.append(_event(1))
            found = log(read_only=True).verified()
            expect(not found.damages and found.events == 2, "and the log is sound", found.damages)

    def test_appended_events_survive_a_kill(self) -> None:
        with self._log() as log:
            place: Path = log.place  # type: ignore[attr-defined]
            log().close()
            spawn = multiprocessing.get_context("spawn")
            ours, theirs = spawn.Pipe()
            writer = spawn.Process(
                target=_append_until_killed, args=(self.opener(), place, theirs), daemon=True
            )
            writer.start()
            theirs.close()
            try:
                last = -1
                while last < _KILLED_AT:
                    expect(ours.poll(_PATIENCE), "the writer continues", last)
                    last = ours.recv()
            finally:
                writer.kill()
                writer.join()
            store = log()
            steps = [event.where.path[0] for event in store.read("a#0")]
            expect(steps == list(range(len(steps))), "each step once, in order", steps)
            expect(len(steps) > last, "every acknowledged event is stored", steps)
            with store.writing("a#0"):
                store.append(_event(len(steps)))
            expect(not log(read_only=True).verified().damages, "and the log is sound")


def _append_until_killed(opener: Callable[..., RunLog], path: Path, progress: Connection) -> None:
    store = opener(path)
    with store.writing("a#0"):
        for step in range(_KILLED_AT + 1):
            store.append(_event(step))
            progress.send(step)
        progress.recv()  # blocks until the kill
