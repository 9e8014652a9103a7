"""An episode's shared state, and the one driver under `run` and under replay.

The engine (`naisei.core.engine`) yields what it needs; a driver sends back results.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from naisei.core.effects import Effect
from naisei.core.errors import EffectFailed
from naisei.core.events import Event, EventLog, Limits, Meter, Where
from naisei.core.world import Handler, World

__all__ = ["Branch", "Episode", "Fork", "Need", "Path", "Steps", "drive", "settled"]

Path = tuple[int, ...]


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
        self._inside: dict[Path, list[Path]] = {}
        for path in self.tape:
            for depth in range(len(path)):
                self._inside.setdefault(path[:depth], []).append(path)

    def inside(self, path: Path) -> list[Event]:
        """Recorded events within the step at `path` that the flow has not come to yet."""
        return [self.tape[p] for p in self._inside.get(path, ()) if p in self.tape]

    def unread(self) -> Event | None:
        """A recorded event that the flow did not come to, if any."""
        return next(iter(self.tape.values()), None)


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of an episode that runs by itself.

    meter: what the limits are held against here. Each part of a `Gather` has its own, so
    that a limit does not depend on which part the network answered first. gathered: other
    branches run at the same time, so that state must not be changed.
    """

    episode: Episode
    meter: Meter
    gathered: bool = False


def drive(todo: Steps, perform: Callable[[Need], Any]) -> Any:
    """Drive the engine to the end, one need after another; returns the flow's result."""
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
            try:
                sent = perform(need)
            except EffectFailed as caught:
                failed = caught
    finally:
        todo.close()


def settled(branch: Steps, perform: Callable[[Need], Any]) -> Any:
    """The result of a branch, or its failure as a value."""
    try:
        return drive(branch, perform)
    except EffectFailed as failed:
        return failed
