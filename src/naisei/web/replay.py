"""Replays: what a system adds to the step-by-step display of its episodes.

    REPLAY = Replay(state=…, marks=…, lines=…)

`System.replay` names it as `module:attribute`. Without one, the page still shows the episode's
lanes, its conversation, and every request and reply; only its middle part is generic.
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

#: retry: requested again. rejected: an unused draft. failure: a failed effect. wrong: from here on
#: the episode could only fail, see `Turning`.
StepMark = Literal["retry", "rejected", "failure", "wrong"]


@dataclass(frozen=True, slots=True)
class RecordedEpisode:
    """An episode of a run. result: `None` if it is not scored; `failure` may then say why."""

    path: Path
    frozen: Frozen
    where: Where
    events: Sequence[Event]
    result: JsonValue = None
    failure: str = ""

    @property
    def task(self) -> Task[Any]:
        """Return the task of its run, loaded once.

        Raises:
            InputError: its data or its system is no longer available.
        """
        return _task(self.path, self.frozen.digest)

    def config(self) -> Any:
        """The run's configuration as its experiment's model class. Raises `InputError`."""
        place = self.path / "config.json"
        experiment = experiment_of(self.frozen.system, self.frozen.config, self.path)
        return self.frozen.config_as(experiment.config, place)


@lru_cache(maxsize=8)
def _task(path: Path, digest: str) -> Task[Any]:
    return task_of(Frozen.read(path / "config.json"), path)


def load_ahead(path: Path, frozen: Frozen) -> None:
    """Preload the task of a run whose episodes will be viewed (up to half a second)."""
    if replay_of(frozen.system) != Replay():
        with suppress(InputError):  # the episode page works without it
            _task(path, frozen.digest)


@dataclass(frozen=True, slots=True)
class Turning:
    """The point where an episode first went wrong, often long before it failed. number: number of
    the event, from 0. told: one sentence about what happened there."""

    number: int
    told: str


def _default_lines(episode: RecordedEpisode, event: Event) -> Sequence[Line]:
    return effect_lines(event) if event.kind in ("ask", "act", "say") else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """How episodes of a system are shown.

    state: HTML of the state after the first events, computed by the same fold as on the live page;
    empty if there is none. marks: event number, from 0, → marks besides its failure and resends.
    turning: where the episode went wrong, or `None`. lines: the conversation lines of an event, if
    it has any. All but `marks` may raise `InputError` if data is no longer available.
    """

    state: Callable[[RecordedEpisode, Sequence[Event]], str] = lambda episode, events: ""
    marks: Callable[[Sequence[Event]], Mapping[int, StepMark]] = lambda events: {}
    turning: Callable[[RecordedEpisode], Turning | None] = lambda episode: None
    lines: Callable[[RecordedEpisode, Event], Sequence[Line]] = _default_lines


def replay_of(system: str) -> Replay:
    """Return the replay of a system; a generic one if it has none or is not installed."""
    if system not in (*system_names(), *WITHOUT_COMMAND):
        return Replay()
    place = find_system(system).replay
    if not place:
        return Replay()
    found = load_entry(place)
    assert isinstance(found, Replay), place
    return found


def shown_marks(replay: Replay, events: Sequence[Event]) -> dict[int, StepMark]:
    """Return the system's marks and the general ones: failed effects, and replies requested
    again."""
    found: dict[int, StepMark] = {}
    for number, event in enumerate(events):
        if event.failure is not None:
            found[number] = "failure"
        elif (used := event.usage) is not None and (used.attempts > 1 or used.repaired):
            found[number] = "retry"
    return {**found, **replay.marks(events)}
