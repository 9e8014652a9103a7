"""The document assistant, step by step: the five indicators, and what the search brought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naisei.core import Event
from naisei.web.html import fragment
from naisei.web.pages.documents.conversation import Radar
from naisei.web.replay import RecordedEpisode, Replay


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    return inquiry_state(events)


def inquiry_state(events: Sequence[Event]) -> str:
    """Radar of the last evaluation and the passages of the last search, as HTML."""
    found: list[Any] = []
    for event in events:
        if event.kind == "search" and isinstance(event.result, list):
            found = event.result
    radar = Radar.last(events)
    return fragment("replays/intent.html", radar=radar, found=found[:5])


REPLAY = Replay(state=_state)
