"""Episodes as they are looked at step by step: what a system adds to what is the same for all.

    REPLAY = Replay(state=…, marks=…, lines=…)

`System.replay` names it as `module:attribute`. A system without one is shown all the same: its
lanes, its conversation, and every request and reply; only the middle of the page stays general.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import JsonValue

from naisei.core import Event, InputError, Where
from naisei.entries import load_entry
from naisei.runs.frozen import Frozen
from naisei.runs.lines import Line, effect_lines
from naisei.runs.task import Task
from naisei.system.registry import (
    WITHOUT_COMMAND,
    experiment_of,
    find_system,
    system_names,
    task_of,
)

#: retry: asked for once more. rejected: a draft that was not used. failure: it failed. wrong: from
#: here on it could only fail, see `Turning`.
StepMark = Literal["retry", "rejected", "failure", "wrong"]


@dataclass(frozen=True, slots=True)
class RecordedEpisode:
    """An episode of a run. result: `None` while it is not scored; then `failure` may say why."""

    path: Path
    frozen: Frozen
    where: Where
    events: Sequence[Event]
    result: JsonValue = None
    failure: str = ""

    @property
    def task(self) -> Task[Any]:
        """The task of its run, loaded once.

        Raises:
            InputError: its data or its system cannot be had any more.
        """
        return _task(self.path, self.frozen.digest)

    def config(self) -> Any:
        """The run's configuration as its experiment's own model. Raises `InputError`."""
        place = self.path / "config.json"
        experiment = experiment_of(self.frozen.system, self.frozen.config, self.path)
        return self.frozen.config_as(experiment.config, place)


@lru_cache(maxsize=8)
def _task(path: Path, digest: str) -> Task[Any]:
    return task_of(Frozen.read(path / "config.json"), path)


def load_ahead(path: Path, frozen: Frozen) -> None:
    """The task of a run whose episodes will be looked at: up to half a second's work."""
    if replay_of(frozen.system) != Replay():
        with suppress(InputError):  # the page of the episode goes without
            _task(path, frozen.digest)


@dataclass(frozen=True, slots=True)
class Turning:
    """Where an episode took the wrong way: the first sign of it, often long before it failed.
    number: of the event, from 0. told: what happened there, in a sentence."""

    number: int
    told: str


def _default_lines(episode: RecordedEpisode, event: Event) -> Sequence[Line]:
    return effect_lines(event) if event.kind in ("ask", "act", "say") else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """How episodes of a system are shown.

    state: HTML of where things stood after the first events, by the
    same fold as the live page; empty for nothing to show. marks: number of an event, from 0, →
    what is to be said of it beyond its failure and its resends. turning: where it took the wrong
    way, `None` where it did not. lines: what an event adds to the conversation; none for what is
    no part of it. All but `marks` may raise `InputError` where data cannot be had any more.
    """

    state: Callable[[RecordedEpisode, Sequence[Event]], str] = lambda episode, events: ""
    marks: Callable[[Sequence[Event]], Mapping[int, StepMark]] = lambda events: {}
    turning: Callable[[RecordedEpisode], Turning | None] = lambda episode: None
    lines: Callable[[RecordedEpisode, Event], Sequence[Line]] = _default_lines


def replay_of(system: str) -> Replay:
    """That of a system; a bare one where it has none or is not installed."""
    if system not in (*system_names(), *WITHOUT_COMMAND):
        return Replay()
    place = find_system(system).replay
    if not place:
        return Replay()
    found = load_entry(place)
    assert isinstance(found, Replay), place
    return found


def shown_marks(replay: Replay, events: Sequence[Event]) -> dict[int, StepMark]:
    """The system's marks, and those of any system: failed effects, and replies asked for again."""
    found: dict[int, StepMark] = {}
    for number, event in enumerate(events):
        if event.failure is not None:
            found[number] = "failure"
        elif (used := event.usage) is not None and (used.attempts > 1 or used.repaired):
            found[number] = "retry"
    return {**found, **replay.marks(events)}
