"""A conversation of two, step by step: how each stands toward the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from naisei.core import Event
from naisei.lang import say
from naisei.relationship.schemas import Conversation
from naisei.relationship.task import ConversationTask
from naisei.runs.effects import EffectView
from naisei.web.html import fragment
from naisei.web.pages.relationship import PairConfig, Picture
from naisei.web.replay import Headline, RecordedEpisode, Replay


def _headline(episode: RecordedEpisode) -> Headline:
    if not isinstance(episode.task, ConversationTask) or episode.result is None:
        return Headline()
    talk = Conversation.model_validate(episode.result)
    lines = sum(len(session.lines) for session in talk.sessions)
    return Headline(
        say(f"{lines} 行", f"{lines} lines"),
        None,
        (
            (say("ふたり", "who"), say("と", " and ").join(talk.names.values())),
            (say("会話", "sessions"), say(f"{len(talk.sessions)} 日", f"{len(talk.sessions)}")),
        ),
    )


def _state(episode: RecordedEpisode, events: Sequence[Event]) -> str:
    task = episode.task
    if not isinstance(task, ConversationTask):
        return ""
    rules = task.config.rules
    return curves(Picture.drawn(task.pairs[episode.where.instance], rules, events))


def curves(picture: Picture) -> str:
    """The curves so far, as HTML."""
    return fragment("relationship/_curves.html", picture=picture)


def of_conversation(config: PairConfig, events: Sequence[Event]) -> str:
    """The same of a conversation at the page."""
    return curves(Picture.of(config, events))


def _wording(episode: RecordedEpisode, told: EffectView) -> EffectView:
    """Who speaks, by name."""
    task = episode.task
    if told.kind != "say" or not isinstance(task, ConversationTask):
        return told
    pair = task.pairs[episode.where.instance]
    names = {str(agent): name for agent, name in pair.names.items()}
    return replace(told, who=names.get(told.who, told.who), details=())


REPLAY = Replay(headline=_headline, state=_state, wording=_wording)
