"""A request that comes twice acts once: threads, tasks, objects and processes on one log."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from naisei.core import (
    Act,
    EpisodeBusy,
    Event,
    EventLog,
    Flow,
    MemoryLog,
    Observation,
    Where,
    World,
    arun,
    run,
)
from naisei.runs.log import RunLog

WHERE = Where("order-17")


def buy() -> Flow[str]:
    first = yield from Act("light on")
    second = yield from Act("light off")
    return f"{first.text} {second.text}"


class Plain:
    """Somebody's own log: it knows nothing of writers."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def append(self, event: Event) -> None:
        self.events.append(event)

    def read(self, episode: str) -> list[Event]:
        return [e for e in self.events if e.where.episode == episode]


@pytest.fixture(params=["file", "two objects of a file", "memory", "somebody's own"])
def logs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[EventLog, EventLog]]:
    """The log as the first and the second caller have it."""
    if request.param == "memory":
        memory = MemoryLog()
        yield memory, memory
    elif request.param == "somebody's own":
        own = Plain()
        yield own, own
    else:
        log = RunLog(tmp_path / "log.sqlite")
        other = log if request.param == "file" else RunLog(tmp_path / "log.sqlite")
        yield log, other
        log.close()
        if other is not log:
            other.close()


def test_a_double_click_acts_once(logs: tuple[EventLog, EventLog]) -> None:
    done: list[str] = []
    reached, go = asyncio.Event(), asyncio.Event()

    async def device(act: Act) -> Observation:
        done.append(str(act.action))
        reached.set()
        await go.wait()
        return Observation(text="ok")

    async def twice() -> None:
        world = World({Act: device})
        first = asyncio.create_task(arun(buy(), world, log=logs[0], where=WHERE))
        await reached.wait()
        with pytest.raises(EpisodeBusy):
            await arun(buy(), world, log=logs[1], where=WHERE)
        # Another episode goes on beside it.
        other = asyncio.create_task(arun(buy(), world, log=logs[1], where=Where("order-18")))
        go.set()
        assert await first == await other == "ok ok"
        # PendingQuestion again afterwards: the same answer, nothing done.
        assert await arun(buy(), world, log=logs[1], where=WHERE) == "ok ok"

    asyncio.run(twice())
    assert sorted(done) == ["light off"] * 2 + ["light on"] * 2
    assert [
        e.where.path for e in logs[0].read(WHERE.episode) if e.where.instance == "order-17"
    ] == [
        (0,),
        (1,),
    ]


def test_a_writer_that_fails_or_is_cancelled_lets_go(logs: tuple[EventLog, EventLog]) -> None:
    def broken(act: Act) -> Observation:
        raise RuntimeError("the device is on fire")

    with pytest.raises(RuntimeError):
        run(buy(), World({Act: broken}), log=logs[0], where=WHERE)

    async def cancelled() -> None:
        reached = asyncio.Event()

        async def forever(act: Act) -> Observation:
            reached.set()
            await asyncio.Event().wait()
            raise AssertionError

        world = World({Act: forever})
        task = asyncio.create_task(arun(buy(), world, log=logs[0], where=WHERE))
        await reached.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancelled())
    assert run(buy(), _ready(), log=logs[1], where=WHERE) == "ok ok"


def _ready() -> World:
    return World({Act: lambda act: Observation(text="ok")})


#: Runs the flow on the log in argv[1]; says when it has come to the device, then waits.
_OTHER = """
import sys
from pathlib import Path
from naisei.core import Act, Observation, Where, World, run
from naisei.runs.log import RunLog

def buy():
    first = yield from Act("light on")
    second = yield from Act("light off")
    return f"{first.text} {second.text}"

def device(act):
    print(act.action, flush=True)
    sys.stdin.readline()
    return Observation(text="ok")

run(buy(), World({Act: device}), log=RunLog(Path(sys.argv[1])), where=Where("order-17"))
"""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _OTHER, str(tmp_path / "log.sqlite")]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "light on\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_another_process_is_a_writer_too_until_it_is_killed(
    tmp_path: Path, elsewhere: Callable[[], subprocess.Popen[str]]
) -> None:
    other = elsewhere()
    with closing(RunLog(tmp_path / "log.sqlite")) as log:
        with pytest.raises(EpisodeBusy, match="order-17"):
            run(buy(), _ready(), log=log, where=WHERE)
        assert run(buy(), _ready(), log=log, where=Where("order-18")) == "ok ok"
        # The file of the locks was opened and closed again: the other still holds its own.
        with pytest.raises(EpisodeBusy):
            run(buy(), _ready(), log=log, where=WHERE)
        other.kill()
        other.wait()
        assert run(buy(), _ready(), log=log, where=WHERE) == "ok ok"
