"""Events: the record of a run. One event is one effect with its result.

The log is the only truth of a run: results, transcripts, tokens and memories are
folded from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from naisei.core.limits import Usage

__all__ = ["Event", "EventLog", "MemoryLog", "Where"]


@dataclass(frozen=True, slots=True)
class Where:
    """The position of an effect: which episode, and where in it.

    `path` is the step of the flow, then of the flow inside it, … : `(4, 1, 0)` is the
    first step of the second part gathered at the fifth step. It does not depend on the
    order in which the network answered.
    """

    instance: str = ""
    trial: int = 0
    path: tuple[int, ...] = ()

    @property
    def episode(self) -> str:
        return f"{self.instance}#{self.trial}"

    @property
    def step(self) -> str:
        return ".".join(map(str, self.path))

    def at(self, n: int) -> Where:
        return Where(self.instance, self.trial, (*self.path, n))

    def __str__(self) -> str:
        return f"{self.episode} step {self.step}"


@dataclass(frozen=True, slots=True)
class Event:
    """One effect and its result (or, where a flow caught it, its failure).

    digest: fingerprint of kind and request, compared on replay. failure: class and
    message of an `EffectFailed`, in which case `result` is `None`. usage, seconds (wall
    clock): of this effect without those recorded inside it, so that sums count once.
    """

    where: Where
    kind: str
    digest: str
    request: JsonValue
    result: JsonValue = None
    failure: tuple[str, str] | None = None
    usage: Usage | None = None
    seconds: float = 0.0


class EventLog(Protocol):
    """Where events go. `append` returns only when the event survives a killed process."""

    def append(self, event: Event) -> None: ...

    def read(self, episode: str) -> Iterable[Event]:
        """The events of an episode, in the order they were appended."""
        ...


class MemoryLog:
    """An `EventLog` in memory: for tests, chats that are not kept, and embedding naisei."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def append(self, event: Event) -> None:
        self.events.append(event)

    def read(self, episode: str) -> list[Event]:
        return [e for e in self.events if e.where.episode == episode]
