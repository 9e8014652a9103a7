"""Runtimes: the drivers of a flow. They perform what the engine asks for, nothing else.

`run` (sync) and `arun` (async) share the engine, and so replay, limits and the log.
`play` is the scripted runtime: a flow, a list of results, no world.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from naisei.core.effects import Effect, Flow, Gather
from naisei.core.engine import Episode, Fork, Need, Steps, steps
from naisei.core.errors import EffectFailed, FlowError, ReplayDivergence
from naisei.core.events import EventLog, MemoryLog, Where
from naisei.core.limits import Limits
from naisei.core.world import World

__all__ = ["Played", "arun", "play", "run"]

T = TypeVar("T")


def _episode(world: World, log: EventLog | None, where: Where, limits: Limits) -> Episode:
    return Episode(world, MemoryLog() if log is None else log, where, limits)


def _finished(episode: Episode, result: T) -> T:
    if (event := episode.unread()) is not None:
        raise ReplayDivergence(str(event.where), event.kind, "nothing: it ended before")
    return result


def run(
    flow: Flow[T],
    world: World,
    *,
    log: EventLog | None = None,
    where: Where = Where(),
    limits: Limits = Limits(),
) -> T:
    """Run a flow to its end, one effect at a time, and return its result.

    Recorded events of `where.episode` in `log` are replayed first. Handlers must be
    synchronous.

    Raises:
        EffectFailed: an effect failed and the flow did not catch it.
        ReplayDivergence: the flow does not follow what the log holds.
    """
    episode = _episode(world, log, where, limits)
    result: T = _drive(steps(flow, where, episode))
    return _finished(episode, result)


def _drive(todo: Steps) -> Any:
    sent: Any = None
    failed: BaseException | None = None
    while True:
        try:
            need = todo.throw(failed) if failed is not None else todo.send(sent)
        except StopIteration as stop:
            return stop.value
        sent, failed = None, None
        if isinstance(need, Fork):
            sent = [_settled(branch) for branch in need.branches]
            continue
        try:
            sent = need.handler.perform(need.effect, need.where)
            if inspect.isawaitable(sent):
                if inspect.iscoroutine(sent):
                    sent.close()
                raise FlowError(
                    f"the handler of {type(need.effect).__name__} is async: use arun, not run"
                )
        except EffectFailed as caught:
            failed = caught


def _settled(branch: Steps) -> Any:
    try:
        return _drive(branch)
    except EffectFailed as failed:
        return failed


async def arun(
    flow: Flow[T],
    world: World,
    *,
    log: EventLog | None = None,
    where: Where = Where(),
    limits: Limits = Limits(),
) -> T:
    """Like `run`, for plain and async handlers; gathered parts run concurrently."""
    episode = _episode(world, log, where, limits)
    result: T = await _adrive(steps(flow, where, episode))
    return _finished(episode, result)


async def _adrive(todo: Steps) -> Any:
    sent: Any = None
    failed: BaseException | None = None
    while True:
        try:
            need = todo.throw(failed) if failed is not None else todo.send(sent)
        except StopIteration as stop:
            return stop.value
        sent, failed = None, None
        if isinstance(need, Fork):
            sent = await _afork(need)
            continue
        try:
            sent = await _aperform(need)
        except EffectFailed as caught:
            failed = caught


async def _aperform(need: Need) -> Any:
    out = need.handler.perform(need.effect, need.where)
    return await out if inspect.isawaitable(out) else out


async def _asettled(branch: Steps) -> Any:
    try:
        return await _adrive(branch)
    except EffectFailed as failed:
        return failed


async def _afork(fork: Fork) -> list[Any]:
    results: list[Any] = [None] * len(fork.branches)

    async def one_by_one(indices: Iterable[int]) -> None:
        for i in indices:
            results[i] = await _asettled(fork.branches[i])

    free = [i for i in range(len(fork.branches)) if i not in fork.ordered]
    async with asyncio.TaskGroup() as group:
        group.create_task(one_by_one(fork.ordered))
        for i in free:
            group.create_task(one_by_one([i]))
    return results


@dataclass(frozen=True, slots=True)
class Played(Generic[T]):
    """What came of a scripted flow: its result, and the effects it yielded, in order."""

    result: T
    effects: list[Effect[Any]]


def play(flow: Flow[T], results: Iterable[Any]) -> Played[T]:
    """The scripted runtime: drive a flow by hand with the results given, in order.

    Each entry is the result of the next effect, an exception to throw at it, or a
    function of the effect. A `Gather` takes one entry per part that is an effect, and
    as many as they need for parts that are flows.

    Raises:
        FlowError: too few results, or some left over.
    """
    script = iter(results)
    effects: list[Effect[Any]] = []

    def perform(effect: Effect[Any]) -> Any:
        effects.append(effect)
        try:
            entry = next(script)
        except StopIteration:
            raise FlowError(f"the script ends before {effect}") from None
        if isinstance(entry, BaseException):
            raise entry
        if isinstance(entry, Callable) and not isinstance(entry, type):  # type: ignore[arg-type]
            return entry(effect)
        return entry

    def drive(part: Flow[Any]) -> Any:
        sent: Any = None
        failed: BaseException | None = None
        while True:
            try:
                effect = part.throw(failed) if failed is not None else part.send(sent)
            except StopIteration as stop:
                return stop.value
            sent, failed = None, None
            try:
                if isinstance(effect, Gather):
                    sent = [drive(iter(p)) for p in effect.parts]
                else:
                    sent = perform(effect)
            except EffectFailed as caught:
                failed = caught

    result = drive(flow)
    left = list(script)
    if left:
        raise FlowError(f"the flow ended with {len(left)} scripted results left over")
    return Played(result, effects)
