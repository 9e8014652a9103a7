"""Games as a task of the run engine (one episode per play), and their metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel, JsonValue

from naisei.core import Act, Flow, InputError, Remember, Where, World
from naisei.lang import say
from naisei.memory import Memory, MemoryHandler
from naisei.memory.none import NoMemory
from naisei.plugins import typed
from naisei.runs.directory import RunDirectory
from naisei.runs.lines import Line
from naisei.runs.statistics import mean_metric, succeeded_within
from naisei.runs.task import EpisodeRow, Metric, Summary, Table, Task
from naisei.textgame import flow
from naisei.textgame.config import GameConfig
from naisei.textgame.drawing import drawing
from naisei.textgame.engine import GameHandler, ProcessPool, needs_textworld, playable
from naisei.textgame.engine.others import other_engine
from naisei.textgame.games import Game, find_games, games_hash, walkthrough_lengths
from naisei.textgame.lines import game_lines
from naisei.textgame.player import (
    FILTERS,
    FilteredPlayer,
    Player,
    PlayerContext,
    PlayerKind,
    Reflective,
    player_kind,
)
from naisei.textgame.schemas import GameResult

# Metrics: scores, steps and endings.
#
# Source: the text-game thesis, §§5.3.2, 6.3.2.


def try_metrics(results: Sequence[GameResult], config: GameConfig) -> tuple[Metric, ...]:
    """pass@k and best_score@k for k up to the number of tries; empty with one try.

    pass@k: share of games won within k consecutive tries (R-Clarify §5.1). best_score@k: mean of
    the best normalised score of the first k tries.
    """
    if config.tries == 1:
        return ()
    games = [r.game for r in results]
    won = [next((n for n, t in enumerate(r.tries, 1) if t.won), None) for r in results]
    out = []
    for k in range(1, config.tries + 1):
        passed = succeeded_within(won, k, trials=config.tries)
        best = [max(t.normalized_score for t in r.tries[:k]) for r in results]
        out.append(mean_metric(f"pass@{k}", passed, clusters=games, share=True, paired=True))
        out.append(mean_metric(f"best_score@{k}", best, clusters=games, share=True, paired=True))
    return tuple(out)


def count_metrics(results: Sequence[GameResult]) -> tuple[Metric, ...]:
    """Mean per game of each count reported by the players, over all tries."""
    counted = [[s.counts for t in r.tries for s in t.steps] for r in results]
    names = sorted({name for game in counted for counts in game for name in counts})
    games = [r.game for r in results]
    return tuple(
        mean_metric(
            name,
            [float(sum(counts.get(name, 0) for counts in game)) for game in counted],
            clusters=games,
        )
        for name in names
    )


def summarise(
    config: GameConfig,
    kinds: Mapping[str, str],
    rows: Sequence[EpisodeRow],
    notes: Sequence[str] = (),
    *,
    walkthroughs: Mapping[str, int] | None = None,
) -> Summary:
    """All metrics over the scored games; trials of a game form a cluster.

    normalized_score: points over the maximum, averaged over games; undefined for games without
    points. mean_steps: commands per game. won, lost, timed_out, gave_up: shares of games by ending
    (meal eaten or last thing put away; irreversible mistake; no steps left; player gave up).
    With several tries these describe the last one, and pass@k and best_score@k all (`tries`).
    Players' counts (`repairs`) are means per game over all tries. walkthrough_steps: commands of
    the games' own solutions, for comparison with mean_steps; absent if no game has one.

    kinds: game → row of the table. walkthroughs: game → commands of its solution.
    """
    results = [GameResult.model_validate(row.result) for row in rows if row.scored]
    games = [r.game for r in results]
    own = walkthroughs or {}
    metrics = (*_metrics(results), *_walkthrough_metric(results, own))
    extra = {"units": games, "clusters": games, "kinds": [kinds[game] for game in games]}
    groups = sorted({kinds[game] for game in games})
    more = (*count_metrics(results), *try_metrics(results, config))
    tables = (_by_kind(results, kinds, groups, own),) if len(groups) > 1 else ()
    return Summary((*metrics, *more), tables, tuple(notes), extra)


def _metrics(results: Sequence[GameResult]) -> tuple[Metric, ...]:
    games = [r.game for r in results]
    values = {
        "normalized_score": [r.normalized_score for r in results],
        "mean_steps": [float(len(r.steps)) for r in results],
        "won": [float(r.won) for r in results],
        "lost": [float(r.lost) for r in results],
        "timed_out": [float(r.timed_out) for r in results],
        "gave_up": [float(bool(r.gave_up)) for r in results],
    }
    return tuple(
        mean_metric(name, each, clusters=games, share=name != "mean_steps", paired=True)
        for name, each in values.items()
    )


def _walkthrough_metric(
    results: Sequence[GameResult], own: Mapping[str, int]
) -> tuple[Metric, ...]:
    games = [r.game for r in results if r.game in own]
    if not games:
        return ()
    lengths = [float(own[game]) for game in games]
    return (mean_metric("walkthrough_steps", lengths, clusters=games),)


def _by_kind(
    results: Sequence[GameResult],
    kinds: Mapping[str, str],
    groups: Sequence[str],
    own: Mapping[str, int],
) -> Table:
    rows: list[tuple[str | float | int, ...]] = []
    for group in groups:
        of = [r for r in results if kinds[r.game] == group]
        score, steps, won, lost, out, _ = (m.value for m in _metrics(of))
        lengths = _walkthrough_metric(of, own)
        length = lengths[0].value if lengths else "–"
        rows.append((group, len(of), score, steps, length, won, lost, out))
    columns = (
        "games",
        "n",
        "normalized_score",
        "mean_steps",
        "walkthrough_steps",
        "won",
        "lost",
        "timed_out",
    )
    return Table("games", columns, tuple(rows))


class GameTask(Task[GameConfig]):
    """All games of a set under one configuration.

    Raises:
        InputError: no games, no engine, an unknown player or option, or a single broken game. (A
            broken game among others is an instrument failure.)
    """

    system = "textgame"

    def __init__(self, config: GameConfig) -> None:
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
            )
        }
        for engine in {other_engine(game.path) for game in self.games.values()}:
            (needs_textworld if engine is None else engine.needs)()
        # Creating a player now reports missing files or packages before the run.
        self.kind.new(PlayerContext(game=next(iter(self.games)), settings=self.settings))
        self.data_hash = games_hash(tuple(self.games.values()))
        self._pool = ProcessPool(timeout=config.interpreter_timeout)
        if len(self.games) == 1:
            for game in self.games.values():
                playable(game.path, self._pool)
            self._pool.close()

    @asynccontextmanager
    async def during(self, directory: RunDirectory) -> AsyncIterator[None]:
        """The pool of interpreters for the run."""
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
            return FilteredPlayer(self.kind.new(context), FILTERS[self.config.filter])

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
        kinds = {game.id: _level_or_family(game) for game in self.games.values()}
        played = {row.where.instance for row in rows}
        own = walkthrough_lengths(game for game in self.games.values() if game.id in played)
        return summarise(self.config, kinds, rows, walkthroughs=own)

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        return game_lines(GameResult.model_validate(result))

    def figure(self, where: Where, result: JsonValue) -> str:
        """The map, path and points of a game for the report."""
        return drawing(GameResult.model_validate(result))


def memory_of(kind: PlayerKind, settings: BaseModel) -> Callable[[], Memory]:
    """The kind's memory factory; by default of a memory that stores nothing."""
    return kind.memory(settings) if isinstance(kind, Reflective) else NoMemory


def _closing(flow: Flow[GameResult], handler: GameHandler) -> Generator[Any, Any, GameResult]:
    """Run `flow`, then return the interpreter to its pool."""
    try:
        return (yield from flow)
    finally:
        handler.close()


def _level_or_family(game: Game) -> str:
    """The level of a tidying game from its folder or name, else the family."""
    words = game.id.replace("-", "/").split("/")
    level = next((w for w in words if w in ("easy", "medium", "hard")), "")
    return level if game.family == "cleanup" and level else game.family
