"""Games as a task of the run engine: one episode a play of a game."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from pydantic import BaseModel

from naisei.core import Act, Flow, Where, World
from naisei.runs.options import typed
from naisei.runs.task import EpisodeRow, Summary
from naisei.textgame import flow, metrics
from naisei.textgame.config import GameConfig
from naisei.textgame.describe import transcript
from naisei.textgame.engine import GameHandler, ProcessPool, needs_textworld, playable
from naisei.textgame.filters import FILTERS
from naisei.textgame.games import Game, find_games, games_hash
from naisei.textgame.player import PlayerContext
from naisei.textgame.players.registry import player_kind
from naisei.textgame.schemas import GameResult
from naisei.textgame.shown import Shown

__all__ = ["GameTask"]


class GameTask:
    """Every game of a set, under one configuration.

    Raises:
        InputError: no games, no engine, an unknown player, options that it does not know, or one
            game only and that is broken. A broken game among others is an instrument failure.
    """

    system = "textgame"

    def __init__(self, config: GameConfig, pool: ProcessPool) -> None:
        needs_textworld()
        self.config = config
        self.kind = player_kind(config.agent)
        self.settings = self.kind.settings.model_validate(
            typed(self.kind.settings, config.agent_options)
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
        self.data_hash = games_hash(tuple(self.games.values()))
        self._pool = pool
        if len(self.games) == 1:
            for game in self.games.values():
                playable(game.path)

    def episodes(self) -> list[Where]:
        return [Where(game, t + 1) for game in self.games for t in range(self.config.trials)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        game = self.games[where.instance]
        steps = self.config.max_steps or game.default_steps
        player = self.kind.new(
            PlayerContext(
                game=game.id,
                seed=self.config.seed + where.trial - 1,
                max_steps=steps,
                settings=self.settings,
            )
        )
        handler = GameHandler(game.path, self._pool)
        shown = Shown(player, FILTERS[self.config.filter])
        return _closing(flow.play_game(game.id, shown, max_steps=steps), handler), base.having(
            {Act: handler}
        )

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        kinds = {game.id: _kind(game) for game in self.games.values()}
        return metrics.summarise(self.config, kinds, rows)

    def transcript(self, row: EpisodeRow) -> str:
        if row.result is None:
            return row.failure
        return transcript(GameResult.model_validate(row.result))


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
