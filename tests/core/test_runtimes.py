"""The sync, the async and the scripted runtime are one semantics."""

import asyncio
import threading
from contextvars import ContextVar
from datetime import UTC, datetime
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
    play,
    run,
    user,
)


def chat(text: str) -> Chat[str]:
    return Chat("agent", [user(text)])


def part() -> Flow[str]:
    try:
        return (yield from chat("may fail"))
    except InstrumentFailure as failed:
        return f"caught {failed}"


def flow() -> Flow[list[Any]]:
    out: list[Any] = [(yield from Now()), (yield from AskUser("飲み物ですか？"))]
    out += yield from Gather([chat("a"), part(), Act("open")])
    try:
        yield from Gather([chat("down"), chat("b")])
    except InstrumentFailure as failed:
        out.append(str(failed))
    yield from Remember({"note": out[1]})
    yield from Say("終わり")
    return out


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SCRIPT: list[Any] = [
    NOON,
    "はい",
    "A",
    InstrumentFailure("once"),
    lambda act: Observation(text=act.action),
    InstrumentFailure("down"),
    "B",
    None,
    None,
]


class Lookup:
    """Performs by what is asked, so that the order does not matter."""

    def __call__(self, effect: Effect[Any]) -> Any:
        match effect:
            case Now():
                return NOON
            case AskUser():
                return "はい"
            case Act(action=str(action)):
                return Observation(text=action)
            case Chat(messages=(message,)):
                if message.content in ("may fail", "down"):
                    raise InstrumentFailure({"may fail": "once"}.get(message.content, "down"))
                return message.content.upper()
        return None


class Later(Lookup):
    async def perform(self, effect: Effect[Any]) -> Any:
        await asyncio.sleep(0)
        return self(effect)


def test_they_agree_on_result_and_log() -> None:
    played = play(flow(), SCRIPT)
    sync_log, async_log, mixed_log = MemoryLog(), MemoryLog(), MemoryLog()
    assert run(flow(), World({Effect: Lookup()}), log=sync_log) == played.result
    assert asyncio.run(arun(flow(), World({Effect: Lookup()}), log=mixed_log)) == played.result
    later = World({Effect: Later().perform})
    assert asyncio.run(arun(flow(), later, log=async_log)) == played.result

    def contents(log: MemoryLog) -> dict[Any, Any]:
        return {e.where: (e.digest, e.request, e.result, e.failure) for e in log.events}

    apart_log = MemoryLog()
    assert asyncio.run(arun(flow(), later, log=apart_log, apart=True)) == played.result
    assert contents(sync_log) == contents(mixed_log) == contents(async_log) == contents(apart_log)
    assert [type(e) for e in played.effects] == [
        *(Now, AskUser, Chat, Chat, Act, Chat, Chat, Remember, Say)
    ]


def test_what_a_flow_computes_is_kept_out_of_the_event_loop() -> None:
    """Only that: handlers are called in the loop. Its context goes with it."""
    spoken: ContextVar[str] = ContextVar("spoken", default="")
    threads: list[int] = []

    def thinking() -> Flow[str]:
        threads.append(threading.get_ident())
        token = spoken.set("ja")
        yield from Now()
        said = spoken.get()
        spoken.reset(token)
        return said

    def now(effect: Effect[Any]) -> Any:
        threads.append(threading.get_ident())
        return NOON

    assert asyncio.run(arun(thinking(), World({Now: now}), apart=True)) == "ja"
    assert threads[0] != threads[1] == threading.get_ident()


def test_a_flow_that_computes_is_closed_when_it_is_given_up() -> None:
    begun, go_on, closed = threading.Event(), threading.Event(), []

    def thinking() -> Flow[str]:
        try:
            begun.set()
            go_on.wait()
            yield from Now()
        except GeneratorExit:
            closed.append(True)
            raise
        return ""

    async def go() -> None:
        going = asyncio.create_task(arun(thinking(), World({Effect: Lookup()}), apart=True))
        await asyncio.to_thread(begun.wait)
        going.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await going

    asyncio.run(go())
    assert closed == [True]


@pytest.mark.filterwarnings("error")
def test_run_refuses_async_handlers_in_words() -> None:
    with pytest.raises(FlowError, match="handler of Now is async: use arun"):
        run(flow(), World({Effect: Later().perform}))


def test_a_missing_handler_is_named() -> None:
    with pytest.raises(FlowError, match="no handler for Now effects"):
        run(flow(), World({Chat: Lookup()}))


def test_a_world_serves_subclasses_and_can_be_changed() -> None:
    class Whisper(AskUser):
        pass

    world = World({AskUser: lambda _: "base"})
    assert run(iter(Whisper("?")), world) == "base"
    assert run(iter(Whisper("?")), world.having({Whisper: lambda _: "own"})) == "own"
    assert run(iter(AskUser("?")), world.having({Whisper: lambda _: "own"})) == "base"


def test_scripts_must_fit() -> None:
    with pytest.raises(FlowError, match=r"the script ends before Say"):
        play(flow(), SCRIPT[:-1])
    with pytest.raises(FlowError, match="1 scripted"):
        play(flow(), [*SCRIPT, None])
    with pytest.raises(FlowError, match="handler of AskUser gave 3"):
        play(flow(), [NOON, 3])
    with pytest.raises(InstrumentFailure, match="gone"):
        play(flow(), [InstrumentFailure("gone")])
