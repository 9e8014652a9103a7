"""Games with a person at them: the person plays, with a player for advice, or watches a player.

Both are players to the flow of a game (`naisei.textgame.flow.play_game`): what the person says is
the answer to an `AskUser`, and what the player would do is a `Say`, so both are in the log.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel, JsonValue

from naisei.core import Act, AskUser, Flow, InputError, Say, Where, World
from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.task import EpisodeRow, Summary, Task
from naisei.textgame.config import GameConfig, PlayConfig
from naisei.textgame.engine import GameHandler, ProcessPool, needs_textworld, playable
from naisei.textgame.flow import play_game
from naisei.textgame.games import find_games, games_hash
from naisei.textgame.metrics import summarise
from naisei.textgame.player import Follows, Player, PlayerContext, player_kind
from naisei.textgame.schemas import Decision, GameResult, View
from naisei.textgame.terminal import ADVISE, LEAVE, Screen
from naisei.textgame.texts import transcript

__all__ = ["LEAVE", "PLAYER", "REST", "STEP", "Person", "PlayTask", "Watched"]

#: Who says what the player would do.
PLAYER = "player"
#: What a person who watches may answer: one command on, or all that remain.
STEP, REST = "/step", "/rest"
#: Commands whose scores are said.
_BEST = 5


class Person:
    """A person gives the commands; another player advises.

    new: makes a fresh adviser. cheap: it calls no model, and is asked at every step, which keeps
    its memory whole; one that costs money is asked only when the person asks, and then begins
    afresh. tells: the advice is said at every step at which it was asked for.
    """

    def __init__(self, new: Callable[[], Player], *, cheap: bool, tells: bool = False) -> None:
        self._new, self._cheap, self._tells = new, cheap, tells
        self._adviser: Player | None = None
        self._opening: str | None = None

    def decide(self, view: View) -> Flow[Decision]:
        """What the person says; a question for advice costs no step."""
        if self._opening is None:
            self._opening = view.feedback
        advice: Decision | None = None
        if self._cheap and view.candidates:
            advice = yield from self._advise(view)
            if self._tells:
                yield from told(advice)
        while (said := (yield from AskUser(advice.action if advice else ""))) == ADVISE:
            if advice is None:
                advice = yield from self._advise(view)
            yield from told(advice)
        if said == LEAVE:
            return Decision(action="", thoughts=LEAVE)
        if advice is not None and said == advice.action:
            return advice
        # Whoever was not asked, or was asked in vain, has lost the thread unless it can follow.
        follows = advice is not None and isinstance(self._adviser, Follows)
        if not (follows and isinstance(self._adviser, Follows) and self._adviser.did(said)):
            self._adviser = None
        return Decision(action=said)

    def _advise(self, view: View) -> Flow[Decision]:
        if self._adviser is None:
            self._adviser = self._new()
            # What the game is about is said at its beginning only.
            view = view.model_copy(update={"feedback": self._opening})
        return (yield from self._adviser.decide(view))


class Watched:
    """A player that says each decision. pauses: a person lets it go on (`STEP`, `REST`)."""

    def __init__(self, player: Player, *, pauses: bool = False) -> None:
        self._player, self._pauses = player, pauses

    def decide(self, view: View) -> Flow[Decision]:
        decision = Decision(action="")
        if view.candidates:
            decision = yield from self._player.decide(view)
            yield from told(decision)
        if self._pauses:
            said = yield from AskUser(decision.action)
            self._pauses = said != REST
            if said == LEAVE:
                return Decision(action="", thoughts=LEAVE)
        return decision


def told(decision: Decision) -> Flow[None]:
    """What the player would do and why, and the best of its scores."""
    best = dict(sorted(decision.scores.items(), key=lambda pair: -pair[1])[:_BEST])
    meta: dict[str, JsonValue] = {"thoughts": decision.thoughts, "scores": {**best}}
    yield from Say(decision.action, PLAYER, meta)


class PlayTask(Task[PlayConfig]):
    """One game at the terminal.

    Raises:
        InputError: no such game or several, no engine, or a player or settings there are not.
    """

    system = "textgame"
    concurrency = 1

    def __init__(self, config: PlayConfig) -> None:
        needs_textworld()
        games = find_games(config.game)
        if len(games) > 1:
            raise InputError(
                say(f"ここには {len(games)} ゲームあります", f"there are {len(games)} games here"),
                place=config.game,
                remedy=say(
                    f"一つを指定してください (例: {games[0].path})",
                    f"name one, e.g. {games[0].path}",
                ),
            )
        self.config, self.game = config, games[0]
        self.kind = player_kind(config.agent)
        self.context = PlayerContext(
            game=self.game.id,
            seed=config.seed,
            max_steps=config.max_steps or self.game.default_steps,
            settings=self.kind.settings.model_validate(config.agent_options),
        )
        self.data_hash = games_hash(games)
        self._pool = ProcessPool(timeout=config.interpreter_timeout)
        playable(self.game.path, self._pool)
        self._pool.close()
        delay = config.delay
        if delay is None:
            delay = 0.7 if sys.stdout.isatty() else 0.0
        self.screen = Screen(self.context.max_steps, delay=delay)

    @asynccontextmanager
    async def during(self, directory: RunDirectory) -> AsyncIterator[None]:
        try:
            yield
        finally:
            self._pool.close()

    def episodes(self) -> list[Where]:
        return [Where(self.game.id, 1)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        def new() -> Player:
            return self.kind.new(self.context)

        player: Player = (
            Watched(new()) if self.config.watch else Person(new, cheap=not self.kind.roles)
        )
        handler = GameHandler(self.game.path, self._pool)
        screen = self.screen.of(handler, watched=self.config.watch)
        world = base.having({Act: screen, AskUser: screen.ask, Say: screen.tell})
        flow = play_game(self.game.id, player, max_steps=self.context.max_steps)
        return self._shown(flow, handler), world

    def _shown(
        self, flow: Flow[GameResult], handler: GameHandler
    ) -> Generator[Any, Any, GameResult]:
        try:
            result = yield from flow
        finally:
            handler.close()
        self.screen.ended(result)
        return result

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        config = GameConfig(games=self.config.game, seed=self.config.seed)
        return summarise(config, {self.game.id: self.game.family}, rows)

    def shown(self, where: Where, result: JsonValue) -> str:
        return transcript(GameResult.model_validate(result))

    def figure(self, where: Where, result: JsonValue) -> str:
        """The map, the path and the points of the game, for the report."""
        from naisei.textgame.drawing import drawing

        return drawing(GameResult.model_validate(result))
