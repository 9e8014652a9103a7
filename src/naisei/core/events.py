"""Events: the record of a run. One event is one effect with its result.

The log is the only truth of a run: results, transcripts, tokens and memories are
folded from it.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from naisei.core.errors import EpisodeBusy
from naisei.core.limits import Usage

__all__ = ["Event", "EventLog", "MemoryLog", "SharedLog", "Where", "claimed", "writing"]


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


@runtime_checkable
class SharedLog(EventLog, Protocol):
    """A log that several objects or processes may have open. It says itself who writes what;
    of any other log, the runtimes see to it that one call of this process writes an episode."""

    def writing(self, episode: str) -> AbstractContextManager[None]:
        """Within, nobody else writes the episode.

        Raises:
            EpisodeBusy: somebody does; at once, without waiting.
        """
        ...


def writing(log: EventLog, episode: str) -> AbstractContextManager[None]:
    """Within, no other call writes the episode to this log. Raises `EpisodeBusy` if one does."""
    if isinstance(log, SharedLog):
        return log.writing(episode)
    return claimed((id(log), episode), EpisodeBusy(f"the episode {episode!r} is being run"))


_claims: set[Hashable] = set()
_claiming = threading.Lock()


@contextmanager
def claimed(key: Hashable, busy: EpisodeBusy) -> Iterator[None]:
    """Within, nothing else in this process holds `key`. Raises `busy` if something does."""
    with _claiming:
        if key in _claims:
            raise busy
        _claims.add(key)
    try:
        yield
    finally:
        with _claiming:
            _claims.discard(key)


class MemoryLog:
    """An `EventLog` in memory: for tests, chats that are not kept, and embedding naisei."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def append(self, event: Event) -> None:
        self.events.append(event)

    def read(self, episode: str) -> list[Event]:
        return [e for e in self.events if e.where.episode == episode]
