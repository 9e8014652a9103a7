"""The engine on a Ray cluster: episodes fan out over actors, and this process keeps the log.

An actor is a `Worker`: it sends its events here, and its flows continue once they are appended.
Budgets are checked here, for the whole cluster; workers share per-minute limits equally. Episodes
of a dead actor resume elsewhere by replay.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import count
from typing import Any

from naisei.core import Event, InputError, Limits, Usage, Where, World
from naisei.lang import say
from naisei.runs.budget import UNBOUNDED, Budget
from naisei.runs.cluster_pool import LOSSES, Cluster, WorkerLost
from naisei.runs.cluster_worker import Job
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import RunOutcome, TaskRun
from naisei.runs.lock import retry_while_locked
from naisei.runs.progress import Progress
from naisei.runs.task import EpisodeRow, Task


@dataclass
class RayEngine:
    """An `Engine` on a cluster.

    Args:
        load: makes the task on a worker; by default the task itself is sent.
        world: opens the base world on a worker, as `base_world` does, and takes `throttle`; by
            default the world itself is sent. Both must survive cloudpickle.
    """

    cluster: Cluster
    load: Callable[[], Task[Any]] | None = None
    world: Callable[..., Any] | None = None

    async def __call__(
        self,
        task: Task[Any],
        directory: RunDirectory,
        base_world: World,
        *,
        concurrency: int = 8,
        limits: Limits = Limits(),
        budget: Budget = UNBOUNDED,
        progress: Progress | None = None,
        on_event: Callable[[Event], None] | None = None,
        on_episode: Callable[[EpisodeRow], None] | None = None,
    ) -> RunOutcome:
        run = ClusterRun(
            task,
            directory,
            base_world,
            limits,
            budget,
            progress,
            on_event,
            on_episode,
            cluster=self.cluster,
            job=Job(
                self.load or (lambda: task),
                self.world or (lambda throttle: nullcontext(base_world)),
                limits,
                self.cluster.slots,
                self.cluster.workers,
            ),
        )
        try:
            return await run.carried_out(concurrency)
        finally:
            await self.cluster.forget(run)


_names = count()


@dataclass(kw_only=True)
class ClusterRun(TaskRun):
    cluster: Cluster
    job: Job

    def __post_init__(self) -> None:
        super().__post_init__()
        self.name = f"{os.getpid()}-{next(_names)}"
        self.job = replace(self.job, fork=self.fork)
        self.packed: Any = None
        self.gate.on_close(lambda reason: self.cluster.close(self, reason))

    async def played(self, where: Where) -> tuple[EpisodeRow, list[Usage]]:
        log = self.directory.log
        losses, steps = 0, -1
        with ExitStack() as held:
            await retry_while_locked(lambda: held.enter_context(self.writing(where.episode)))
            while True:
                events = tuple(await retry_while_locked(lambda: log.read(where.episode)))
                losses = losses + 1 if len(events) == steps else 0
                steps = len(events)
                if losses >= LOSSES:
                    # The machines may be at fault: resuming retries.
                    failure = say(
                        f"同じステップで作業プロセスが {losses} 回落ちました",
                        f"its worker ended {losses} times at the same step",
                    )
                    return EpisodeRow(where, failure=failure), []
                member = await self.cluster.free(alone=self.task.alone)
                try:
                    return await member.play(self, where, events)
                except WorkerLost:
                    continue
                finally:
                    self.cluster.freed(member)


@asynccontextmanager
async def ray_cluster(address: str, *, concurrency: int) -> AsyncIterator[Cluster]:
    """Start one worker per processor of a Ray cluster, but not more than concurrent episodes.
    An existing connection of this process is reused and left open.

    Args:
        address: `ray`: the cluster of `RAY_ADDRESS`, or one on this machine; `ray://HOST:PORT`: as
            Ray's client takes it.
        concurrency: total concurrent episodes.

    Raises:
        InputError: the cluster does not exist.
        ModuleNotFoundError: Ray is not installed (extra `ray`).
    """
    ray: Any = import_module("ray")
    mine = not ray.is_initialized()
    if mine:
        await asyncio.to_thread(_connect, ray, address)
    try:
        processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
        workers = min(processors, concurrency)
        cluster = Cluster(ray, workers=workers, slots=-(-concurrency // workers))
        try:
            yield cluster
        finally:
            await cluster.aclose()
    finally:
        if mine:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    how: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address != "ray":
        how["address"] = address
    elif not os.environ.get("RAY_ADDRESS"):
        how["include_dashboard"] = False
    try:
        ray.init(**how)
    except (ConnectionError, RuntimeError, ValueError, OSError, ImportError) as error:
        raise InputError(
            say(f"Ray のクラスターにつながりません: {error}", f"cannot reach Ray: {error}"),
            place=f"--engine {address}",
            remedy=say(
                "`ray status` でクラスターを、RAY_ADDRESS で接続先を確かめてください",
                "look at the cluster by `ray status`, and at RAY_ADDRESS",
            ),
        ) from error
