"""The one engine behind every runtime: replay, limits and the log, without any I/O.

`steps` turns a flow into a generator of *needs*: effects that someone has to perform
now. Recorded effects never surface: their results are fed back here. A driver
(`naisei.core.runtime`) performs the needs, synchronously or not, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from naisei.core import errors
from naisei.core.effects import Effect, Flow, Gather
from naisei.core.errors import EffectFailed, FlowError, LimitReached, ReplayDivergence
from naisei.core.events import Event, EventLog, Where
from naisei.core.fingerprint import fingerprint
from naisei.core.limits import Limits, Meter
from naisei.core.world import FlowHandler, Handler, Performed, World

__all__ = ["Episode", "Fork", "Need", "steps"]


@dataclass(frozen=True, slots=True)
class Need:
    """An effect to be performed now, by this handler."""

    effect: Effect[Any]
    handler: Handler
    where: Where


@dataclass(frozen=True, slots=True)
class Fork:
    """Branches to be driven side by side; those in `ordered` one after another.

    A driver sends back one value or `EffectFailed` per branch, in order.
    """

    branches: list[Steps]
    ordered: tuple[int, ...]


Steps = Generator[Need | Fork, Any, Any]


@dataclass
class Episode:
    """Everything one run of a flow shares: its world, log, limits and recorded past."""

    world: World
    log: EventLog
    where: Where = Where()
    limits: Limits = Limits()
    meter: Meter = field(default_factory=Meter)

    def __post_init__(self) -> None:
        self.tape = {e.where.path: e for e in self.log.read(self.where.episode)}

    def unread(self) -> Event | None:
        """A recorded event that the flow did not come to, if any."""
        return next(iter(self.tape.values()), None)


def _shown(kind: str, request: Any) -> str:
    text = f"{kind} {request}"
    return text if len(text) <= 300 else text[:300] + "…"


def _replayed(effect: Effect[Any], event: Event, digest: str) -> Any:
    """The recorded result; raises the recorded failure, or `ReplayDivergence`."""
    if event.digest != digest:
        raise ReplayDivergence(
            str(event.where),
            _shown(event.kind, event.request),
            _shown(effect.kind, effect.request()),
        )
    if event.failure is not None:
        name, message = event.failure
        raise getattr(errors, name)(message)
    return effect.decode(event.result)


def _one(effect: Effect[Any], where: Where, episode: Episode) -> Steps:
    """One effect: from the tape, or performed and logged."""
    handler = episode.world.handler(effect)
    request = effect.request()
    digest = fingerprint([effect.kind, request])
    event = episode.tape.pop(where.path, None)
    if event is not None:
        episode.meter.add(event.usage, event.seconds)
        _drop_nested(episode, where)
        result = _replayed(effect, event, digest)
        handler.restore(effect, result, where)
        return result

    began = time.perf_counter()
    try:
        if reached := episode.meter.reached(episode.limits):
            raise LimitReached(f"limit reached at {where}: {reached}")
        if isinstance(handler, FlowHandler):
            performed = yield from steps(handler.respond(effect, where), where, episode)
        else:
            performed = yield Need(effect, handler, where)
    except EffectFailed as failed:
        # Becomes part of the record only if the flow lives on; see `steps`.
        failure = (type(failed).__name__, str(failed))
        seconds = time.perf_counter() - began
        if isinstance(handler, FlowHandler):
            failed.unlogged.clear()
        failed.unlogged.append(
            Event(where, effect.kind, digest, request, None, failure, failed.usage, seconds)
        )
        raise
    seconds = time.perf_counter() - began
    value, usage = (
        (performed.value, performed.usage)
        if isinstance(performed, Performed)
        else (performed, None)
    )
    episode.log.append(
        Event(where, effect.kind, digest, request, effect.encode(value), None, usage, seconds)
    )
    episode.meter.add(usage, seconds)
    return value


def _drop_nested(episode: Episode, where: Where) -> None:
    """Count, and pass over, the recorded effects inside a recorded flow handler's effect."""
    depth = len(where.path)
    for path in [p for p in episode.tape if len(p) > depth and p[:depth] == where.path]:
        inner = episode.tape.pop(path)
        episode.meter.add(inner.usage, 0.0)


def _all(gather: Gather, where: Where, episode: Episode) -> Steps:
    """The parts of a `Gather`, side by side. The first failure is raised after all ended."""
    ordered = tuple(
        i for i, p in enumerate(gather.parts) if isinstance(p, Effect) and type(p).ordered
    )
    branches = [
        steps(iter(part), where.at(i), episode, gathered=not isinstance(part, Effect))
        for i, part in enumerate(gather.parts)
    ]
    results: list[Any] = yield Fork(branches, ordered)
    failures = [r for r in results if isinstance(r, EffectFailed)]
    if failures:
        for other in failures[1:]:
            failures[0].unlogged.extend(other.unlogged)
        raise failures[0]
    return results


def steps(flow: Flow[Any], where: Where, episode: Episode, *, gathered: bool = False) -> Steps:
    """Drive `flow`, yielding what must be performed; returns the flow's result.

    A failure is thrown into the flow. If the flow goes on, the failure is logged, so that
    a replay meets it again; if the flow lets it pass, nothing is logged, so that a resume
    tries that effect anew.
    """
    sent: Any = None
    failed: EffectFailed | None = None
    for n in count():
        try:
            effect = flow.throw(failed) if failed is not None else flow.send(sent)
        except StopIteration as stop:
            _settle(failed, episode)
            return stop.value
        _settle(failed, episode)
        sent, failed = None, None
        here = where.at(n)
        if not isinstance(effect, Effect):
            raise FlowError(
                f"a flow yielded {type(effect).__name__}, not an effect, at {here} "
                "(use `yield from` for flows and effects)"
            )
        if gathered and type(effect).ordered:
            raise FlowError(
                f"{type(effect).__name__} changes state and cannot run inside a gathered flow "
                f"({here}): return what to do and yield it after the Gather"
            )
        try:
            if isinstance(effect, Gather):
                sent = yield from _all(effect, here, episode)
            else:
                sent = yield from _one(effect, here, episode)
        except EffectFailed as caught:
            failed = caught


def _settle(failed: EffectFailed | None, episode: Episode) -> None:
    """The flow outlived a failure: what was left open becomes part of the record."""
    if failed is not None:
        for event in failed.unlogged:
            episode.log.append(event)
            episode.meter.add(event.usage, event.seconds)
        failed.unlogged.clear()
