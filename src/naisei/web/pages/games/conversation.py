"""A game at the page: its configuration, flow, world, and what is shown of it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from naisei.core import Act, AskUser, Event, InputError, Observation, Say
from naisei.lang import say
from naisei.runs.conversation import Prepared
from naisei.textgame.drawing import drawing
from naisei.textgame.engine import GameHandler, ProcessPool, needs_textworld, playable
from naisei.textgame.flow import play_game
from naisei.textgame.play import LEAVE, REST, STEP, Person, Watched
from naisei.textgame.player import FILTERS, Player, PlayerContext, Shown, player_kind
from naisei.textgame.schemas import START, GameResult, Step, View
from naisei.textgame.texts import readable
from naisei.web.conversations.kind import ConversationContext, ConversationKind, PageConversation
from naisei.web.html import fragment

__all__ = ["KIND", "Picture", "PlayConfig"]


class PlayConfig(BaseModel):
    """file: name of the game in the server's folder of games. agent: the player. mode: `watch`,
    the player plays; `play`, the person does, and the player advises. steps: at most."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    agent: str
    mode: Literal["watch", "play"]
    steps: int = Field(ge=1)
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """view: the present moment, `None` before the first. result: the play so far. advice: what
    the player said last: a command, with its thoughts and scores."""

    view: View | None
    result: GameResult
    advice: dict[str, Any]

    @classmethod
    def of(cls, config: PlayConfig, events: Iterable[Event]) -> Picture:
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
            game=config.file.removesuffix(".z8"),
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
        """Map, path and points as an image's address; empty before the first command."""
        svg = drawing(self.result)
        if not svg:
            return ""
        return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()

    @property
    def inventory(self) -> str:
        return readable(self.view.inventory) if self.view else ""


#: Interpreters that run at a time; each is a process of some 100 MB.
_TABLES = 12
_taken: set[object] = set()


@asynccontextmanager
async def _open(config: PlayConfig, context: ConversationContext) -> AsyncIterator[Prepared]:
    needs_textworld()
    if len(_taken) >= _TABLES:
        raise InputError(
            say("いまは満席です", "all tables are taken"),
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
            game=config.file.removesuffix(".z8"),
            max_steps=config.steps,
            settings=kind.settings(),
        )

        def new() -> Player:
            return Shown(kind.new(playing), FILTERS["none"])

        player: Player = (
            Watched(new(), pauses=True)
            if config.mode == "watch"
            else Person(new, cheap=not kind.roles, tells=True)
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
        raise HTTPException(422, say("コマンドを入れてください", "please give a command"))
    if text.startswith("/") and text not in (STEP, REST, LEAVE):
        raise HTTPException(422, say("そのコマンドはありません", "there is no such command"))
    return text


def _line(here: PageConversation, event: Event) -> str:
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


def _shown(here: PageConversation) -> Mapping[str, Any]:
    config = here.config
    assert isinstance(config, PlayConfig)
    picture = Picture.of(config, here.events)
    return {"config": config, "picture": picture}


KIND: ConversationKind[PlayConfig] = ConversationKind(
    name="games", config=PlayConfig, open=_open, line=_line, shown=_shown
)
