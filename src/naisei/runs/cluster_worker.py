"""A worker of a cluster: runs episodes for a driver that keeps the log.

Events and questions go to the driver, which hears them; a flow goes on when the driver has said
that its event is stored. Nothing here knows what carries the messages.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei import __version__
from naisei.core import Event, FlowError, Limits, Usage, Where, World
from naisei.models.pacing import Throttle
from naisei.runs.budget import Gate
from naisei.runs.engine import play_episode
from naisei.runs.fork import Fork
from naisei.runs.task import EpisodeRow, Task

if TYPE_CHECKING:
    from naisei.models.base import ModelSettings


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker needs to run episodes of a task.

    load: makes the task. world: opens the base world, as `base_world` does; gets what makes the
    throttles of models. requests: in flight at a time to one model, on each worker. fork: what is
    different in its episode, of a run that is a fork.
    """

    load: Callable[[], Task[Any]]
    world: Callable[..., Any]
    limits: Limits
    requests: int
    fork: Fork | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A job is ready on a worker; or `error` says why not."""

    version: str = __version__
    data_hash: str = ""
    error: Exception | None = None


# From the driver.


@dataclass(frozen=True, slots=True)
class Begin:
    """Run an episode from where its events end."""

    job: str
    where: Where
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """To what was asked under a ticket; error: what came of it instead."""

    ticket: int
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """Start no more effects of a job."""

    job: str
    reason: str


# To the driver.


@dataclass(frozen=True, slots=True)
class Append:
    ticket: int
    job: str
    event: Event


@dataclass(frozen=True, slots=True)
class Permit:
    """One request of about `estimate` tokens to a model; held until its `Release`."""

    ticket: int
    model: str
    settings: ModelSettings
    estimate: int


@dataclass(frozen=True, slots=True)
class Release:
    ticket: int


@dataclass(frozen=True, slots=True)
class Spent:
    """A request came back: its true tokens replace the estimate."""

    model: str
    tokens: int
    estimate: int


@dataclass(frozen=True, slots=True)
class Ended:
    job: str
    row: EpisodeRow
    lost: tuple[Usage, ...]


@dataclass(frozen=True, slots=True)
class Crashed:
    job: str
    where: Where
    error: Exception


@dataclass(frozen=True, slots=True)
class Drained:
    """The job was closed, and nothing of it is in flight any more."""

    job: str


@dataclass
class _OpenJob:
    job: Job
    task: Task[Any]
    base: World
    stack: AsyncExitStack
    gate: Gate = field(default_factory=Gate)
    running: set[asyncio.Task[None]] = field(default_factory=set)


class Worker:
    """Runs episodes of any number of jobs side by side in one event loop.

    Args:
        environ: variables of the driver's process that hold here, too.
        folder: the driver's working directory, used where it exists here.
    """

    def __init__(self, environ: Mapping[str, str], folder: str) -> None:
        os.environ.update(environ)
        if Path(folder).is_dir():
            os.chdir(folder)
        self._jobs: dict[str, _OpenJob] = {}
        self._out: list[Any] = []
        self._heard = asyncio.Event()
        self._tickets = count()
        self._asked: dict[int, asyncio.Future[None]] = {}

    async def open(self, name: str, job: Job) -> Opened:
        """Load a job. Any number of calls of one name open it once."""
        try:
            if name not in self._jobs:
                task, stack = job.load(), AsyncExitStack()
                base = await stack.enter_async_context(job.world(throttle=self._throttle(job)))
                opened = self._jobs[name] = _OpenJob(job, task, base, stack)
                drained = asyncio.create_task(self._drained(name, opened.gate))
                opened.running.add(drained)
            return Opened(data_hash=self._jobs[name].task.data_hash)
        except Exception as error:
            return Opened(error=_portable(error))

    async def tell(self, messages: list[Begin | Answer | Close]) -> None:
        for message in messages:
            if isinstance(message, Answer):
                self._answered(message)
            elif (open_job := self._jobs.get(message.job)) is None:
                continue  # forgotten meanwhile
            elif isinstance(message, Close):
                open_job.gate.close(message.reason)
            else:
                self._begin(message, open_job)

    async def hear(self) -> list[Any]:
        """What the driver has to know; waits until there is something."""
        await self._heard.wait()
        self._heard.clear()
        out, self._out = self._out, []
        return out

    async def forget(self, name: str) -> None:
        """Stop a job at once, and close what it opened."""
        open_job = self._jobs.pop(name, None)
        if open_job is None:
            return
        running = [*open_job.running]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await open_job.stack.aclose()

    def say(self, message: Any) -> None:
        self._out.append(message)
        self._heard.set()

    async def ask(self, message: Callable[[int], Any]) -> int:
        """Returns the ticket when the driver has answered. Raises what it answered with."""
        ticket = next(self._tickets)
        answer = self._asked[ticket] = asyncio.get_running_loop().create_future()
        self.say(message(ticket))
        try:
            await answer
        finally:
            del self._asked[ticket]
        return ticket

    def _answered(self, answer: Answer) -> None:
        waiting = self._asked.get(answer.ticket)
        if waiting is None or waiting.done():
            return
        if answer.error is None:
            waiting.set_result(None)
        else:
            waiting.set_exception(answer.error)

    def _begin(self, begin: Begin, open_job: _OpenJob) -> None:
        task = asyncio.create_task(self._play(begin, open_job))
        open_job.running.add(task)
        task.add_done_callback(open_job.running.discard)

    async def _drained(self, name: str, gate: Gate) -> None:
        await gate.idle()
        self.say(Drained(name))

    async def _play(self, begin: Begin, open_job: _OpenJob) -> None:
        log = _DriversLog(self, begin, open_job.gate)
        try:
            row, lost = await play_episode(
                open_job.task,
                begin.where,
                open_job.base,
                gate=open_job.gate,
                log=log,
                limits=open_job.job.limits,
                fork=open_job.job.fork,
            )
        except Exception as error:
            self.say(Crashed(begin.job, begin.where, _portable(error)))
        else:
            self.say(Ended(begin.job, row, tuple(lost)))

    def _throttle(self, job: Job) -> Callable[[str, ModelSettings], Throttle]:
        def make(model: str, settings: ModelSettings) -> Throttle:
            if settings.requests_per_minute is None and settings.tokens_per_minute is None:
                return Throttle(replace(settings, concurrency=job.requests))
            return _DriversThrottle(self, model, replace(settings, api_key=None))

        return make


class _DriversLog:
    """The log as the flow of one episode sees it, kept by the driver."""

    def __init__(self, worker: Worker, begin: Begin, gate: Gate) -> None:
        self._worker, self._begin, self._gate = worker, begin, gate

    def read(self, episode: str) -> tuple[Event, ...]:
        return self._begin.events

    @contextmanager
    def writing(self, episode: str) -> Iterator[None]:
        """The driver sees to it."""
        yield

    async def append(self, event: Event) -> None:
        self._gate.hold()
        try:
            await self._worker.ask(lambda ticket: Append(ticket, self._begin.job, event))
        finally:
            # A flow that has come to its end says so before the job counts as drained.
            asyncio.get_running_loop().call_soon(self._gate.let_go)


class _DriversThrottle(Throttle):
    """Limits that hold for the whole cluster: the driver keeps them."""

    def __init__(self, worker: Worker, model: str, settings: ModelSettings) -> None:
        super().__init__(settings)
        self._worker, self._model, self._settings = worker, model, settings

    @asynccontextmanager
    async def request(self, estimate: int) -> AsyncIterator[None]:
        ticket = await self._worker.ask(
            lambda ticket: Permit(ticket, self._model, self._settings, estimate)
        )
        try:
            yield
        finally:
            self._worker.say(Release(ticket))

    def used(self, tokens: int, estimate: int) -> None:
        self._worker.say(Spent(self._model, tokens, estimate))


def _portable(error: Exception) -> Exception:
    """The error, or where it does not survive the way, one that tells of it."""
    try:
        if str(pickle.loads(pickle.dumps(error))) == str(error):
            return error
    except Exception:  # whatever pickling raises
        pass
    return FlowError("".join(traceback.format_exception(error)))
