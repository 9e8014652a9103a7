"""The engine behind every runtime: replay, limits and the log, without any I/O.

`steps` turns a flow into a generator of *needs*: effects that must be performed
now. Recorded effects are not yielded: the engine feeds their results back. A driver
(`naisei.core.runtime`) only performs the needs, synchronously or asynchronously.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from pydantic import JsonValue, ValidationError

from naisei.core.effects import Effect, Flow, Gather
from naisei.core.errors import EffectFailed, FlowError, LimitReached, ReplayDivergence
from naisei.core.events import Event, EventLog, Limits, Meter, Usage, Where, plain
from naisei.core.messages import fingerprint
from naisei.core.world import FlowHandler, Handler, Performed, World

Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Need:
    """An effect to be performed now, by this handler."""

    effect: Effect[Any]
    handler: Handler
    where: Where


@dataclass(frozen=True, slots=True)
class Fork:
    """Branches to drive concurrently; those in `ordered` run sequentially.

    A driver sends back one value or `EffectFailed` per branch, in order.
    """

    branches: list[Steps]
    ordered: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Storing:
    """An event is being logged; an asynchronous driver awaits `done` and continues."""

    done: Awaitable[None]


@dataclass(frozen=True, slots=True)
class Advance:
    """Advance a flow, in another thread if flows run `apart`."""

    flow: Flow[Any]
    sent: Any
    failed: EffectFailed | None

    def advanced(self) -> tuple[bool, Any]:
        """Return the next effect, or the result of the ended flow."""
        try:
            if self.failed is not None:
                return False, self.flow.throw(self.failed)
            return False, self.flow.send(self.sent)
        except StopIteration as stop:
            return True, stop.value


Steps = Generator[Need | Fork | Storing | Advance, Any, Any]


@dataclass
class Episode:
    """State shared within one run of a flow: its world, log, limits and recorded events. apart: the
    driver runs the flow's own computation (`Advance`)."""

    world: World
    log: EventLog
    where: Where = Where()
    limits: Limits = Limits()
    meter: Meter = field(default_factory=Meter)
    apart: bool = False

    def __post_init__(self) -> None:
        self.tape = {e.where.path: e for e in self.log.read(self.where.episode)}
        self._inside: dict[Path, list[Path]] = {}
        for path in self.tape:
            for depth in range(len(path)):
                self._inside.setdefault(path[:depth], []).append(path)

    def inside(self, path: Path) -> list[Event]:
        """Return the recorded events inside the step at `path` that are not yet replayed."""
        return [self.tape[p] for p in self._inside.get(path, ()) if p in self.tape]

    def unread(self) -> Event | None:
        """Return a recorded event that the flow never reached, if any."""
        return next(iter(self.tape.values()), None)


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of an episode that runs independently.

    meter: the totals checked against the limits. Each part of a `Gather` has its own, so
    that a limit does not depend on which part the network answered first. gathered: other
    branches run concurrently, so state must not be changed.
    """

    episode: Episode
    meter: Meter
    gathered: bool = False


def drive(todo: Steps, perform: Callable[[Need], Any]) -> Any:
    """Drive the engine to its end, one need at a time; return the flow's result."""
    sent: Any = None
    failed: EffectFailed | None = None
    try:
        while True:
            try:
                need = todo.throw(failed) if failed is not None else todo.send(sent)
            except StopIteration as stop:
                return stop.value
            sent, failed = None, None
            if isinstance(need, Fork):
                sent = [settled(branch, perform) for branch in need.branches]
                continue
            if isinstance(need, Storing):
                raise FlowError("somebody else keeps this log: use arun, not run")
            if isinstance(need, Advance):
                sent = need.advanced()
                continue
            try:
                sent = perform(need)
            except EffectFailed as caught:
                failed = caught
    finally:
        todo.close()


def settled(branch: Steps, perform: Callable[[Need], Any]) -> Any:
    """Return the result of a branch, or its failure as a value."""
    try:
        return drive(branch, perform)
    except EffectFailed as failed:
        return failed


class Unrestored(Exception):
    """A handler could not rebuild its state on replay.

    The flow does not see this, since the effect succeeded; the runtime raises `failure`.
    """

    def __init__(self, failure: EffectFailed) -> None:
        super().__init__(str(failure))
        self.failure = failure


def steps(flow: Flow[Any], where: Where, branch: Branch) -> Steps:
    """Drive `flow`, yielding what must be performed; return the flow's result.

    A failure is thrown into the flow. If the flow continues, the failure is logged, so that
    a replay raises it again; if the flow does not catch it, nothing is logged, so that a
    resume retries that effect.
    """
    if not isinstance(flow, Generator):
        raise FlowError(f"a flow is a generator, not {type(flow).__name__} (at {where})")
    sent: Any = None
    failed: EffectFailed | None = None
    try:
        for n in count():
            advance = Advance(flow, sent, failed)
            try:
                if branch.episode.apart:
                    ended, effect = yield advance
                else:
                    ended, effect = advance.advanced()
            except EffectFailed as raised:
                if failed is not None and raised is not failed:
                    raised.unlogged[:0] = failed.unlogged
                raise
            yield from _settle(failed, branch)
            if ended:
                return effect
            sent, failed = None, None
            here = where.at(n)
            _check(effect, here, branch)
            try:
                if isinstance(effect, Gather):
                    sent = yield from _all(effect, here, branch)
                else:
                    sent = yield from _one(effect, here, branch)
            except EffectFailed as caught:
                failed = caught
    finally:
        flow.close()


def _check(effect: Any, where: Where, branch: Branch) -> None:
    """Raise `FlowError` if a flow may not yield this effect here."""
    if not isinstance(effect, Effect):
        raise FlowError(
            f"a flow yielded {type(effect).__name__}, not an effect, at {where} "
            "(use `yield from` for flows and effects)"
        )
    if branch.gathered and type(effect).ordered:
        raise FlowError(
            f"{type(effect).__name__} changes state and cannot run inside a gathered flow "
            f"({where}): return what to do and yield it after the Gather"
        )


def _appended(event: Event, log: EventLog) -> Steps:
    if (storing := log.append(event)) is not None:
        yield Storing(storing)


def _settle(failed: EffectFailed | None, branch: Branch) -> Steps:
    """Log the events held back until now, since the flow caught a failure."""
    if failed is not None:
        for event in failed.unlogged:
            yield from _appended(event, branch.episode.log)
            branch.meter.add(event.usage, event.seconds)
        failed.unlogged.clear()


def _one(effect: Effect[Any], where: Where, branch: Branch) -> Steps:
    """Replay one recorded effect, or perform and log a new one."""
    episode = branch.episode
    handler = episode.world.handler(effect)
    try:
        request = plain(effect.request())
    except TypeError as error:
        raise FlowError(f"{type(effect).__name__} at {where} cannot be logged: {error}") from error
    digest = fingerprint([effect.kind, request])
    event = episode.tape.pop(where.path, None)
    if event is not None:
        if event.digest != digest:
            raise ReplayDivergence(
                str(where),
                _effect_text(event.kind, event.request),
                _effect_text(effect.kind, request),
            )
        return _replayed(effect, event, branch)

    nests = isinstance(handler, FlowHandler)
    if not nests and (inner := episode.inside(where.path)):
        raise ReplayDivergence(
            str(where),
            f"a Gather or a flow with {_effect_text(inner[0].kind, inner[0].request)}",
            _effect_text(effect.kind, request),
        )
    began = time.perf_counter()
    try:
        if reached := branch.meter.reached(episode.limits):
            raise LimitReached(f"limit reached at {where}: {reached}")
        if isinstance(handler, FlowHandler):
            performed = yield from steps(handler.respond(effect, where), where, branch)
        else:
            performed = yield Need(effect, handler, where)
    except EffectFailed as failed:
        # Logged only if the flow continues; see `steps`. A nested
        # flow's failures are logged too, and contain the usage.
        if not nests and failed.unlogged:
            failed = failed.again()
        name = (type(failed).__name__, str(failed))
        usage, seconds = (None, 0.0) if nests else (failed.usage, time.perf_counter() - began)
        failed.unlogged.append(
            Event(where, effect.kind, digest, request, None, name, usage, seconds)
        )
        raise failed
    seconds = 0.0 if nests else time.perf_counter() - began
    data, result, usage = _record(effect, performed, where)
    event = Event(where, effect.kind, digest, request, data, None, usage, seconds)
    yield from _appended(event, episode.log)
    branch.meter.add(usage, seconds)
    return result


def _record(
    effect: Effect[Any], performed: Any, where: Where
) -> tuple[JsonValue, Any, Usage | None]:
    """Return the encoded result, the result as decoded from the log, and its usage.

    The flow receives the decoded result, not the handler's, so that a replay cannot
    differ.
    """
    value, usage = (
        (performed.value, performed.usage)
        if isinstance(performed, Performed)
        else (performed, None)
    )
    try:
        data = plain(effect.encode(value))
        return data, effect.decode(data), usage
    except (TypeError, AttributeError, ValidationError) as error:
        raise FlowError(
            f"the handler of {type(effect).__name__} gave {_cut(repr(value))} at {where}, "
            f"which the log cannot hold: {error}"
        ) from error


def _replayed(effect: Effect[Any], event: Event, branch: Branch) -> Any:
    """Replay a recorded effect: rebuild state without performing; same result or failure."""
    handler = branch.episode.world.handler(effect)
    where = event.where
    if isinstance(handler, FlowHandler):
        _replay_nested(effect, event, handler, branch)
    for inner in branch.episode.inside(where.path):
        # Recorded under a flow handler, replayed under a plain one.
        del branch.episode.tape[inner.where.path]
        branch.meter.add(inner.usage, inner.seconds)
    branch.meter.add(event.usage, event.seconds)
    if event.failure is not None:
        raise EffectFailed.named(*event.failure)
    result = effect.decode(event.result)
    if not isinstance(handler, FlowHandler):
        try:
            handler.restore(effect, result, where)
        except EffectFailed as failed:
            raise Unrestored(failed) from failed
    return result


def _replay_nested(effect: Effect[Any], event: Event, handler: FlowHandler, branch: Branch) -> None:
    """Replay a flow handler's recorded effects, so that states are rebuilt."""
    where = event.where
    limited = event.failure is not None and event.failure[0] == LimitReached.__name__
    if limited and not branch.episode.inside(where.path):
        return  # the limit was reached before the handler was called

    def refuse(need: Need) -> Any:
        raise ReplayDivergence(
            str(need.where),
            f"nothing more inside {_effect_text(event.kind, event.request)}",
            _effect_text(need.effect.kind, need.effect.request()),
        )

    recorded: Any = event.failure if event.failure is not None else event.result
    now: Any
    try:
        performed = drive(steps(handler.respond(effect, where), where, branch), refuse)
        now = _record(effect, performed, where)[0]
    except EffectFailed as failed:
        now = (type(failed).__name__, str(failed))
    if fingerprint(now) != fingerprint(recorded):
        raise ReplayDivergence(
            str(where), _effect_text(event.kind, recorded), _effect_text(effect.kind, now)
        )


def _all(gather: Gather, where: Where, branch: Branch) -> Steps:
    """Run the parts of a `Gather` concurrently; raise the first failure after all ended."""
    if (event := branch.episode.tape.get(where.path)) is not None:
        raise ReplayDivergence(
            str(where),
            _effect_text(event.kind, event.request),
            f"a Gather of {len(gather.parts)} parts",
        )
    ordered = tuple(
        i for i, p in enumerate(gather.parts) if isinstance(p, Effect) and type(p).ordered
    )
    branches = [
        Branch(branch.episode, branch.meter.copy(), branch.gathered or i not in ordered)
        for i in range(len(gather.parts))
    ]
    results: list[Any] = yield Fork(
        [steps(iter(part), where.at(i), branches[i]) for i, part in enumerate(gather.parts)],
        ordered,
    )
    branch.meter.join([b.meter for b in branches])
    failures = [r for r in results if isinstance(r, EffectFailed)]
    if failures:
        for other in failures[1:]:
            failures[0].unlogged.extend(other.unlogged)
        raise failures[0]
    return results


def _effect_text(kind: str, request: Any) -> str:
    return f"{kind} {_cut(str(request))}"


def _cut(text: str) -> str:
    return text if len(text) <= 300 else text[:300] + "…"
