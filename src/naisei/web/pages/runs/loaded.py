"""An episode with all that is the same for each of its steps, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from naisei.core import Event, InputError, Where
from naisei.lang import language
from naisei.runs.effects import EffectView, effect_view, prompt_text
from naisei.runs.show import EpisodeLine, Wanted, episode_page, find_episode, summary_or_none
from naisei.web.pages.runs.lists import Place, file_state, opened
from naisei.web.replay import (
    Mark,
    RecordedEpisode,
    Replay,
    Turning,
    replay_of,
    shown_marks,
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """An episode with all that is the same for each of its steps. fork: what `naisei runs fork`
    kept of where it came from; empty otherwise. summary: in words, if the report has it. turning:
    where it took the wrong way, if the system can tell."""

    episode: RecordedEpisode
    line: EpisodeLine | None
    replay: Replay
    marks: Mapping[int, Mark]
    fork: Mapping[str, Any]
    summary: str
    turning: Turning | None


def episode_of(place: Place, wanted: str) -> Loaded:
    """An episode with all its effects, kept as long as the run's files stay as they are.

    Raises:
        InputError: there is none, or several.
    """
    return _loaded(place.path, file_state(place.path), wanted, language())


@lru_cache(maxsize=6)
def _loaded(path: Path, state: object, wanted: str, spoken: str) -> Loaded:
    """spoken: the language, which is in the words."""
    with opened(path) as directory:
        name = find_episode(directory, wanted)
        found = episode_page(directory.log, Wanted(name=name), limit=1).lines
        line = found[0] if found else None
        events = tuple(directory.log.read(name))
        fork = directory.log.get("fork")
        kept = summary_or_none(directory)
        replay = replay_of(directory.frozen.system)
        where = events[0].where if events else _where(name)
        episode = RecordedEpisode(
            path,
            directory.frozen,
            Where(where.instance, where.trial),
            events,
            line.result if line else None,
            line.failure if line else "",
        )
        return Loaded(
            episode,
            line,
            replay,
            shown_marks(replay, events),
            fork if isinstance(fork, dict) else {},
            dict(kept.transcripts).get(name, ""),
            _turning(replay, episode),
        )


def _turning(replay: Replay, episode: RecordedEpisode) -> Turning | None:
    try:
        return replay.turning(episode)
    except InputError:  # told above the conversation already
        return None


def _where(name: str) -> Where:
    instance, _, trial = name.rpartition("#")
    return Where(instance, int(trial) if trial.isdecimal() else 0)


def worded(loaded: Loaded, number: int) -> EffectView:
    """An effect of an episode in the words of its system."""
    one = effect_view(loaded.episode.events[number], number)
    try:
        return loaded.replay.wording(loaded.episode, one)
    except InputError:  # told above the conversation already
        return one


def request_text(event: Event) -> str:
    """What a model was told, message by message."""
    return "\n".join(f"[{role}] {text}" for role, text in prompt_text(event))
