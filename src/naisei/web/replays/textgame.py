"""A text game, step by step: the map so far, the points, and the player's thoughts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from naisei.core import Event
from naisei.runs.lines import Line
from naisei.textgame.lines import command_line
from naisei.textgame.schemas import START, GameResult, Mind
from naisei.web.html import fragment
from naisei.web.pages.games import GameView
from naisei.web.replay import RecordedEpisode, Replay


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    """Return map, points, inventory, last thoughts, and beliefs of the player."""
    picture = GameView.of(episode.where.instance, events)
    advice: dict[str, Any] = dict(picture.advice)
    for event in events:
        if event.kind == "chat" and isinstance(event.result, dict):
            told: dict[str, Any] = event.result
            thoughts = told.get("thoughts") or told.get("consideration") or ""
            advice = {"action": str(told.get("action", "")), "thoughts": str(thoughts)}
    minds = _minds(episode, events)
    return fragment("replays/textgame.html", picture=picture, advice=advice, minds=minds)


def _minds(episode: RecordedEpisode, events: Sequence[Event]) -> list[Mind]:
    """Return the player's beliefs in the current try, before each command so far and before the
    next one; empty while the episode has no result."""
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


def _lines(episode: RecordedEpisode, event: Event) -> Sequence[Line]:
    """Return a command and the game's response."""
    request, result = cast(dict[str, Any], event.request), cast(dict[str, Any], event.result)
    if event.kind != "act" or event.failure is not None:
        return Replay().lines(episode, event)
    gained = round(result.get("reward") or 0)
    return (command_line(str(request["action"]), str(result["text"]), gained=gained),)


REPLAY = Replay(state=_state, lines=_lines)
