"""Eager awaiting: bare pauses are passed over, everything else is as with `await`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from naisei.models.pacing import Eager


async def _paused(times: int, log: list[str], name: str) -> str:
    for _ in range(times):
        await asyncio.sleep(0)
    log.append(name)
    return name


def test_a_call_with_pauses_runs_on_where_others_take_turns() -> None:
    async def run(eager: bool) -> list[str]:
        log: list[str] = []

        async def call(name: str, pauses: int) -> None:
            coroutine = _paused(pauses, log, name)
            assert (await Eager(coroutine) if eager else await coroutine) == name

        await asyncio.gather(call("first", 9), call("second", 1))
        return log

    assert asyncio.run(run(False)) == ["second", "first"]
    assert asyncio.run(run(True)) == ["first", "second"]


def test_what_really_waits_lets_others_go_on() -> None:
    async def run() -> list[str]:
        log: list[str] = []

        gone_on = asyncio.Event()

        async def slow() -> None:
            await gone_on.wait()
            log.append("slow")

        async def quick() -> None:
            await _paused(3, log, "quick")
            gone_on.set()

        await asyncio.gather(_task(slow()), quick())
        return log

    assert asyncio.run(run()) == ["quick", "slow"]


async def _task(coroutine: Any) -> Any:
    return await Eager(coroutine)


def test_errors_and_time_outs_reach_the_coroutine() -> None:
    seen: list[str] = []

    async def failing() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    async def waiting() -> None:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def run() -> None:
        with pytest.raises(ValueError, match="no"):
            await Eager(failing())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await Eager(waiting())

    asyncio.run(run())
    assert seen == ["cancelled"]


def test_a_result_waited_for_inside_survives_cancelling_it_once() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "done all the same"

    async def run() -> str:
        task = asyncio.create_task(_task(stubborn()))
        await asyncio.sleep(0)
        task.cancel()
        return str(await task)

    assert asyncio.run(run()) == "done all the same"
