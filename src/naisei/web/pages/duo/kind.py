"""How a talk is played and shown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from naisei.core import AskUser, Chat, Event, Handler, Remember, Say, Where
from naisei.director.state import Stage, TalkState
from naisei.lang import say
from naisei.web.html import fragment
from naisei.web.pages.duo.config import DuoConfig
from naisei.web.pages.duo.live import duo
from naisei.web.sittings import Kind, Room, Scene, Sitting

__all__ = ["KIND"]


@asynccontextmanager
async def _open(config: DuoConfig, room: Room) -> AsyncIterator[Scene]:
    models = {role: config.model for role in ("speaker", "judge") if config.model}
    # Rubbish of a judge is repaired once; then the rules decide alone.
    base = await room.world(models, resends_of={"judge": 0})
    names = {character.id: character.name for character in config.cast}
    partners = (c.partner.names for c in config.cast if c.partner is not None)
    hollow = {name for all in (*partners, *(c.names for c in config.cast)) for name in all}
    stage = Stage(TalkState(topic=config.topic, scene=config.scene, names=names), hollow=hollow)
    handlers: dict[Any, Any] = {
        Say: stage,
        AskUser: room.person(None),
        Remember: lambda effect: None,
    }
    if config.model:
        handlers[Chat] = _Noting(base.handler(Chat("speaker", ())), room)
    yield Scene(duo(config, stage), base.having(handlers))


class _Noting(Handler):
    """Asks the model, and says meanwhile what for."""

    def __init__(self, asked: Any, room: Room) -> None:
        self._asked, self._room = asked, room

    async def perform(self, effect: Chat[Any], where: Where) -> Any:
        self._room.note(
            say("台詞を判定しています…", "Judging the line…")
            if effect.role == "judge"
            else say("台詞を書いています…", "Writing a line…")
        )
        return await self._asked.perform(effect, where)


def _line(here: Sitting, event: Event) -> str:
    config = here.config
    assert isinstance(config, DuoConfig)
    if event.kind != "remember":
        return ""
    return fragment("duo/_event.html", event=event, config=config)


def _standing(here: Sitting) -> str:
    return fragment("duo/_standing.html", sitting=here)


KIND: Kind[DuoConfig] = Kind(
    name="duo", config=DuoConfig, open=_open, line=_line, standing=_standing
)
