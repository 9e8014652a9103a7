"""A worker of a cluster: runs episodes for a driver, which stores the log.

Each method is awaited by the driver. A call returns new events; the flow continues once the driver
has stored them and calls again.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
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
    """A job for workers: all they need to run a task's episodes.

    load: makes the task. world: opens the base world, as `base_world` does; receives the factory
    of model throttles. requests: concurrent requests to one model, per worker. workers: number of
    workers that share per-minute limits equally. fork: the changes of a forked episode.
    """

    load: Callable[[], Task[Any]]
    world: Callable[..., Any]
    limits: Limits
    requests: int
    workers: int
    fork: Fork | None = None

    def throttle(self, model: str, settings: ModelSettings) -> Throttle:
        """Return the throttle of one model on each worker."""
        limits = ("requests_per_minute", "tokens_per_minute")
        share: dict[str, Any] = {
            name: limit / self.workers for name in limits if (limit := getattr(settings, name))
        }
        return Throttle(replace(settings, concurrency=self.requests, **share))


@dataclass(frozen=True, slots=True)
class Opened:
    """Whether a job is ready on a worker; otherwise `error` gives the reason."""

    version: str = __version__
    data_hash: str = ""
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class _Progressed:
    """Events to store before an episode continues. Without events, the episode has ended: with an
    outcome and the cost of failed effects that left no event, or with an error."""

    events: tuple[Event, ...] = ()
    row: EpisodeRow | None = None
    lost: tuple[Usage, ...] = ()
    error: Exception | None = None


@dataclass
class _OpenJob:
    job: Job
    task: Task[Any]
    base: World
    stack: AsyncExitStack
    gate: Gate = field(default_factory=Gate)
    running: set[asyncio.Task[None]] = field(default_factory=set)
    played: dict[str, _Play] = field(default_factory=dict)


class Worker:
    """Runs episodes of any number of jobs concurrently in one event loop.

    Args:
        environ: variables copied from the driver's process.
        folder: the driver's working directory, used where it exists here.
    """

    def __init__(self, environ: Mapping[str, str], folder: str) -> None:
        os.environ.update(environ)
        if Path(folder).is_dir():
            os.chdir(folder)
        self._jobs: dict[str, _OpenJob] = {}

    async def ready(self) -> None:
        """Returns once the worker has started."""

    async def alive(self) -> None:
        """Never returns; awaiting it detects the worker's end."""
        await asyncio.Event().wait()

    async def open(self, name: str, job: Job) -> Opened:
        """Load a job. Repeated calls with the same name load it only once."""
        try:
            if name not in self._jobs:
                task, stack = job.load(), AsyncExitStack()
                base = await stack.enter_async_context(job.world(throttle=job.throttle))
                self._jobs[name] = _OpenJob(job, task, base, stack)
            return Opened(data_hash=self._jobs[name].task.data_hash)
        except Exception as error:
            return Opened(error=_portable(error))

    async def begin(self, name: str, where: Where, events: tuple[Event, ...]) -> _Progressed:
        """Run an episode from the end of its events until it has new events to store."""
        opened = self._jobs[name]
        play = opened.played[where.episode] = _Play(events, opened.gate)
        task = asyncio.create_task(play.run(opened, where))
        opened.running.add(task)
        task.add_done_callback(opened.running.discard)
        return await play.progressed()

    async def go_on(self, name: str, episode: str) -> _Progressed:
        """Continue an episode after its events were stored."""
        play = self._jobs[name].played[episode]
        play.stored()
        return await play.progressed()

    async def close(self, name: str, reason: str) -> None:
        """Stop starting effects of a job."""
        if (opened := self._jobs.get(name)) is not None:
            opened.gate.close(reason)

    async def drained(self, name: str) -> None:
        """Returns once a job is closed and nothing is in flight."""
        if (opened := self._jobs.get(name)) is not None:
            await opened.gate.idle()

    async def forget(self, name: str) -> None:
        """Stop a job at once, and close its resources."""
        opened = self._jobs.pop(name, None)
        if opened is None:
            return
        running = [*opened.running]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await opened.stack.aclose()


class _Play:
    """One running episode, and its log as seen by the flow; the driver stores it."""

    def __init__(self, events: tuple[Event, ...], gate: Gate) -> None:
        self._events, self._gate = events, gate
        self._unsaid: list[tuple[Event, asyncio.Future[None]]] = []
        self._said: list[tuple[Event, asyncio.Future[None]]] = []
        self._news, self._ended = asyncio.Event(), _Progressed()

    async def run(self, opened: _OpenJob, where: Where) -> None:
        try:
            row, lost = await play_episode(
                opened.task,
                where,
                opened.base,
                gate=self._gate,
                log=self,
                limits=opened.job.limits,
                fork=opened.job.fork,
            )
            self._ended = _Progressed(row=row, lost=tuple(lost))
        except Exception as error:
            self._ended = _Progressed(error=_portable(error))
        self._news.set()

    async def progressed(self) -> _Progressed:
        await self._news.wait()
        self._news.clear()
        self._said, self._unsaid = self._unsaid, []
        if self._said:
            return _Progressed(tuple(event for event, _ in self._said))
        return self._ended

    def stored(self) -> None:
        for _, waiting in self._said:
            if not waiting.done():
                waiting.set_result(None)

    def read(self, episode: str) -> tuple[Event, ...]:
        return self._events

    @contextmanager
    def writing(self, episode: str) -> Iterator[None]:
        """Do nothing: the driver handles locking."""
        yield

    async def append(self, event: Event) -> None:
        self._gate.hold()
        try:
            waiting = asyncio.get_running_loop().create_future()
            self._unsaid.append((event, waiting))
            self._news.set()
            await waiting
        finally:
            # An ended flow reports its end before the job counts as drained.
            asyncio.get_running_loop().call_soon(self._gate.let_go)


def _portable(error: Exception) -> Exception:
    """Return the error, or a picklable description of it."""
    try:
        if str(pickle.loads(pickle.dumps(error))) == str(error):
            return error
    except Exception:  # pickling may raise anything
        pass
    return FlowError("".join(traceback.format_exception(error)))
