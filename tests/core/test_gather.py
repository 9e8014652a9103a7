"""Gather: side by side where that is safe, one after another where state changes."""

import asyncio
import gc
from typing import Any

import pytest

from naisei.core import (
    Act,
    AskUser,
    Chat,
    Effect,
    Flow,
    FlowError,
    Gather,
    InstrumentFailure,
    MemoryLog,
    Now,
    Observation,
    Remember,
    Say,
    World,
    arun,
    run,
    user,
)


def chat(text: str) -> Chat[str]:
    return Chat("agent", [user(text)])


def gather(*parts: Effect[Any] | Flow[Any]) -> Flow[list[Any]]:
    return (yield from Gather(parts))


def both(*texts: str) -> Flow[str]:
    out = ""
    for text in texts:
        out += yield from chat(text)
    return out


class Rendezvous:
    """An async model that answers only once `n` calls are under way at the same time."""

    def __init__(self, n: int) -> None:
        self.barrier = asyncio.Barrier(n)

    async def __call__(self, effect: Chat[str]) -> str:
        async with asyncio.timeout(5):
            await self.barrier.wait()
        return effect.messages[-1].content


def test_parts_really_run_at_the_same_time() -> None:
    # Each barrier opens only if three calls wait at it at once.
    async def fits() -> list[Any]:
        world = World({Chat: Rendezvous(3)})
        return await arun(gather(both("a", "b"), both("c", "d"), gather(both("e", "f"))), world)

    assert asyncio.run(fits()) == ["ab", "cd", ["ef"]]


def test_ordered_parts_are_performed_one_after_another_in_order() -> None:
    seen: list[str] = []

    async def act(effect: Act) -> Observation:
        seen.append(f"{effect.action} begins")
        await asyncio.sleep(0.01 if effect.action == "a" else 0)
        seen.append(f"{effect.action} ends")
        return Observation(text=str(effect.action))

    async def say(effect: Say) -> None:
        seen.append("said")

    async def model(effect: Chat[str]) -> str:
        seen.append("chat")
        return "c"

    world = World({Act: act, Say: say, Chat: model})
    result = asyncio.run(arun(gather(Act("a"), chat("?"), Say("…"), Act("b")), world))
    assert [getattr(r, "text", r) for r in result] == ["a", "c", None, "b"]
    seen.remove("chat")
    assert seen == ["a begins", "a ends", "said", "b begins", "b ends"]


@pytest.mark.parametrize("ordered", [AskUser("?"), Act(1), Say("x"), Remember("x")])
def test_ordered_effects_are_refused_inside_gathered_flows(ordered: Effect[Any]) -> None:
    def inner() -> Flow[None]:
        yield from chat("a")
        yield from ordered

    world = World({Effect: lambda e: "ok"})
    for flow in (
        gather(inner()),
        gather(gather(ordered)),  # a Gather inside a gathered flow is no way round it
        gather(chat("b"), Gather([ordered])),
    ):
        with pytest.raises(FlowError, match="gather"):
            run(flow, world)


def test_nothing_gathered_is_an_empty_list() -> None:
    assert run(gather(), World({})) == []
    assert asyncio.run(arun(gather(), World({}))) == []


def test_the_first_failure_is_the_first_in_order_not_in_time() -> None:
    async def model(effect: Chat[str]) -> str:
        delay = float(effect.messages[-1].content)
        await asyncio.sleep(delay)
        raise InstrumentFailure(f"after {delay}")

    log = MemoryLog()
    with pytest.raises(InstrumentFailure, match=r"after 0\.02"):
        asyncio.run(arun(gather(chat("0.02"), chat("0")), World({Chat: model}), log=log))
    assert log.events == []


def test_a_crash_in_a_part_surfaces_as_it_is_and_cancels_the_others() -> None:
    cancelled: list[bool] = []

    async def model(effect: Chat[str]) -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return ""

    def crash(_: Now) -> Any:
        raise ZeroDivisionError("a bug")

    def late() -> Flow[list[Any]]:
        return (yield from Gather([Gather([chat("b"), Now()])]))

    async def main(flow: Flow[Any]) -> None:
        await asyncio.sleep(0)
        await arun(flow, World({Chat: model, Now: crash}))

    for flow in (gather(chat("a"), Now()), late(), gather(gather(chat("a")), Now())):
        with pytest.raises(ZeroDivisionError):
            asyncio.run(main(flow))
    assert cancelled == [True] * 3


def test_a_flow_is_closed_at_once_when_the_world_crashes() -> None:
    closed: list[str] = []

    def careful(name: str) -> Flow[str]:
        try:
            return (yield from chat("a"))
        finally:
            closed.append(name)

    def crash(_: Effect[Any]) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        run(careful("sync"), World({Chat: crash}))
    assert closed == ["sync"], caught.value
    with pytest.raises(ZeroDivisionError) as caught:
        asyncio.run(arun(gather(careful("async")), World({Chat: crash})))
    assert closed == ["sync", "async"], caught.value


def test_interrupting_arun_cancels_what_is_in_flight() -> None:
    started = asyncio.Event()

    async def model(effect: Chat[str]) -> str:
        started.set()
        await asyncio.sleep(30)
        return ""

    async def main() -> None:
        task = asyncio.create_task(arun(gather(chat("a"), chat("b")), World({Chat: model})))
        await started.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())


def test_keyboard_interrupt_surfaces_as_itself() -> None:
    def model(effect: Chat[str]) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(arun(gather(chat("a"), chat("b")), World({Chat: model})))
    # asyncio reports the interrupted task when it is collected, with a traceback; CPython
    # before 3.11.8 cannot have that happen while it parses something (gh-106905).
    gc.collect()


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        (lambda: iter([3]), "a flow is a generator, not list_iterator"),
        (lambda: gather([chat("a")]), "not list_iterator"),  # type: ignore[arg-type]
        (lambda: (x for x in ["text"]), "yielded str, not an effect"),
    ],
)
def test_what_is_no_flow_is_named(flow: Any, message: str) -> None:
    with pytest.raises(FlowError, match=message):
        run(flow(), World({Effect: lambda _: ""}))
