"""A conversation of two, step by step: the stance of each toward the other."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.core import Event
from naisei.relationship.lines import event_lines
from naisei.relationship.task import ConversationTask
from naisei.runs.lines import Line
from naisei.web.pages.relationship import drawn
from naisei.web.replay import RecordedEpisode, Replay


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    task = episode.task
    if not isinstance(task, ConversationTask):
        return ""
    rules = task.config.rules
    return drawn(task.pairs[episode.where.instance], rules, events)


def _lines(episode: RecordedEpisode, event: Event) -> Sequence[Line]:
    """Return the speaker's name, and the readings after the line."""
    task = episode.task
    if not isinstance(task, ConversationTask):
        return Replay().lines(episode, event)
    pair = task.pairs[episode.where.instance]
    return event_lines(event, pair.names, pair.language)


REPLAY = Replay(state=_state, lines=_lines)
