"""The run engine: many concurrent episodes in one event loop, each resumed by replay.

`Engine` is the protocol; `run_task` is the local engine on asyncio. Engines share `TaskRun`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from naisei.core import (
    EffectFailed,
    Event,
    EventLog,
    InputError,
    Limits,
    Usage,
    Where,
    World,
)
from naisei.core.events import plain
from naisei.lang import say
from naisei.runs.budget import UNBOUNDED, Budget, Gate, GatedWorld, Ledger
from naisei.runs.directory import RunDirectory
from naisei.runs.lock import arun_logged, retry_while_locked
from naisei.runs.progress import Progress, Standing, stopping_on_signals
from naisei.runs.task import CLUSTERS, TITLES, EpisodeRow, Task

if TYPE_CHECKING:
    from naisei.runs.fork import Fork
    from naisei.runs.log import RunLog

_LOG = logging.getLogger("naisei.runs")
_LOG.addHandler(logging.NullHandler())  # the progress display shows it already

#: Seconds to wait for answers in flight after a crash.
_GRACE = 10.0


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """An engine's result: all episodes in the task's order, and costs.

    stopped: empty if the run is complete, else the reason. interrupted: stopped by a signal.
    seconds: duration of this call.
    """

    rows: tuple[EpisodeRow, ...]
    ledger: Ledger
    stopped: str = ""
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def scored(self) -> int:
        return sum(row.scored for row in self.rows)

    @property
    def failed(self) -> int:
        """Episodes left unscored by an instrument failure; the next resume retries them."""
        return sum(not row.scored and bool(row.failure) for row in self.rows)

    @property
    def pending(self) -> int:
        """Unfinished episodes."""
        return len(self.rows) - self.scored - self.failed

    @property
    def exit_code(self) -> int:
        """Exit code. 0: complete. 3: stopped by a budget. 4: complete, but nothing was scored.
        130: stopped by a signal."""
        if self.interrupted:
            return 130
        if self.stopped:
            return 3
        return 4 if self.rows and not self.scored else 0


class Engine(Protocol):
    """Runs the unfinished episodes of a task into a run directory.

    An engine logs each effect before the flow continues, never performs a logged effect
    again, skips finished episodes, and continues after instrument failures.
    """

    async def __call__(
        self,
        task: Task[Any],
        directory: RunDirectory,
        base_world: World,
        *,
        concurrency: int = ...,
        limits: Limits = ...,
        budget: Budget = ...,
        progress: Progress | None = ...,
        on_event: Callable[[Event], None] | None = ...,
        on_episode: Callable[[EpisodeRow], None] | None = ...,
    ) -> RunOutcome: ...


async def run_task(
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
    """Run the unscored episodes of a task, `concurrency` at a time.

    Stops cleanly when the budget is spent or on SIGINT or SIGTERM: nothing new is started;
    effects in flight finish and are logged. A second signal stops at once.

    Args:
        base_world: performs Chat, Embed and Now for every episode.
        limits: limits per episode. They change results, so they belong in the task's config.
        on_event: called after each newly logged event. on_episode: after each episode that
            ended in this call.

    Raises:
        InputError: `concurrency` below 1, or a budget in dollars without a known price.
        Exception: any exception of a flow or handler other than an `EffectFailed`; the log is kept.
    """
    run = TaskRun(task, directory, base_world, limits, budget, progress, on_event, on_episode)
    return await run.carried_out(concurrency)


async def play_episode(
    task: Task[Any],
    where: Where,
    base: World,
    *,
    gate: Gate,
    log: EventLog,
    limits: Limits,
    fork: Fork | None = None,
) -> tuple[EpisodeRow, list[Usage]]:
    """Run one episode; return its outcome and the cost of failed effects without an event.
    fork: the changes, if it is forked from another run.

    Raises:
        Exception: any exception of the flow or a handler other than an `EffectFailed`.
    """
    flow, world = task.start(where, base)
    if fork is not None:
        world = fork.changed(world)
    try:
        gated = GatedWorld(world, gate)
        result = await arun_logged(flow, gated, log=log, where=where, limits=limits)
    except EffectFailed as failed:
        row = EpisodeRow(where, None, f"{type(failed).__name__}: {failed}")
        return row, [event.usage for event in failed.unlogged if event.usage is not None]
    return EpisodeRow(where, plain(result.model_dump(mode="json"))), []


def _fork_of(log: RunLog) -> Fork | None:
    """Return the fork's origin, if the run is a fork."""
    if log.get("fork") is None:
        return None
    from naisei.runs.fork import fork_of

    return fork_of(log)


@dataclass
class TaskRun:
    """One call of an engine: remaining episodes, costs, and when to stop. It is also the log of
    its flows. `played` runs an episode in this process; a subclass may run it elsewhere.
    """

    task: Task[Any]
    directory: RunDirectory
    base: World
    limits: Limits
    budget: Budget
    progress: Progress | None
    on_event: Callable[[Event], None] | None
    on_episode: Callable[[EpisodeRow], None] | None
    interrupted: bool = False
    gate: Gate = field(default_factory=Gate)
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        log = self.directory.log
        scored = {episode for episode, row in log.rows().items() if row.scored}
        self.fork = _fork_of(log)
        self.episodes: Sequence[Where] = tuple(
            w for w in self.task.episodes() if self.fork is None or w.episode == self.fork.episode
        )
        self.todo = [w for w in self.episodes if w.episode not in scored]
        self.ledger = log.ledger()
        self.resumed = self.done = len(self.episodes) - len(self.todo)
        self.failures = 0

    async def carried_out(self, concurrency: int) -> RunOutcome:
        """Run all remaining episodes, `concurrency` at a time."""
        if concurrency < 1:
            raise InputError(
                say(
                    f"1 以上でなければなりません ({concurrency} が渡されました)",
                    f"must be at least 1, not {concurrency}",
                ),
                place="--concurrency",
            )
        path = self.directory.path
        _LOG.info("%s: %d of %d episodes to go", path, len(self.todo), len(self.episodes))
        await self.go(concurrency)
        outcome = self.outcome()
        _LOG.info(
            "%s: %d scored, %d unscored, %d pending, %d tokens%s",
            path,
            outcome.scored,
            outcome.failed,
            outcome.pending,
            outcome.ledger.tokens,
            f", stopped: {outcome.stopped}" if outcome.stopped else "",
        )
        return outcome

    async def go(self, concurrency: int) -> None:
        log = self.directory.log
        await retry_while_locked(lambda: log.put("episodes", len(self.episodes)))
        for note, told in ((TITLES, self.task.titles()), (CLUSTERS, self.task.clusters())):
            if told and log.get(note) is None:
                await retry_while_locked(partial(log.put, note, dict(told)))
        if reached := self.budget.reached(self.ledger):
            self.gate.close(reached)
        loop = asyncio.get_running_loop()
        if self.budget.minutes is not None:
            reason = say(
                f"--max-minutes: {self.budget.minutes:g} 分経過",
                f"--max-minutes: {self.budget.minutes:g} minutes",
            )
            timer = loop.call_later(self.budget.minutes * 60, self.gate.close, reason)
        else:
            timer = None
        if self.progress is not None:
            self.progress.start(self.standing())
        todo = iter(self.todo)
        try:
            with stopping_on_signals(self._interrupt, self.gate.abandon):
                await self._work(
                    [
                        asyncio.create_task(self._worker(todo))
                        for _ in range(min(concurrency, len(self.todo)))
                    ]
                )
        finally:
            if timer is not None:
                timer.cancel()
            if self.progress is not None:
                self.progress.stop(self.standing())

    def _interrupt(self) -> None:
        self.interrupted = True
        self.gate.close(say("中断", "interrupted"))

    async def _work(self, workers: list[asyncio.Task[None]]) -> None:
        """Wait until all workers end, or the gate is closed and nothing is in flight."""
        idle = asyncio.create_task(self.gate.idle())
        pending: set[asyncio.Task[None]] = set(workers)
        crash: BaseException | None = None
        try:
            while pending and not idle.done():
                done, _ = await asyncio.wait({*pending, idle}, return_when=asyncio.FIRST_COMPLETED)
                pending -= done
                for worker in done - {idle}:
                    # Retrieve every exception: several may share a cause.
                    failed = worker.exception()
                    if crash is None and (crash := failed) is not None:
                        self.gate.close(say("エラーで停止", "stopped by an error"))
                        asyncio.get_running_loop().call_later(_GRACE, self.gate.abandon)
        finally:
            for task in (*pending, idle):
                task.cancel()
            await asyncio.gather(*pending, idle, return_exceptions=True)
        if crash is not None:
            raise crash

    async def _worker(self, todo: Iterator[Where]) -> None:
        for where in todo:
            if self.gate.reason:
                return
            await self._episode(where)

    async def _episode(self, where: Where) -> None:
        row, lost = await self.played(where)
        if row.scored:
            self.done += 1
        else:
            self.failures += 1
            _LOG.warning("%s: %s is unscored: %s", self.directory.path, where.episode, row.failure)
        await retry_while_locked(lambda: self.directory.log.finish(row, lost))
        for usage in lost:
            self.ledger.add(usage)
        self._account()
        if self.on_episode is not None:
            self.on_episode(row)

    async def played(self, where: Where) -> tuple[EpisodeRow, list[Usage]]:
        """Run one episode; see `play_episode`."""
        return await play_episode(
            self.task,
            where,
            self.base,
            gate=self.gate,
            log=self,
            limits=self.limits,
            fork=self.fork,
        )

    def append(self, event: Event) -> None:
        """Append an event to the run's log, then count it."""
        self.directory.log.append(event)
        self.ledger.add(event.usage)
        self._account()
        if self.on_event is not None:
            self.on_event(event)

    def read(self, episode: str) -> list[Event]:
        return self.directory.log.read(episode)

    def writing(self, episode: str) -> AbstractContextManager[None]:
        return self.directory.log.writing(episode)

    def _account(self) -> None:
        if reached := self.budget.reached(self.ledger):
            self.gate.close(reached)
        if self.progress is not None:
            self.progress.update(self.standing())

    def standing(self) -> Standing:
        return Standing(
            total=len(self.episodes),
            done=self.done,
            resumed=self.resumed,
            failures=self.failures,
            tokens=self.ledger.tokens,
            usd=self.ledger.usd,
            seconds=time.monotonic() - self.began,
        )

    def outcome(self) -> RunOutcome:
        stored = self.directory.log.rows()
        rows = tuple(stored.get(w.episode, EpisodeRow(w)) for w in self.episodes)
        finished = all(row.scored or row.failure for row in rows)
        return RunOutcome(
            rows,
            self.ledger,
            # A limit reached by the very last call stopped nothing.
            stopped="" if finished and not self.interrupted else self.gate.reason,
            interrupted=self.interrupted,
            seconds=time.monotonic() - self.began,
        )
