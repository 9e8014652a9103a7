"""The engine: budgets, failures, crashes, resuming, concurrency."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from naisei.core import (
    Chat,
    InputError,
    Limits,
    Performed,
    ReplayDivergence,
    Usage,
    World,
    between_attempts,
)
from naisei.runs.budget import Budget, Gate
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import run_task
from naisei.runs.log import RunLog
from waiting import PATIENCE

Run = Callable[..., Any]


def test_a_run_and_its_result_object(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    seen: list[str] = []
    result = run_toy(tmp_path / "r", on_event=lambda e: seen.append(e.kind))
    data = json.loads(result.line())
    assert (data["n"], data["n_unscored"], data["n_pending"]) == (4, 0, 0)
    assert data["metrics"]["pass@3"] is None and "k = 3" in data["reasons"]["pass@3"]
    assert data["intervals"]["pass@1"][0] <= data["metrics"]["pass@1"]
    assert data["tokens"]["judge"]["total"] == 4 * 2 * 15
    assert data["usd"] == pytest.approx(4 * 6 * 0.001, abs=1e-12)
    assert data["stopped"] is None and result.exit_code == 0
    assert seen.count("chat") == 24 and seen.count("ask") == 4
    lines = (tmp_path / "r/results.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["instance"] for line in lines] == ["i0", "i1", "i2", "i3"]


def test_a_finished_run_does_nothing_again(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    first = run_toy(tmp_path / "r")
    calls: list[str] = []
    second = run_toy(tmp_path / "r", world=toy.model(record=calls.append))
    assert not calls and second.line() == first.line()


def test_a_token_budget_stops_and_resumes(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    calls: list[str] = []
    world = toy.model(latency=0.002, record=calls.append)
    task = toy.Toy(12)
    result = run_toy(tmp_path / "r", task, world, concurrency=3, budget=Budget(tokens=300))
    assert result.exit_code == 3 and "--max-tokens" in result.outcome.stopped
    assert 20 <= len(calls) <= 20 + 2 * 3
    assert result.outcome.ledger.tokens == 15 * len(calls), "every answer was logged"
    blocked = run_toy(tmp_path / "r", task, world, budget=Budget(tokens=300))
    assert blocked.exit_code == 3 and result.outcome.ledger.tokens == 15 * len(calls)
    whole = run_toy(tmp_path / "r", task, world)
    assert whole.exit_code == 0 and len(calls) == len(set(calls)) == 72


def test_a_gather_in_flight_is_let_finish(tmp_path: Path, toy: Any) -> None:
    """The budget is met by one part of a Gather while the other is in flight."""
    calls: list[str] = []

    async def chat(effect: Chat[Any]) -> Performed[Any]:
        judge = effect.role == "judge"
        if judge and effect.messages[0].content.startswith("i0 b"):
            while "judge" not in calls:
                await asyncio.sleep(0)
            for _ in range(100):  # the other part is paid for, and the gate is closed
                await asyncio.sleep(0)
        else:
            await asyncio.sleep(0)  # so that both are in flight
        calls.append(effect.role)
        word = toy.answer(effect)
        return Performed(
            toy.Reply(word=word) if effect.schema else word,
            Usage(effect.role, "m", 1, 1, 100 if judge else 1, 0, 0.0),
        )

    with RunDirectory.of(toy.Toy(1), tmp_path / "r") as directory:
        budget = Budget(tokens=100)
        outcome = asyncio.run(run_task(toy.Toy(1), directory, World({Chat: chat}), budget=budget))
        assert outcome.pending == 1 and calls.count("judge") == 2
        assert outcome.ledger.roles["judge"].calls == 2


def test_minutes_bound_a_call(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    slow = toy.model(latency=0.2)
    result = run_toy(tmp_path / "r", world=slow, concurrency=1, budget=Budget(minutes=0.5 / 60))
    assert result.exit_code == 3 and "--max-minutes" in result.outcome.stopped


def test_a_dollar_budget_needs_prices(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    world = toy.model(usd=None)
    with pytest.raises(InputError, match="no price is known for scripted:toy"):
        run_toy(tmp_path / "r", world=world, budget=Budget(usd=1))
    log = RunLog(tmp_path / "r/log.sqlite", read_only=True)
    assert log.ledger().tokens > 0, "the answers that came are kept"
    log.close()
    result = run_toy(tmp_path / "r", world=world)
    assert result.to_json()["usd"] is None and "scripted:toy" in result.to_json()["reasons"]["usd"]
    with pytest.raises(InputError, match="--max-usd"):
        Budget(usd=0)


def test_instrument_failures_are_counted_and_tried_again(
    tmp_path: Path, run_toy: Run, toy: Any
) -> None:
    world = toy.model(fails=lambda where: where.instance == "i2" and where.path == (1,))
    result = run_toy(tmp_path / "r", world=world)
    data = result.to_json()
    assert (data["n"], data["n_unscored"], result.exit_code) == (3, 1, 0)
    assert "HTTP 500" in result.outcome.rows[2].failure
    # Three good calls each, one before the failure, and three attempts that failed.
    agent = data["tokens"]["agent"]
    assert (agent["calls"], agent["attempts"], agent["input"]) == (10, 13, 107)
    calls: list[str] = []
    mended = run_toy(tmp_path / "r", world=toy.model(record=calls.append))
    assert mended.to_json()["n"] == 4 and len(calls) == 5
    assert all(call.startswith("i2") for call in calls) and "i2 0" not in calls
    assert mended.to_json()["tokens"]["agent"]["attempts"] == 15


def test_limits_leave_an_episode_unscored(tmp_path: Path, run_toy: Run) -> None:
    result = run_toy(tmp_path / "r", limits=Limits(calls=2))
    assert result.outcome.failed == 4 and "limit reached" in result.outcome.rows[0].failure


def test_a_crash_stops_the_run_and_keeps_what_was_answered(
    tmp_path: Path, run_toy: Run, toy: Any
) -> None:
    calls: list[str] = []
    good = toy.model(latency=0.05, record=calls.append)

    class Breaking(toy.Toy):  # type: ignore[misc,name-defined]
        __module__ = toy.__name__  # the same code, for the run's identity

        def start(self, where: Any, base: Any) -> Any:
            if where.instance == "i3":
                raise ZeroDivisionError("a bug")
            return super().start(where, base)

    with pytest.raises(ZeroDivisionError, match="a bug"):
        run_toy(tmp_path / "r", Breaking(12), good, concurrency=4)
    assert sorted(calls) == ["i0 0", "i1 0", "i2 0"], "in flight: finished; else: not started"
    result = run_toy(tmp_path / "r", toy.Toy(12), good, concurrency=4)
    assert result.exit_code == 0 and len(calls) == len(set(calls)) == 72


def test_changed_code_is_told_from_the_log(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    broken = toy.model(fails=lambda where: where.path == (1,))
    run_toy(tmp_path / "r", world=broken)

    class Reworded(toy.Toy):  # type: ignore[misc,name-defined]
        __module__ = toy.__name__  # what changed is in no file

        def _flow(self, where: Any) -> Any:
            yield from Chat("agent", [toy.user("another prompt")], toy.Reply)
            return toy.Result(instance=where.instance, words=[])

    with pytest.raises(ReplayDivergence, match="another prompt"):
        run_toy(tmp_path / "r", Reworded())


def test_nothing_is_left_of_a_run_that_could_not_start(
    tmp_path: Path, run_toy: Run, toy: Any
) -> None:
    def unreachable(effect: Any) -> Any:
        raise InputError("cannot be reached", place="http://127.0.0.1:9")

    with pytest.raises(InputError, match="cannot be reached"):
        run_toy(tmp_path / "r", world=World({Chat: unreachable}))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="--concurrency"):
        run_toy(tmp_path / "r", concurrency=0)
    assert list(tmp_path.iterdir()) == []


def test_as_many_are_in_flight_as_may_be(tmp_path: Path, run_toy: Run, toy: Any) -> None:
    """The first call of each of 64 episodes waits for the others'."""
    flying, all_there = 0, asyncio.Event()

    async def chat(effect: Chat[Any]) -> Performed[Any]:
        nonlocal flying
        flying += 1
        if flying >= 64:
            all_there.set()
        await asyncio.wait_for(all_there.wait(), PATIENCE)
        word = toy.answer(effect)
        value = toy.Reply(word=word) if effect.schema else word
        return Performed(value, Usage(effect.role, "m", 1, 1, 1, 1, 0.0))

    result = run_toy(tmp_path / "r", toy.Toy(64), World({Chat: chat}), concurrency=64)
    assert result.exit_code == 0


def test_between_two_attempts_a_closed_gate_is_not_waited_for() -> None:
    """Nothing is in flight then, and no other attempt is made."""
    attempts = 0

    async def performed() -> None:
        nonlocal attempts
        while True:
            attempts += 1
            wait = between_attempts.get()
            assert wait is not None
            await wait(3600)

    async def go() -> None:
        gate = Gate()
        effect = asyncio.ensure_future(gate.guard(performed))
        while not attempts:
            await asyncio.sleep(0)
        gate.close("enough")
        await gate.idle()
        assert attempts == 1 and not effect.done()
        effect.cancel()
        with pytest.raises(asyncio.CancelledError):
            await effect
        assert between_attempts.get() is None

    asyncio.run(go())
