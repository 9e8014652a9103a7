"""Text games: watch a player, or play yourself with its advice."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from naisei import entries
from naisei.core import Act, AskUser, Event, InputError, InstrumentFailure, Observation, Say
from naisei.lang import say
from naisei.runs.conversation import Prepared
from naisei.runs.lines import Line
from naisei.textgame.drawing import drawing
from naisei.textgame.engine import (
    GameHandler,
    ProcessPool,
    needs_textworld,
    playable,
    textworld_installed,
)
from naisei.textgame.flow import play_game
from naisei.textgame.lines import command_line
from naisei.textgame.make import cleanup, cooking
from naisei.textgame.make.cleanup import Level
from naisei.textgame.make.cooking import grid
from naisei.textgame.make.many import Maker, make_many
from naisei.textgame.play import REST, STEP, Person, Watched
from naisei.textgame.player import (
    FILTERS,
    GROUP,
    FilteredPlayer,
    Player,
    PlayerContext,
    player_kind,
)
from naisei.textgame.schemas import LEAVE, START, GameResult, Step, View
from naisei.textgame.texts import readable
from naisei.web.conversations.kind import (
    ConversationContext,
    ConversationKind,
    PageConversation,
    Panel,
)
from naisei.web.conversations.routes import model_field, page_routes
from naisei.web.html import Refused, fragment
from naisei.web.pages import Page
from naisei.web.state import server_of


class PlayConfig(BaseModel):
    """file: name of the game in the server's folder of games. agent: the player. mode: `watch`,
    the player plays; `play`, the person does, and the player advises. steps: at most."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    agent: str
    mode: Literal["watch", "play"]
    steps: int = Field(ge=1)
    model: str | None = None

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.file.removesuffix(".z8")


@dataclass(frozen=True, slots=True)
class GameView:
    """view: the current state, `None` before the first. result: the play so far. advice: the
    player's last advice: a command with thoughts and scores."""

    view: View | None
    result: GameResult
    advice: dict[str, Any]

    @classmethod
    def of(cls, game: str, events: Iterable[Event]) -> GameView:
        """game: name of the game."""
        view: View | None = None
        steps: list[Step] = []
        advice: dict[str, Any] = {}
        opening = ""
        for event in events:
            request = cast(dict[str, Any], event.request)
            if event.kind == "say":
                advice = {"action": request["text"], **request["meta"]}
            elif event.kind == "act" and event.failure is None:
                seen = View.of(Observation.model_validate(event.result))
                if view is None or request["action"] == START:
                    opening = seen.feedback
                else:
                    steps.append(
                        Step(
                            room=view.room,
                            action=str(request["action"]),
                            feedback=seen.feedback,
                            score=seen.score,
                        )
                    )
                view = seen
        result = GameResult(
            game=game,
            score=view.score if view else 0,
            max_score=view.max_score if view else 0,
            won=bool(view and view.won),
            lost=bool(view and view.lost),
            steps=tuple(steps),
            opening=opening,
        )
        return cls(view, result, advice)

    @property
    def drawn(self) -> str:
        """The URL of an image with map, path and points; empty before the first command."""
        svg = drawing(self.result)
        if not svg:
            return ""
        return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()

    @property
    def inventory(self) -> str:
        return readable(self.view.inventory) if self.view else ""


#: Maximum number of interpreters; each is a process of about 100 MB.
_TABLES = 12
_taken: set[object] = set()


@asynccontextmanager
async def _open(config: PlayConfig, context: ConversationContext) -> AsyncIterator[Prepared]:
    needs_textworld()
    if len(_taken) >= _TABLES:
        raise InputError(
            say("いまは同時に遊べる数がいっぱいです", "the server has no free game"),
            remedy=say("しばらくしてからもう一度", "try again in a while"),
        )
    pool = ProcessPool()
    handler = GameHandler(playable(context.options.state / "games" / config.file, pool), pool)
    place = object()
    _taken.add(place)
    try:
        kind = player_kind(config.agent)
        models = dict.fromkeys(kind.roles, config.model) if config.model else {}
        base = await context.world(models)
        playing = PlayerContext(
            game=config.game,
            max_steps=config.steps,
            settings=kind.settings(),
        )

        def new() -> Player:
            return FilteredPlayer(kind.new(playing), FILTERS["none"])

        player: Player = (
            Watched(new(), pauses=True)
            if config.mode == "watch"
            else Person(new, cheap=not kind.roles, announces=True)
        )
        yield Prepared(
            play_game(config.file, player, max_steps=config.steps),
            base.having({Act: handler, AskUser: context.human(_command), Say: lambda effect: None}),
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
        raise Refused(422, "コマンドを入れてください", "please give a command")
    if text.startswith("/") and text not in (STEP, REST, LEAVE):
        raise Refused(422, "そのコマンドはありません", "there is no such command")
    return text


def _lines(config: PlayConfig, id: str, event: Event) -> Sequence[Line]:
    request, result = cast(dict[str, Any], event.request), cast(dict[str, Any], event.result)
    if event.kind != "act" or event.failure is not None:
        return ()
    return (command_line(str(request["action"]), str(result["text"])),)


def _panels(config: PlayConfig, events: Sequence[Event]) -> Sequence[Panel]:
    picture = GameView.of(config.game, events)
    drawn = fragment("games/_map.html", picture=picture)
    thoughts = fragment("games/_thoughts.html", advice=picture.advice)
    return (
        Panel("map", say("地図", "Map"), drawn),
        Panel("thoughts", say("プレイヤーの考え", "The player's thoughts"), thoughts),
    )


def _template_context(here: PageConversation) -> Mapping[str, Any]:
    config: PlayConfig = here.config
    picture = GameView.of(config.game, here.events)
    return {"config": config, "picture": picture}


KIND: ConversationKind[PlayConfig] = ConversationKind(
    name="games",
    config=PlayConfig,
    open=_open,
    lines=_lines,
    panels=_panels,
    writes=lambda config: config.mode == "play",
    spoken="en",
    placeholder=("コマンドを英語で書くか、上から選ぶ", "A command, or choose one above"),
    shown=_template_context,
    roles={"player": {}},
)


Wanted = Literal["easy", "medium", "hard", "cooking"]
#: The largest game number.
_LAST = 9_999


def wanted(kind: str, number: str) -> tuple[Wanted, int]:
    """Return the requested game. Raises `HTTPException` for an unknown one."""
    if kind not in get_args(Wanted):
        raise Refused(422, "その種類のゲームはありません", "there is no such kind of game")
    if not number.isdecimal() or int(number[:6]) > _LAST:
        raise Refused(422, f"番号は 0 から {_LAST} です", f"a number from 0 to {_LAST}")
    return cast(Wanted, kind), int(number)


def make_game(kind: Wanted, number: int, folder: Path) -> str:
    """Return the name of the game's file in the folder, generating it if it does not exist.

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


#: Maximum number of games generated at a time.
_MAKING = asyncio.Semaphore(2)


def _players(model: str | None) -> list[str]:
    """Return the available players, best first."""
    found = []
    for name in entries.names(GROUP):
        try:
            kind = player_kind(name)
        except InputError:
            continue  # a requirement is not installed
        if model or not kind.roles:
            found.append(name)
    return sorted(found, key=lambda n: (n != "llm", n != "planner", n == "random", n))


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
    model, mode = model_field(request, fields), fields.get("mode", "watch")
    players = await asyncio.to_thread(_players, model)
    if (agent := fields.get("agent", players[0])) not in players:
        raise Refused(422, "そのプレイヤーは使えません", "this player is not available")
    if mode not in ("watch", "play"):
        raise Refused(422, "見るか遊ぶかを選んでください", "choose to watch or to play")
    if not textworld_installed():
        raise Refused(
            503, "ゲームエンジン（textworld）が入っていません", "textworld is not installed"
        )
    async with _MAKING:
        folder = server.options.state / "games"
        try:
            file = await asyncio.to_thread(make_game, kind, number, folder)
        except InstrumentFailure as failure:
            raise Refused(
                503, "ゲームを作れませんでした", "the game could not be made"
            ) from failure
    config = PlayConfig(
        file=file,
        agent=agent,
        mode="play" if mode == "play" else "watch",
        steps=100 if kind == "cooking" else 20,
        model=model if player_kind(agent).roles else None,
    )
    names = {
        "cooking": say("料理", "cooking"),
        "easy": say("片付け（易）", "tidying, easy"),
        "medium": say("片付け（中）", "tidying, medium"),
        "hard": say("片付け（難）", "tidying, hard"),
    }
    return config, f"{names[kind]} {number} · {agent}"


PAGE = Page(
    name="games",
    title=("テキストゲーム", "Games"),
    about=(
        "散らかった家を片付け、レシピを探して料理します。自分でも遊べます。",
        "Tidy up a house, find the recipe and cook; watch a player, or play yourself.",
    ),
    icon="M4 8h16v9H4zM8 11v3M6.5 12.5h3M15.5 12h.5M18 13.5h.5",
    order=50,
    routes=page_routes(KIND, start=_start, begin=_begin),
    kinds=(KIND,),
    ready=lambda: _players(None),
)
