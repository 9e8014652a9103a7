"""The driver's pool of workers; dead ones are replaced."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei import __version__
from naisei.core import Event, InputError, Usage, Where
from naisei.lang import language, say
from naisei.runs.cluster_worker import Worker
from naisei.runs.lock import retry_while_locked
from naisei.runs.task import EpisodeRow

if TYPE_CHECKING:
    from naisei.runs.cluster import ClusterRun

#: Give up an episode after it killed this many workers without progress.
LOSSES = 3
#: Variables passed to workers, besides those that begin with NAISEI_.
_VARIABLES = ("OPENAI_BASE_URL", "LC_ALL", "LC_MESSAGES", "LANG")
_SECRET = ("NAISEI_STORE",)


class WorkerLost(Exception):
    """The worker died."""


@dataclass(eq=False)
class Member:
    """One actor. busy: number of running episodes."""

    handle: Any
    cluster: Cluster
    busy: int = 0
    opened: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    draining: set[asyncio.Task[None]] = field(default_factory=set)

    async def play(
        self, run: ClusterRun, where: Where, events: tuple[Event, ...]
    ) -> tuple[EpisodeRow, list[Usage]]:
        """Run an episode on the worker. Raises `WorkerLost` if the worker dies."""
        if run.name not in self.opened:
            self.opened[run.name] = asyncio.create_task(self._open(run))
        await asyncio.shield(self.opened[run.name])
        try:
            done = await self.handle.begin.remote(run.name, where, events)
            while done.events:
                for event in done.events:
                    await retry_while_locked(partial(run.append, event))
                done = await self.handle.go_on.remote(run.name, where.episode)
        except self.cluster.ray.exceptions.RayTaskError:
            raise
        except self.cluster.ray.exceptions.RayError as error:
            raise WorkerLost from error
        if done.error is not None:
            raise done.error
        return done.row, [*done.lost]

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
        run.gate.hold()
        draining = asyncio.create_task(self._drained(run))
        self.draining.add(draining)
        draining.add_done_callback(self.draining.discard)
        if run.gate.reason:
            self.close(run, run.gate.reason)

    async def _drained(self, run: ClusterRun) -> None:
        """Counts the worker's effects in flight until its job is closed."""
        with suppress(self.cluster.ray.exceptions.RayError):  # a dead worker has nothing in flight
            await self.handle.drained.remote(run.name)
        run.gate.let_go()

    def close(self, run: ClusterRun, reason: str) -> None:
        # `_drained` shows whether the call arrived.
        self.handle.close.remote(run.name, reason)

    async def forget(self, run: ClusterRun) -> None:
        if (opening := self.opened.pop(run.name, None)) is not None:
            opening.cancel()
            with suppress(self.cluster.ray.exceptions.RayError):  # it died and lost its state
                await self.handle.forget.remote(run.name)


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
        ray: the connected module.
        workers: number of actors; each takes one processor and is replaced when it dies.
        slots: concurrent episodes on each.
    """

    def __init__(self, ray: Any, *, workers: int, slots: int) -> None:
        self.ray, self.workers, self.slots = ray, workers, slots
        self.members: set[Member] = set()
        self._waiting: list[asyncio.Future[None]] = []
        self._error: Exception | None = None
        self._actor = ray.remote(Worker)
        self._keepers = [asyncio.create_task(self._keep()) for _ in range(workers)]

    async def _keep(self) -> None:
        """Keeps one worker alive, replacing dead ones."""
        failed = 0
        try:
            while True:
                handle = self._actor.options(
                    num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD"
                ).remote(_environ(), str(Path.cwd()))
                member = Member(handle, self)
                try:
                    await handle.ready.remote()
                    failed = 0
                    self.members.add(member)
                    self._wake()
                    await handle.alive.remote()
                except self.ray.exceptions.RayError as error:
                    failed += 1
                    if failed >= LOSSES:
                        raise _unloaded(error) from error
                finally:
                    self.members.discard(member)
                    with suppress(Exception):  # it is gone or about to exit
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
        """Return the least busy worker with a free slot. alone: only an idle one."""
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
            if run.name in member.opened:
                member.close(run, reason)

    async def forget(self, run: ClusterRun) -> None:
        for member in (*self.members,):
            await member.forget(run)

    async def aclose(self) -> None:
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)


def _environ() -> Mapping[str, str]:
    """Return the environment variables passed to workers, without API keys."""
    found = {
        key: value
        for key, value in os.environ.items()
        if key in _VARIABLES or (key.startswith("NAISEI_") and key not in _SECRET)
    }
    return found | {"NAISEI_LANG": language()}
