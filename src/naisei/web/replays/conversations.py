"""A visitor's conversation, step by step: what its page showed at each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from naisei.core import Event
from naisei.runs.lines import Line
from naisei.web.conversations.kind import ConversationConfig, ConversationKind
from naisei.web.html import fragment
from naisei.web.pages import pages
from naisei.web.replay import RecordedEpisode, Replay
from naisei.web.replays.director import draft_marks


def _kind_and_config(episode: RecordedEpisode) -> tuple[ConversationKind[Any], Any] | None:
    """Return the kind of a conversation and its configuration; `None` for an unknown kind."""
    frozen = episode.frozen.config_as(ConversationConfig, episode.path / "config.json")
    kinds = {kind.name: kind for page in pages() for kind in page.kinds}
    kind = kinds.get(frozen.kind)
    return None if kind is None else (kind, kind.config.model_validate(frozen.settings))


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    if (held := _kind_and_config(episode)) is None:
        return ""
    kind, config = held
    return fragment("_panels.html", panels=kind.panels(config, events))


def _lines(episode: RecordedEpisode, event: Event) -> Sequence[Line]:
    if (held := _kind_and_config(episode)) is None:
        return Replay().lines(episode, event)
    kind, config = held
    here = "/runs/episode/"  # conversation lines link to this page
    return [
        replace(line, under=tuple(x for x in line.under if not x.link.startswith(here)))
        for line in kind.lines(config, episode.path.name, event)
    ]


REPLAY = Replay(state=_state, marks=draft_marks, lines=_lines)
