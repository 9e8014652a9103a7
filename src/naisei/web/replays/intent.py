"""The document assistant, step by step: the five indicators, and the search results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naisei.core import Event
from naisei.web.html import fragment
from naisei.web.pages.documents.conversation import indicators
from naisei.web.replay import RecordedEpisode, Replay


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    found: list[Any] = []
    for event in events:
        if event.kind == "search" and isinstance(event.result, list):
            found = event.result
    return fragment("replays/intent.html", indicators=indicators(events), found=found[:5])


REPLAY = Replay(state=_state)
