"""Tests for every engine (`naisei.runs.engine.Engine`)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue

from naisei.core import (
    AskUser,
    Chat,
    Event,
    Flow,
    FlowError,
    FlowHandler,
    Gather,
    Handler,
    InstrumentFailure,
    Limits,
    Performed,
    Remember,
    Usage,
    Where,
    World,
    user,
)
from naisei.runs.budget import Budget
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import Engine, RunOutcome, run_task
from naisei.runs.lines import Line
from naisei.runs.result import finish
from naisei.runs.task import EpisodeRow, Summary, Task
from naisei.testing.kit import Kit, expect, raises, temporary

#: Model calls of one episode: two of the agent, one of the simulator, two of the judge.
_CALLS = 5


class _Config(BaseModel):
    n: int = 6


class _Words(BaseModel):
    words: list[str]


class _Simulator(FlowHandler):
    def respond(self, effect: AskUser, where: Where) -> Flow[str]:
        return (yield from Chat("simulator", [user(f"{where.instance} {effect.question}")]))


class _Folding(Handler):
    """A memory whose state must be rebuilt by replay."""

    def __init__(self) -> None:
        self.items: list[JsonValue] = []

    def perform(self, effect: Remember, where: Where) -> None:
        self.items.append(effect.item)

    def restore(self, effect: Remember, result: None, where: Where) -> None:
        self.perform(effect, where)


class _Task(Task[_Config]):
    """Episodes with three roles, a nested flow, concurrent parts and a memory."""

    system = "testing"
    data_hash = "testing"

    def __init__(self, n: int = 6) -> None:
        self.config = _Config(n=n)

    def episodes(self) -> Sequence[Where]:
        return [Where(f"場面{i}") for i in range(self.config.n)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        memory = _Folding()
        return self._flow(where, memory), base.having({AskUser: _Simulator(), Remember: memory})

    def _flow(self, where: Where, memory: _Folding) -> Flow[BaseModel]:
        first = yield from Chat("agent", [user(f"{where.instance} はじめ")])
        yield from Remember(first)
        answer = yield from AskUser(f"{first}ですか？")
        both = yield from Gather([Chat("judge", [user(f"{k} {answer}")]) for k in "ab"])
        last = yield from Chat("agent", [user(f"{memory.items} {both}")])
        return _Words(words=[first, answer, *both, last])

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        return Summary(())

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        return [Line(str(result))]


@dataclass(frozen=True)
class _Model(Handler):
    """A model whose answers depend only on the request. calls: a file with a line per call. fails,
    crashes: the instance whose second call does so while the file `trouble` exists."""

    calls: Path
    trouble: Path
    fails: str = ""
    crashes: str = ""

    async def perform(self, chat: Any, where: Where) -> Performed[str]:
        await asyncio.sleep(0)
        used = Usage(chat.role, "testing:model", 1, 1, 10, 5, 0.5)
        if where.path != (0,) and self.trouble.exists():
            if where.instance == self.fails:
                raise InstrumentFailure("HTTP 500", Usage(chat.role, "testing:model", 0, 2, 7))
            if where.instance == self.crashes:
                raise FlowError("a fault of the program")
        with self.calls.open("a", encoding="utf-8") as file:
            file.write(f"{where.instance} {where.step}\n")
        prompt = "".join(message.content for message in chat.messages)
        return Performed(hashlib.sha256(prompt.encode()).hexdigest()[:8], used)


class _Bench:
    """A folder with a run directory and a call record."""

    def __init__(self, kit: EngineKit, folder: Path, name: str = "run") -> None:
        self._kit, self.path = kit, folder / name
        self._calls, self.trouble = folder / f"{name}.calls", folder / f"{name}.trouble"
        self.events: list[Event] = []
        self.ended: list[EpisodeRow] = []

    @property
    def calls(self) -> list[str]:
        return self._calls.read_text(encoding="utf-8").splitlines() if self._calls.exists() else []

    def run(
        self,
        *,
        n: int = 6,
        budget: Budget | None = None,
        fails: str = "",
        crashes: str = "",
        concurrency: int = 3,
        engine: Engine | None = None,
        limits: Limits | None = None,
    ) -> RunOutcome:
        model = _Model(self._calls, self.trouble, fails, crashes)
        more: dict[str, Any] = {} if budget is None else {"budget": budget}
        more |= {} if limits is None else {"limits": limits}

        async def go(opened_engine: Engine) -> RunOutcome:
            task = _Task(n)
            with RunDirectory.of(task, self.path) as directory:
                outcome = await opened_engine(
                    task,
                    directory,
                    World({Chat: model}),
                    concurrency=concurrency,
                    on_event=self.events.append,
                    on_episode=self.ended.append,
                    **more,
                )
                finish(task, directory, outcome)
                return outcome

        async def opened() -> RunOutcome:
            if engine is not None:
                return await go(engine)
            async with self._kit.engine(concurrency) as opened_engine:
                return await go(opened_engine)

        return asyncio.run(opened())

    @property
    def results(self) -> bytes:
        return (self.path / "results.jsonl").read_bytes()

    def logged(self) -> list[str]:
        """Model calls in the log."""
        with RunDirectory.look(self.path) as directory:
            return [
                f"{event.where.instance} {event.where.step}"
                for episode in directory.log.known_episodes()
                for event in directory.log.read(episode)
                if event.kind == "chat"
            ]


class EngineKit(Kit):
    """Tests an engine. Subclasses define `engine`."""

    def engine(self, concurrency: int) -> AbstractAsyncContextManager[Engine]:
        """Open an engine with this concurrency; close it on exit."""
        raise NotImplementedError

    def test_results_equal_the_local_engine(self) -> None:
        with temporary() as folder:
            mine, local = _Bench(self, folder), _Bench(self, folder, "local")
            outcome = mine.run(n=9)
            local.run(n=9, engine=run_task)
            expect(mine.results == local.results, "results.jsonl is the same, byte for byte")
            expect((outcome.scored, outcome.exit_code) == (9, 0), "all are scored", outcome)
            expect(sorted(mine.calls) == sorted(local.calls), "with the same calls", mine.calls)
            expect(sorted(mine.logged()) == sorted(mine.calls), "all of which are logged")
            spent = outcome.ledger
            expect(spent.tokens == 9 * _CALLS * 15, "and counted", spent.tokens)
            expect(spent.known_usd == 9 * _CALLS * 0.5, "in money, too", spent.known_usd)
            expect(len(mine.ended) == 9, "each episode is reported once", len(mine.ended))
            keys = {(e.where.episode, e.where.path) for e in mine.events}
            expect(len(keys) == len(mine.events), "and each event once", len(mine.events))

    def test_a_finished_run_does_nothing(self) -> None:
        with temporary() as folder:
            bench = _Bench(self, folder)
            bench.run()
            before, calls = bench.results, len(bench.calls)
            outcome = bench.run()
            expect(len(bench.calls) == calls, "scored episodes are skipped", bench.calls)
            expect(bench.results == before and outcome.scored == 6, "and unchanged")

    def test_a_run_stopped_by_a_budget_resumes(self) -> None:
        with temporary() as folder:
            bench, whole = _Bench(self, folder), _Bench(self, folder, "whole")
            outcome = bench.run(budget=Budget(tokens=150))
            expect(outcome.exit_code == 3 and bool(outcome.stopped), "a budget stops it", outcome)
            over = outcome.ledger.tokens - 150
            expect(over <= 3 * 2 * 15, "only calls in flight exceed it", over)
            before = bench.calls
            expect(sorted(before) == sorted(bench.logged()), "and are logged", before)
            outcome = bench.run()
            expect(outcome.scored == 6, "the next call goes on", outcome)
            expect(len(bench.calls) == len({*bench.calls}), "and repeats no call", bench.calls)
            whole.run()
            expect(bench.results == whole.results, "with the results of an uninterrupted run")

    def test_an_instrument_failure_is_recorded_and_retried(self) -> None:
        with temporary() as folder:
            bench = _Bench(self, folder)
            bench.trouble.touch()
            outcome = bench.run(fails="場面2")
            expect((outcome.scored, outcome.failed) == (5, 1), "the others continue", outcome)
            row = next(row for row in outcome.rows if not row.scored)
            expect("HTTP 500" in row.failure, "the failure is recorded", row.failure)
            failed_tokens = outcome.ledger.tokens - 5 * _CALLS * 15 - 15
            expect(failed_tokens == 7, "the failure's cost is counted", failed_tokens)
            bench.trouble.unlink()
            outcome = bench.run(fails="場面2")
            expect(outcome.scored == 6, "the next call scores it", outcome)
            expect(len(bench.calls) == len({*bench.calls}), "repeating nothing", bench.calls)

    def test_a_crash_is_raised_and_keeps_the_log(self) -> None:
        with temporary() as folder:
            bench = _Bench(self, folder)
            bench.trouble.touch()
            with raises(FlowError, "a handler's exception reaches the caller"):
                bench.run(crashes="場面1")
            before = bench.logged()
            expect(bool(before), "the log is kept")
            expect(sorted(before) == sorted(bench.calls), "with the calls in flight", before)
            bench.trouble.unlink()
            expect(bench.run(crashes="場面1").scored == 6, "and the next call goes on")
            expect(len(bench.calls) == len({*bench.calls}), "repeating nothing", bench.calls)

    def test_episode_limits_apply(self) -> None:
        with temporary() as folder:
            mine, local = _Bench(self, folder), _Bench(self, folder, "local")
            outcome = mine.run(limits=Limits(calls=2))
            local.run(limits=Limits(calls=2), engine=run_task)
            expect(outcome.scored == 0, "an episode at its limit is not scored", outcome)
            expect(mine.results == local.results, "with the same results as the local engine")
