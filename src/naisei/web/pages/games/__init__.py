"""Text games: watch a player, or play with one beside you."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, Literal, cast, get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request

from naisei import plugins
from naisei.core import InputError, InstrumentFailure
from naisei.lang import say
from naisei.textgame.engine import textworld_installed
from naisei.textgame.make import cleanup, cooking
from naisei.textgame.make.cleanup import Level
from naisei.textgame.make.cooking import grid
from naisei.textgame.make.many import Maker, make_many
from naisei.textgame.player import GROUP, player_kind
from naisei.textgame.texts import readable
from naisei.web.conversations.kind import PageConversation
from naisei.web.conversations.routes import page_routes
from naisei.web.pages import Page
from naisei.web.pages.games.conversation import KIND, Picture, PlayConfig
from naisei.web.state import server_of

__all__ = ["PAGE"]


Wanted = Literal["easy", "medium", "hard", "cooking"]
#: The last number of a game.
_LAST = 9_999


def wanted(kind: str, number: str) -> tuple[Wanted, int]:
    """What somebody asks for. Raises `HTTPException` for what there is not."""
    if kind not in get_args(Wanted):
        raise HTTPException(
            422, say("その種類のゲームはありません", "there is no such kind of game")
        )
    if not number.isdecimal() or int(number[:6]) > _LAST:
        raise HTTPException(422, say(f"番号は 0 から {_LAST} です", f"a number from 0 to {_LAST}"))
    return cast(Wanted, kind), int(number)


def make_game(kind: Wanted, number: int, folder: Path) -> str:
    """The name of the game's file in the folder; it is made if it is not there.

    Raises:
        InputError: textworld is not installed.
        InstrumentFailure: the compiler failed.
    """
    name, make = _cooking(number) if kind == "cooking" else _cleanup(kind, number)
    for _ in make_many([(name, make)], folder, processes=1):
        pass
    return name


def _cooking(number: int) -> tuple[str, Maker]:
    config = Random(number).choice(grid("test"))
    make = partial(cooking.make_cooking, config, "test", seed=0, number=number)
    return cooking.file_name(config, "test", seed=0, number=number), make


def _cleanup(level: Level, number: int) -> tuple[str, Maker]:
    mess = cleanup.mess_of("test", level, rooms=None, seed=0, number=number)
    make = partial(cleanup.make_cleanup, mess, "test", level, seed=0, number=number)
    return cleanup.file_name(mess, "test", level, seed=0, number=number), make


#: Games that are made at a time.
_MAKING = asyncio.Semaphore(2)


def _players(model: str | None) -> list[str]:
    """Those that can be had here, the planner first; without a model, those that need none."""
    found = []
    for name in plugins.names(GROUP):
        try:
            kind = player_kind(name)
        except InputError:
            continue  # it needs something that is not installed
        if model or not kind.roles:
            found.append(name)
    return sorted(found, key=lambda name: (name != "planner", name == "random", name))


async def _start(request: Request) -> dict[str, Any]:
    server = server_of(request)
    return {
        "installed": textworld_installed(),
        "players": await asyncio.to_thread(_players, server.options.model),
        "number": SystemRandom().randrange(1000),
    }


async def _begin(request: Request, fields: Mapping[str, str]) -> tuple[PlayConfig, str]:
    server = server_of(request)
    kind, number = wanted(fields.get("kind", ""), fields.get("number", ""))
    agent, mode = fields.get("agent", "planner"), fields.get("mode", "watch")
    if agent not in await asyncio.to_thread(_players, server.options.model):
        raise HTTPException(422, say("そのプレイヤーは使えません", "this player is not to be had"))
    if mode not in ("watch", "play"):
        raise HTTPException(422, say("見るか遊ぶかを選んでください", "choose to watch or to play"))
    if not textworld_installed():
        raise HTTPException(
            503, say("ゲームエンジン（textworld）が入っていません", "textworld is not installed")
        )
    async with _MAKING:
        folder = server.options.state / "games"
        try:
            file = await asyncio.to_thread(make_game, kind, number, folder)
        except InstrumentFailure as failure:
            raise HTTPException(
                503, say("ゲームを作れませんでした", "the game could not be made")
            ) from failure
    config = PlayConfig(
        file=file,
        agent=agent,
        mode="play" if mode == "play" else "watch",
        steps=100 if kind == "cooking" else 20,
        model=server.options.model if player_kind(agent).roles else None,
    )
    names = {
        "cooking": say("料理", "cooking"),
        "easy": say("片付け（易）", "tidying, easy"),
        "medium": say("片付け（中）", "tidying, medium"),
        "hard": say("片付け（難）", "tidying, hard"),
    }
    return config, f"{names[kind]} {number} · {agent}"


def _show(request: Request, conversation: PageConversation) -> dict[str, Any]:
    config = conversation.config
    assert isinstance(config, PlayConfig)
    return {"picture": Picture.of(config, conversation.events), "readable": readable}


PAGE = Page(
    name="games",
    title=("テキストゲーム", "Games"),
    about=(
        "散らかった家を片付け、レシピを探して料理します。自分でも遊べます。",
        "Tidy up a house, find the recipe and cook; watch a player, or play yourself.",
    ),
    icon="M4 8h16v9H4zM8 11v3M6.5 12.5h3M15.5 12h.5M18 13.5h.5",
    order=50,
    routes=page_routes(KIND, start=_start, begin=_begin, show=_show),
    kinds=(KIND,),
)
