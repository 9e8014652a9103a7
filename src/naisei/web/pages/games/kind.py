"""How a game is played and shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from starlette.exceptions import HTTPException

from naisei.core import Act, AskUser, Event, InputError, Say
from naisei.lang import say
from naisei.textgame.engine import GameHandler, ProcessPool, needs_textworld, playable
from naisei.textgame.player import FILTERS, PlayerContext, Shown, player_kind
from naisei.textgame.texts import readable
from naisei.web.html import fragment
from naisei.web.pages.games.config import PlayConfig
from naisei.web.pages.games.live import LEAVE, REST, STEP, table
from naisei.web.pages.games.picture import Picture
from naisei.web.sittings import Kind, Room, Scene, Sitting

__all__ = ["KIND"]

#: Interpreters that run at a time; each is a process of some 100 MB.
_TABLES = 12
_taken: set[object] = set()


@asynccontextmanager
async def _open(config: PlayConfig, room: Room) -> AsyncIterator[Scene]:
    needs_textworld()
    if len(_taken) >= _TABLES:
        raise InputError(
            say("いまは満席です", "all tables are taken"),
            remedy=say("しばらくしてからもう一度", "try again in a while"),
        )
    pool = ProcessPool()
    handler = GameHandler(playable(room.options.state / "games" / config.file, pool), pool)
    place = object()
    _taken.add(place)
    try:
        kind = player_kind(config.agent)
        models = dict.fromkeys(kind.roles, config.model) if config.model else {}
        base = await room.world(models)
        context = PlayerContext(
            game=config.file.removesuffix(".z8"),
            max_steps=config.steps,
            settings=kind.settings(),
        )
        yield Scene(
            table(
                config,
                lambda: Shown(kind.new(context), FILTERS["none"]),
                cheap=not kind.roles,
            ),
            base.having({Act: handler, AskUser: room.person(_command), Say: lambda effect: None}),
        )
    finally:
        _taken.discard(place)
        await asyncio.to_thread(_ended, handler, pool)


def _ended(handler: GameHandler, pool: ProcessPool) -> None:
    handler.close()
    pool.close()


def _command(effect: AskUser, fields: Mapping[str, str]) -> str:
    text = " ".join(fields.get("text", "").split()).lower()
    if not text:
        raise HTTPException(422, say("コマンドを入れてください", "please give a command"))
    if text.startswith("/") and text not in (STEP, REST, LEAVE):
        raise HTTPException(422, say("そのコマンドはありません", "there is no such command"))
    return text


def _line(here: Sitting, event: Event) -> str:
    if event.kind not in ("act", "say"):
        return ""
    config = here.config
    assert isinstance(config, PlayConfig)
    return fragment(
        "games/_event.html",
        event=event,
        picture=Picture.of(config, here.upto(event)),
        readable=readable,
    )


def _standing(here: Sitting) -> str:
    config = here.config
    assert isinstance(config, PlayConfig)
    picture = Picture.of(config, here.events)
    return fragment("games/_standing.html", sitting=here, config=config, picture=picture)


KIND: Kind[PlayConfig] = Kind(
    name="games", config=PlayConfig, open=_open, line=_line, standing=_standing
)
