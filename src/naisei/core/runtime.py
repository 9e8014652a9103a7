"""Runtimes: the drivers of a flow. They only perform the effects requested by the engine.

`run` (sync) and `arun` (async) share the engine, including replay, limits and the log.
`play` is the scripted runtime: a flow and a list of results, without a world.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from naisei.core.effects import Effect, Flow
from naisei.core.engine import (
    Advance,
    Branch,
    Episode,
    Fork,
    Need,
    Steps,
    Storing,
    Unrestored,
    drive,
    steps,
)
from naisei.core.errors import EffectFailed, FlowError, ReplayDivergence
from naisei.core.events import Event, EventLog, Limits, MemoryLog, Where, writing
from naisei.core.world import FunctionHandler, Handler, World

T = TypeVar("T")
#: How a handler waits (seconds) between two attempts at one effect. Nothing is in flight then, so
#: the driver may stop the flow. `None`: the handler's own way of waiting.
between_attempts: ContextVar[Callable[[float], Awaitable[None]] | None] = ContextVar(
    "between_attempts", default=None
)


@contextmanager
def _started(
    flow: Flow[Any],
    world: World,
    log: EventLog | None,
    where: Where,
    limits: Limits,
    *,
    apart: bool = False,
) -> Iterator[tuple[Episode, Steps]]:
    log = MemoryLog() if log is None else log
    with writing(log, where.episode):
        episode = Episode(world, log, where, limits, apart=apart)
        yield episode, steps(flow, where, Branch(episode, episode.meter))


def _finished(episode: Episode, result: T) -> T:
    if (event := episode.unread()) is not None:
        raise ReplayDivergence(
            str(event.where), f"{event.kind} {event.request}", "nothing: it ended before"
        )
    return result


@contextmanager
def _unrestored() -> Iterator[None]:
    try:
        yield
    except Unrestored as stopped:
        failure = stopped.failure
    else:
        return
    raise failure


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
        EffectFailed: an effect failed and the flow did not catch it, or a handler could
            not rebuild its state.
        ReplayDivergence: the flow does not follow the log.
        EpisodeBusy: another call is running the episode on this log.
    """
    with _started(flow, world, log, where, limits) as (episode, todo):
        with _unrestored():
            result: T = drive(todo, _perform)
        return _finished(episode, result)


class _TapeEnded(Exception):
    """The flow reached an effect that is not recorded."""


def replay_prefix(
    flow: Flow[Any], world: World, events: Iterable[Event], where: Where = Where()
) -> None:
    """Replay recorded events into a flow; nothing is performed or logged.

    Shows the flow's state after the first n events of an episode.

    Raises:
        ReplayDivergence: the flow does not follow the events.
    """
    log = MemoryLog()
    log.events += events
    episode = Episode(world, log, where)

    def stop(need: Need) -> Any:
        raise _TapeEnded

    with suppress(_TapeEnded), _unrestored():
        drive(steps(flow, where, Branch(episode, episode.meter)), stop)


def _perform(need: Need) -> Any:
    out = need.handler.perform(need.effect, need.where)
    if inspect.isawaitable(out):
        if inspect.iscoroutine(out):
            out.close()
        raise FlowError(f"the handler of {type(need.effect).__name__} is async: use arun, not run")
    return out


async def arun(
    flow: Flow[T],
    world: World,
    *,
    log: EventLog | None = None,
    where: Where = Where(),
    limits: Limits = Limits(),
    apart: bool = False,
) -> T:
    """Like `run`, for plain and async handlers; gathered parts run concurrently.

    apart: run the flow's own computation in a thread, so that it does not block a server; handlers
    and the log stay in the event loop.

    A crash in one gathered part cancels the others and is raised directly, not in a group.
    """
    with _started(flow, world, log, where, limits, apart=apart) as (episode, todo):
        with _unrestored():
            result: T = await _adrive(todo, _Thread() if apart else None)
        return _finished(episode, result)


class _Thread:
    """A thread that runs flows outside the event loop, one step at a time, in one context."""

    def __init__(self) -> None:
        self._alone, self._context = asyncio.Lock(), copy_context()

    async def advanced(self, advance: Advance) -> tuple[bool, Any]:
        async with self._alone:
            loop = asyncio.get_running_loop()
            going = loop.run_in_executor(None, self._context.run, advance.advanced)
            try:
                return await asyncio.shield(going)
            except asyncio.CancelledError:
                # A generator that is running cannot be closed.
                while not going.done():
                    with suppress(asyncio.CancelledError):
                        await asyncio.wait([going])
                raise


async def _adrive(todo: Steps, thread: _Thread | None) -> Any:
    sent: Any = None
    failed: EffectFailed | None = None
    try:
        while True:
            try:
                need = todo.throw(failed) if failed is not None else todo.send(sent)
            except StopIteration as stop:
                return stop.value
            sent, failed = None, None
            try:
                if isinstance(need, Need):
                    sent = await _aperform(need)
                elif isinstance(need, Storing):
                    await need.done
                elif isinstance(need, Advance):
                    assert thread is not None
                    sent = await thread.advanced(need)
                else:
                    sent = await _afork(need, thread)
            except EffectFailed as caught:
                failed = caught
    finally:
        todo.close()


async def _aperform(need: Need) -> Any:
    out = need.handler.perform(need.effect, need.where)
    return await out if inspect.isawaitable(out) else out


async def _afork(fork: Fork, thread: _Thread | None) -> list[Any]:
    results: list[Any] = [None] * len(fork.branches)

    async def one_by_one(indices: Iterable[int]) -> None:
        for i in indices:
            try:
                results[i] = await _adrive(fork.branches[i], thread)
            except EffectFailed as failed:
                results[i] = failed

    free = [i for i in range(len(fork.branches)) if i not in fork.ordered]
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(one_by_one(fork.ordered))
            for i in free:
                group.create_task(one_by_one([i]))
    except BaseExceptionGroup as several:
        crash = several.exceptions[0]
    else:
        return results
    raise crash


@dataclass(frozen=True, slots=True)
class Played(Generic[T]):
    """The outcome of a scripted flow: its result, and the effects it yielded, in order."""

    result: T
    effects: list[Effect[Any]]


def play(flow: Flow[T], results: Iterable[Any]) -> Played[T]:
    """Drive a flow with scripted results, in order.

    Each entry is the result of the next effect, an exception to raise at it, or a
    function of the effect. A `Gather` takes one entry per part that is an effect, and
    as many as needed for parts that are flows.

    Raises:
        FlowError: too few or too many results, or a result of the wrong type.
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

    result = run(flow, _Anything(perform))
    left = list(script)
    if left:
        raise FlowError(f"the flow ended with {len(left)} scripted results left over")
    return Played(result, effects)


class _Anything(World):
    """A world in which one function performs every effect."""

    def __init__(self, perform: Callable[[Effect[Any]], Any]) -> None:
        super().__init__({})
        self._all = FunctionHandler(perform)

    def handler(self, effect: Effect[Any]) -> Handler:
        return self._all
