"""A visitor's conversation, step by step: what the page of its kind showed then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from naisei.clarify.conversation import Picture as Beliefs
from naisei.core import Event, Where
from naisei.director.state import TalkRecorder, TalkState
from naisei.web.conversations.kind import ConversationConfig
from naisei.web.html import fragment
from naisei.web.pages import pages
from naisei.web.pages.duo import DuoConfig
from naisei.web.pages.games import Picture as Game
from naisei.web.replay import RecordedEpisode, Replay
from naisei.web.replays import director, intent, relationship, textgame


def _beliefs(config: Any, events: Sequence[Event]) -> str:
    return fragment("assistant/_beliefs.html", picture=Beliefs.of(config.person, events))


def _talk(config: DuoConfig, events: Sequence[Event]) -> str:
    names = {character.id: character.name for character in config.cast}
    stage = TalkRecorder(TalkState(topic=config.topic, scene=config.scene, names=names))
    for said in director.spoken(events):
        stage.perform(said, Where())
    return director.talk_state(stage.state)


def _game(config: Any, events: Sequence[Event]) -> str:
    return textgame.game_state(Game.of(config.game, events), events)


def _inquiry(config: Any, events: Sequence[Event]) -> str:
    return intent.inquiry_state(events)


_STATES: Mapping[str, Callable[[Any, Sequence[Event]], str]] = {
    "assistant": _beliefs,
    "duo": _talk,
    "games": _game,
    "documents": _inquiry,
    "relationship": relationship.of_conversation,
}


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    frozen = episode.frozen.config_as(ConversationConfig, episode.path / "config.json")
    kinds = {kind.name: kind for page in pages() for kind in page.kinds}
    kind, draw = kinds.get(frozen.kind), _STATES.get(frozen.kind)
    if kind is None or draw is None:
        return ""
    return draw(kind.config.model_validate(frozen.settings), events)


REPLAY = Replay(state=_state, marks=director.draft_marks)
