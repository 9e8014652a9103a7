"""A text game, step by step: the map so far, the points, and what the player thought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from naisei.core import Event
from naisei.lang import say
from naisei.textgame.schemas import GameResult
from naisei.textgame.texts import ending, readable
from naisei.web.html import fragment
from naisei.web.pages.games import Picture
from naisei.web.replay import Headline, RecordedEpisode, Replay, Told

__all__ = ["REPLAY", "game_state"]


def _headline(episode: RecordedEpisode) -> Headline:
    if episode.result is None:
        return Headline()
    result = GameResult.model_validate(episode.result)
    done = ", ".join(step.action for step in result.steps[:12])
    more = "…" if len(result.steps) > 12 else ""
    return Headline(
        ending(result),
        result.won or (result.score == result.max_score and not result.lost),
        (
            (say("ゲーム", "game"), result.game),
            (say("したこと", "did"), done + more),
            (say("試行", "tries"), str(len(result.tries))),
        ),
    )


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    return game_state(Picture.of(episode.where.instance, events), events)


def game_state(picture: Picture, events: Sequence[Event]) -> str:
    """Map, points, bag, and the last thoughts, as HTML."""
    advice: dict[str, Any] = dict(picture.advice)
    for event in events:
        if event.kind == "chat" and isinstance(event.result, dict):
            told: dict[str, Any] = event.result
            thoughts = told.get("thoughts") or told.get("consideration") or ""
            advice = {"action": str(told.get("action", "")), "thoughts": str(thoughts)}
    return fragment("replays/textgame.html", picture=picture, advice=advice)


def _wording(episode: RecordedEpisode, told: Told) -> Told:
    """What the game says without its banner and empty lines."""
    return replace(told, answer=readable(told.answer)) if told.kind == "act" else told


REPLAY = Replay(headline=_headline, state=_state, wording=_wording)
