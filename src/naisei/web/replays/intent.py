"""The document assistant, step by step: the five indicators, and what the search brought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naisei.core import Event
from naisei.intent.evaluation.flow import ItemResult
from naisei.lang import say
from naisei.web.html import fragment
from naisei.web.pages.documents.conversation import Radar
from naisei.web.replay import Headline, RecordedEpisode, Replay


def _headline(episode: RecordedEpisode) -> Headline:
    if episode.result is None or episode.frozen.config.get("task") != "eval":
        return Headline()
    result = ItemResult.model_validate(episode.result)
    rows = [(say("問い", "query"), result.query)]
    rows += [(say("聞き返し", "asked back"), str(len(result.exchanges)))]
    rows += [(say("答え", "answer"), result.answer or say("なし", "none"))]
    return Headline(
        say("答えた", "answered") if result.answered else say("答えなかった", "not answered"),
        result.cited_gold if result.answered else None,
        tuple(rows),
    )


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    return inquiry_state(events)


def inquiry_state(events: Sequence[Event]) -> str:
    """Radar of the last evaluation and the passages of the last search, as HTML."""
    radar: Radar | None = None
    found: list[dict[str, Any]] = []
    for event in events:
        request, result = event.request, event.result
        if event.kind == "chat" and isinstance(request, dict) and request["role"] == "evaluator":
            if isinstance(result, dict):
                radar = Radar.graded(result)  # type: ignore[arg-type]
        elif event.kind == "say":
            radar = Radar.of(event) or radar
        elif event.kind == "search" and isinstance(result, list):
            found = result  # type: ignore[assignment]
    return fragment("replays/intent.html", radar=radar, found=found[:5])


REPLAY = Replay(headline=_headline, state=_state)
