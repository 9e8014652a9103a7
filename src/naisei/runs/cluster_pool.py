"""The workers of a driver: what they say is heard, what they ask is answered, and those that die
are replaced."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei import __version__
from naisei.core import Event, InputError, Usage, Where
from naisei.lang import language, say
from naisei.models.pacing import Throttle
from naisei.runs.cluster_worker import (
    Answer,
    Append,
    Begin,
    Close,
    Crashed,
    Drained,
    Ended,
    Permit,
    Release,
    Spent,
    Worker,
)
from naisei.runs.log import patiently
from naisei.runs.task import EpisodeRow

if TYPE_CHECKING:
    from naisei.runs.cluster import ClusterRun

#: An episode that ended so many workers in a row without one more step is given up.
LOSSES = 3
#: Variables that workers get, beside those that begin with NAISEI_.
_VARIABLES = ("OPENAI_BASE_URL", "LC_ALL", "LC_MESSAGES", "LANG")
_SECRET = ("NAISEI_STORE",)


class WorkerLost(Exception):
    """The worker died."""


@dataclass(eq=False)
class Member:
    """One actor. busy: episodes under way. held: requests to models that it was permitted."""

    handle: Any
    cluster: Cluster
    busy: int = 0
    lost: bool = False
    runs: dict[str, ClusterRun] = field(default_factory=dict)
    opened: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    playing: dict[tuple[str, str], asyncio.Future[Any]] = field(default_factory=dict)
    held: dict[int, AsyncExitStack] = field(default_factory=dict)
    asking: set[asyncio.Task[None]] = field(default_factory=set)

    def tell(self, *messages: Begin | Answer | Close) -> None:
        # Whether it got there shows in what it says, or in its end.
        self.handle.tell.remote([*messages])

    async def play(
        self, run: ClusterRun, where: Where, events: tuple[Event, ...]
    ) -> tuple[EpisodeRow, list[Usage]]:
        """Raises `WorkerLost` if the worker dies."""
        if run.name not in self.opened:
            self.opened[run.name] = asyncio.create_task(self._open(run))
        await asyncio.shield(self.opened[run.name])
        key = (run.name, where.episode)
        ended = self.playing[key] = asyncio.get_running_loop().create_future()
        try:
            if self.lost:
                raise WorkerLost
            self.tell(Begin(run.name, where, events))
            row, lost = await ended
            return row, [*lost]
        finally:
            self.playing.pop(key, None)

    async def _open(self, run: ClusterRun) -> None:
        ray = self.cluster.ray
        if run.packed is None:
            run.packed = ray.put(run.job)
        try:
            opened = await self.handle.open.remote(run.name, run.packed)
        except ray.exceptions.RayTaskError as error:
            raise _unloaded(error) from error
        except ray.exceptions.RayError as error:
            raise WorkerLost from error
        if opened.error is not None:
            raise opened.error
        if opened.version != __version__:
            raise _other(f"naisei {__version__}", f"naisei {opened.version}")
        if opened.data_hash != run.task.data_hash:
            raise _other(run.task.data_hash[:12], opened.data_hash[:12])
        self.runs[run.name] = run
        run.gate.hold()
        if run.gate.reason:
            self.tell(Close(run.name, run.gate.reason))

    def drained(self, name: str) -> None:
        if (run := self.runs.pop(name, None)) is not None:
            run.gate.let_go()

    async def listen(self) -> None:
        """Until the worker dies."""
        while True:
            try:
                messages = await self.handle.hear.remote()
            except self.cluster.ray.exceptions.RayError:
                return
            answers: list[Answer] = []
            for message in messages:
                await self._heard(message, answers)
            if answers:
                self.tell(*answers)

    async def _heard(self, message: Any, answers: list[Answer]) -> None:
        match message:
            case Append(ticket, job, event):
                if (run := self.runs.get(job)) is not None:
                    answers.append(Answer(ticket, await _appended(run, event)))
            case Ended(job, row, lost):
                self._settled(job, row.where, result=(row, lost))
            case Crashed(job, where, error):
                self._settled(job, where, error=error)
            case Drained(job):
                self.drained(job)
            case Permit():
                task = asyncio.create_task(self._permit(message))
                self.asking.add(task)
                task.add_done_callback(self.asking.discard)
            case Release(ticket):
                if (stack := self.held.pop(ticket, None)) is not None:
                    await stack.aclose()
            case Spent(model, tokens, estimate):
                self.cluster.throttles[model].used(tokens, estimate)

    def _settled(
        self, job: str, where: Where, *, result: Any = None, error: Exception | None = None
    ) -> None:
        ended = self.playing.get((job, where.episode))
        if ended is None or ended.done():
            return
        if error is not None:
            ended.set_exception(error)
        else:
            ended.set_result(result)

    async def _permit(self, asked: Permit) -> None:
        throttles = self.cluster.throttles
        throttle = throttles.setdefault(asked.model, Throttle(asked.settings))
        stack = AsyncExitStack()
        await stack.enter_async_context(throttle.request(asked.estimate))
        if self.lost:
            await stack.aclose()
            return
        self.held[asked.ticket] = stack
        self.tell(Answer(asked.ticket))

    async def ended(self) -> None:
        """The worker is gone: others take over what it did, and nothing of it is in flight."""
        self.lost = True
        for task in (*self.asking,):
            task.cancel()
        for stack in self.held.values():
            await stack.aclose()
        for name in [*self.runs]:
            self.drained(name)
        for waiting in self.playing.values():
            if not waiting.done():
                waiting.set_exception(WorkerLost())


async def _appended(run: ClusterRun, event: Event) -> Exception | None:
    try:
        await patiently(lambda: run.append(event))
    except Exception as error:
        return error
    return None


def _other(here: str, there: str) -> InputError:
    return InputError(
        say(
            f"ワーカーのプログラムかデータが、ここのものと違います ({there}、こちらは {here})",
            f"a worker has another program or other data: {there}, not {here}",
        ),
        place="--engine",
        remedy=say(
            "すべてのノードに同じバージョンと同じデータを置いてください",
            "put the same version and the same data on all nodes",
        ),
    )


def _unloaded(error: Exception) -> InputError:
    return InputError(
        say(f"ワーカーで課題を開けません: {error}", f"a worker cannot open the task: {error}"),
        place="--engine",
        remedy=say(
            "すべてのノードに同じ naisei とプラグインを入れてください",
            "install the same naisei and plug-ins on all nodes",
        ),
    )


class Cluster:
    """The workers of this process on a Ray cluster; any number of runs share them.

    Args:
        ray: the module, connected.
        workers: actors; each takes one processor of the cluster, and is replaced when it dies.
        slots: episodes at a time on each.
    """

    def __init__(self, ray: Any, *, workers: int, slots: int) -> None:
        self.ray, self.slots = ray, slots
        self.throttles: dict[str, Throttle] = {}
        self.members: set[Member] = set()
        self._waiting: list[asyncio.Future[None]] = []
        self._error: Exception | None = None
        self._actor = ray.remote(Worker)
        self._keepers = [asyncio.create_task(self._keep()) for _ in range(workers)]

    async def _keep(self) -> None:
        """One worker, and another one whenever it dies."""
        failed = 0
        try:
            while True:
                handle = self._actor.options(
                    num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD"
                ).remote(_environ(), str(Path.cwd()))
                member = Member(handle, self)
                try:
                    await handle.tell.remote([])
                    failed = 0
                    self.members.add(member)
                    self._wake()
                    await member.listen()
                except self.ray.exceptions.RayError as error:
                    failed += 1
                    if failed >= LOSSES:
                        raise _unloaded(error) from error
                finally:
                    self.members.discard(member)
                    await member.ended()
                    with suppress(Exception):  # it is gone, or goes now
                        self.ray.kill(handle)
        except Exception as error:
            self._error = error
            self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)

    async def free(self, *, alone: bool = False) -> Member:
        """A worker with room for one more episode: the least busy one. alone: one that has no
        other."""
        slots = 1 if alone else self.slots
        while True:
            if self._error is not None:
                raise self._error
            free = [m for m in self.members if m.busy < slots]
            if free:
                member = min(free, key=lambda m: m.busy)
                member.busy += 1
                return member
            self._waiting.append(asyncio.get_running_loop().create_future())
            await self._waiting[-1]

    def freed(self, member: Member) -> None:
        member.busy -= 1
        self._wake()

    def close(self, run: ClusterRun, reason: str) -> None:
        for member in self.members:
            if run.name in member.runs:
                member.tell(Close(run.name, reason))

    async def forget(self, run: ClusterRun) -> None:
        for member in (*self.members,):
            if (opening := member.opened.pop(run.name, None)) is not None:
                opening.cancel()
                member.runs.pop(run.name, None)
                with suppress(self.ray.exceptions.RayError):  # it died, and has forgotten
                    await member.handle.forget.remote(run.name)

    async def aclose(self) -> None:
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)


def _environ() -> Mapping[str, str]:
    """What workers take over of this process's environment. Keys are those of their node."""
    found = {
        key: value
        for key, value in os.environ.items()
        if key in _VARIABLES or (key.startswith("NAISEI_") and key not in _SECRET)
    }
    return found | {"NAISEI_LANG": language()}
