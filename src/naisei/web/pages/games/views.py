"""The addresses of the games page."""

from __future__ import annotations

import asyncio
from random import SystemRandom

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei import plugins
from naisei.core import InputError, InstrumentFailure
from naisei.lang import say
from naisei.textgame.engine import textworld_installed
from naisei.textgame.player import GROUP, player_kind
from naisei.textgame.texts import readable
from naisei.web.house import house_of
from naisei.web.html import page_response
from naisei.web.pages.games.config import PlayConfig
from naisei.web.pages.games.kind import KIND
from naisei.web.pages.games.making import make_game, wanted
from naisei.web.pages.games.picture import Picture

__all__ = ["routes"]

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


async def _start(request: Request) -> Response:
    from naisei.web.pages.games import page

    house = house_of(request)
    return page_response(
        request,
        "games/start.html",
        page=page,
        installed=textworld_installed(),
        players=await asyncio.to_thread(_players, house.options.model),
        number=SystemRandom().randrange(1000),
        talks=await house.sittings.entries(request.state.visitor, KIND.name),
    )


async def _begin(request: Request) -> Response:
    house = house_of(request)
    async with request.form(max_files=0, max_fields=20) as form:
        fields = {name: str(value).strip() for name, value in form.items()}
    kind, number = wanted(fields.get("kind", ""), fields.get("number", ""))
    agent, mode = fields.get("agent", "planner"), fields.get("mode", "watch")
    if agent not in await asyncio.to_thread(_players, house.options.model):
        raise HTTPException(422, say("そのプレイヤーは使えません", "this player is not to be had"))
    if mode not in ("watch", "play"):
        raise HTTPException(422, say("見るか遊ぶかを選んでください", "choose to watch or to play"))
    if not textworld_installed():
        raise HTTPException(
            503, say("ゲームエンジン（textworld）が入っていません", "textworld is not installed")
        )
    async with _MAKING:
        folder = house.options.state / "games"
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
        model=house.options.model if player_kind(agent).roles else None,
    )
    names = {
        "cooking": say("料理", "cooking"),
        "easy": say("片付け（易）", "tidying, easy"),
        "medium": say("片付け（中）", "tidying, medium"),
        "hard": say("片付け（難）", "tidying, hard"),
    }
    sitting = await house.sittings.begin(
        request.state.visitor, KIND, config, title=f"{names[kind]} {number} · {agent}"
    )
    return Response(status_code=204, headers={"HX-Redirect": f"/games/{sitting.id}"})


async def _show(request: Request) -> Response:
    from naisei.web.pages.games import page

    sitting = await house_of(request).sittings.find(
        request.state.visitor, request.path_params["id"], KIND
    )
    config = sitting.config
    assert isinstance(config, PlayConfig)
    events = list(sitting.events)
    return page_response(
        request,
        "games/table.html",
        page=page,
        sitting=sitting,
        events=events,
        config=config,
        picture=Picture.of(config, events),
        readable=readable,
    )


def routes() -> list[Route]:
    return [
        Route("/games", _start),
        Route("/games/new", _begin, methods=["POST"]),
        Route("/games/{id}", _show),
    ]
