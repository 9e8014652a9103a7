"""An episode with the data shared by all of its steps, read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from naisei.core import Event, InputError, Where
from naisei.lang import language
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line, effect_lines, prompt_text
from naisei.runs.overview import EpisodeOutcome, Overview
from naisei.runs.show import EpisodeFilter, EpisodeLine, episode_page, find_episode, summary_or_none
from naisei.runs.task import TITLES, Digest
from naisei.system.registry import digest_of
from naisei.web.pages.runs.differing import cut, page_bytes
from naisei.web.pages.runs.lists import RunAddress, file_state, opened
from naisei.web.replay import (
    RecordedEpisode,
    Replay,
    StepMark,
    Turning,
    replay_of,
    shown_marks,
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """An episode with the data shared by its steps. fork: origin of a fork, or empty. outcome: as
    in the run's table. summary: the whole episode, as in the report. turning: where it went wrong,
    if known."""

    episode: RecordedEpisode
    line: EpisodeLine | None
    replay: Replay
    marks: Mapping[int, StepMark]
    fork: Mapping[str, Any]
    outcome: EpisodeOutcome
    summary: Sequence[Line]
    turning: Turning | None


def episode_of(place: RunAddress, wanted: str) -> Loaded:
    """Return an episode with all its effects, cached until the run's files change.

    Raises:
        InputError: there is no such episode, or several.
    """
    return _loaded(place.path, file_state(place.path), wanted, language())


@lru_cache(maxsize=6)
def _loaded(path: Path, state: object, wanted: str, spoken: str) -> Loaded:
    """spoken: the language of the texts, part of the cache key."""
    with opened(path) as directory:
        name = find_episode(directory, wanted)
        found = episode_page(directory.log, EpisodeFilter(name=name), limit=1).lines
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
            _outcome(directory, episode, name),
            _summary(episode) or [*map(Line, dict(kept.transcripts).get(name, "").splitlines())],
            _turning(replay, episode),
        )


def _outcome(directory: RunDirectory, episode: RecordedEpisode, name: str) -> EpisodeOutcome:
    frozen, instance = directory.frozen, episode.where.instance
    digest = Digest()
    if episode.result is not None:
        digest = Overview(digest_of(frozen.system, frozen.config)).read(episode.result)
    titles = directory.log.get(TITLES)
    title = titles.get(instance) if isinstance(titles, dict) else ""
    return EpisodeOutcome(name, instance, str(title or digest.title), digest, episode.failure, 0.0)


def _summary(episode: RecordedEpisode) -> Sequence[Line]:
    """Return the summary; empty without a result or its data, or for another version's result."""
    if episode.result is None:
        return ()
    try:
        return episode.task.render_episode(episode.where, episode.result)
    except (InputError, LookupError, ValueError):
        return ()


def _turning(replay: Replay, episode: RecordedEpisode) -> Turning | None:
    try:
        return replay.turning(episode)
    except InputError:  # shown above the conversation already
        return None


def _where(name: str) -> Where:
    instance, _, trial = name.rpartition("#")
    return Where(instance, int(trial) if trial.isdecimal() else 0)


def conversation_lines(loaded: Loaded, number: int) -> Sequence[Line]:
    """Return the conversation lines of an effect, including unused drafts; empty for other
    effects."""
    event = loaded.episode.events[number]
    if loaded.marks.get(number) == "rejected":
        return [replace(line, draft=True) for line in effect_lines(event)]
    try:
        return loaded.replay.lines(loaded.episode, event)
    except (InputError, ValueError):  # shown above already, or a log from another version
        return Replay().lines(loaded.episode, event)


def effect_text(loaded: Loaded, number: int) -> Sequence[Line]:
    """Describe an effect in the words of its system, also outside the conversation."""
    return conversation_lines(loaded, number) or effect_lines(loaded.episode.events[number])


def brief(lines: Sequence[Line], room: int) -> list[Line]:
    """Shorten lines for a small page: texts cut to this many bytes, without folded parts."""
    return [
        replace(line, text=cut(line.text, room), under=tuple(brief(line.under, room)), more=())
        for line in lines
    ]


def beginning(lines: Sequence[Line], room: int) -> list[Line]:
    """Return as many lines as fit into so many bytes."""
    kept: list[Line] = []
    for line in brief(lines, room):
        room -= bytes_of([line])
        if room < 0 and kept:
            return [*kept, Line("…", tone="dim")]
        kept.append(line)
    return kept


def bytes_of(lines: Sequence[Line]) -> int:
    """Return the size in bytes of lines on a page, without folded parts."""
    return sum(page_bytes(line.text) + 100 + bytes_of(line.under) for line in lines)


def request_text(event: Event) -> str:
    """Format a prompt message by message."""
    return "\n".join(f"[{role}] {text}" for role, text in prompt_text(event))
