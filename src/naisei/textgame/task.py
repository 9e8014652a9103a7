"""Games as a task of the run engine: one episode a play of a game."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel, JsonValue

from naisei.core import Act, Flow, InputError, Remember, Where, World
from naisei.lang import say
from naisei.memory import Memory, MemoryHandler, NoMemory
from naisei.plugins import typed
from naisei.runs.directory import RunDirectory
from naisei.runs.task import EpisodeRow, Summary, Task
from naisei.textgame import flow, metrics
from naisei.textgame.config import GameConfig
from naisei.textgame.drawing import drawing
from naisei.textgame.engine import GameHandler, ProcessPool, needs_textworld, playable
from naisei.textgame.games import Game, find_games, games_hash, walkthrough_lengths
from naisei.textgame.player import (
    FILTERS,
    Player,
    PlayerContext,
    PlayerKind,
    Reflective,
    Shown,
    player_kind,
)
from naisei.textgame.schemas import GameResult
from naisei.textgame.texts import transcript

__all__ = ["GameTask", "memory_of"]


class GameTask(Task[GameConfig]):
    """Every game of a set, under one configuration.

    Raises:
        InputError: no games, no engine, an unknown player, options that it does not know, or one
            game only and that is broken. A broken game among others is an instrument failure.
    """

    system = "textgame"

    def __init__(self, config: GameConfig) -> None:
        needs_textworld()
        self.config = config
        self.kind = player_kind(config.agent)
        self.settings = self.kind.settings.model_validate(
            typed(self.kind.settings, config.agent_options)
        )
        self._memory = memory_of(self.kind, self.settings)
        if self._memory().reflects and config.tries == 1:
            raise InputError(
                say(
                    "メモは同じゲームの試行と試行の間に書きますが、試行が 1 回しかありません",
                    "a memo is written between tries at the same game, and there is one try only",
                ),
                place="--tries",
                remedy=say(
                    "--tries 3 などと指定するか、プレイヤーの memory を外してください",
                    "give --tries 3, or leave the player's memory out",
                ),
            )
        self.games = {
            game.id: game
            for game in find_games(
                config.games,
                split=config.split,
                level=config.level,
                limit=config.limit,
                seed=config.seed,
            )
        }
        # What the player needs (its model's files, a package) is missing now, not in mid-run.
        self.kind.new(PlayerContext(game=next(iter(self.games)), settings=self.settings))
        self.data_hash = games_hash(tuple(self.games.values()))
        self._pool = ProcessPool(timeout=config.interpreter_timeout)
        if len(self.games) == 1:
            for game in self.games.values():
                playable(game.path, self._pool)
            self._pool.close()

    @asynccontextmanager
    async def during(self, directory: RunDirectory) -> AsyncIterator[None]:
        """Interpreters are started by the games, and ended with the run."""
        try:
            yield
        finally:
            self._pool.close()

    def episodes(self) -> list[Where]:
        return [Where(game, t + 1) for game in self.games for t in range(self.config.trials)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        game = self.games[where.instance]
        steps = self.config.max_steps or game.default_steps
        first = self.config.seed + (where.trial - 1) * self.config.tries

        def player(number: int, memo: str) -> Player:
            context = PlayerContext(
                game=game.id,
                seed=first + number,
                max_steps=steps,
                settings=self.settings,
                memo=memo,
            )
            return Shown(self.kind.new(context), FILTERS[self.config.filter])

        handler, memory = GameHandler(game.path, self._pool), self._memory()
        played = flow.play_tries(
            game.id, player, memory, self._reflect, tries=self.config.tries, max_steps=steps
        )
        world = base.having({Act: handler, Remember: MemoryHandler(memory)})
        return _closing(played, handler), world

    def _reflect(self, result: GameResult, memory: Memory) -> Flow[str]:
        assert isinstance(self.kind, Reflective), "only their memories reflect"
        return self.kind.reflect(self.settings, result, memory)

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        kinds = {game.id: _kind(game) for game in self.games.values()}
        played = {row.where.instance for row in rows}
        own = walkthrough_lengths(game for game in self.games.values() if game.id in played)
        return metrics.summarise(self.config, kinds, rows, walkthroughs=own)

    def shown(self, where: Where, result: JsonValue) -> str:
        return transcript(GameResult.model_validate(result))

    def figure(self, where: Where, result: JsonValue) -> str:
        """The map, the path and the points of a game, for the report."""
        return drawing(GameResult.model_validate(result))


def memory_of(kind: PlayerKind, settings: BaseModel) -> Callable[[], Memory]:
    """What makes the memory of a game: one that keeps nothing unless the kind has its own."""
    return kind.memory(settings) if isinstance(kind, Reflective) else NoMemory


def _closing(flow: Flow[GameResult], handler: GameHandler) -> Generator[Any, Any, GameResult]:
    """The interpreter is given back however the episode ends."""
    try:
        return (yield from flow)
    finally:
        handler.close()


def _kind(game: Game) -> str:
    """The level of a game of tidying up, by its folder or its name, else the family."""
    words = game.id.replace("-", "/").split("/")
    level = next((w for w in words if w in ("easy", "medium", "hard")), "")
    return level if game.family == "cleanup" and level else game.family
