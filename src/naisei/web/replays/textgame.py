"""A text game, step by step: the map so far, the points, and what the player thought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from naisei.core import Event
from naisei.lang import say
from naisei.runs.effects import EffectView
from naisei.textgame.schemas import START, GameResult, Mind
from naisei.textgame.texts import ending, readable
from naisei.web.html import fragment
from naisei.web.pages.games import Picture
from naisei.web.replay import Headline, RecordedEpisode, Replay


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
    return game_state(Picture.of(episode.where.instance, events), events, _minds(episode, events))


def _minds(episode: RecordedEpisode, events: Sequence[Event]) -> list[Mind]:
    """What the player of the try of now believed before each command so far, and before the next
    one; empty while the episode has no result."""
    if episode.result is None:
        return []
    done = tries = 0
    for event in events:
        if event.kind == "act" and event.failure is None:
            begins = isinstance(event.request, dict) and event.request.get("action") == START
            tries, done = (tries + 1, 0) if begins else (tries, done + 1)
    played = GameResult.model_validate(episode.result).tries
    if not 1 <= tries <= len(played):
        return []
    minds = [mind for mind in played[tries - 1].minds()[: done + 1] if mind is not None]
    return [mind for n, mind in enumerate(minds) if n == 0 or mind is not minds[n - 1]]


def game_state(picture: Picture, events: Sequence[Event], minds: Sequence[Mind] = ()) -> str:
    """Map, points, bag, the last thoughts, and what the player believes, as HTML."""
    advice: dict[str, Any] = dict(picture.advice)
    for event in events:
        if event.kind == "chat" and isinstance(event.result, dict):
            told: dict[str, Any] = event.result
            thoughts = told.get("thoughts") or told.get("consideration") or ""
            advice = {"action": str(told.get("action", "")), "thoughts": str(thoughts)}
    return fragment("replays/textgame.html", picture=picture, advice=advice, minds=minds)


def _wording(episode: RecordedEpisode, told: EffectView) -> EffectView:
    """What the game says without its banner and empty lines."""
    return replace(told, answer=readable(told.answer)) if told.kind == "act" else told


REPLAY = Replay(headline=_headline, state=_state, wording=_wording)
