"""Learning from a sequence of games, and the learning curve on held-out games."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from naisei.core import (
    Act,
    EffectFailed,
    Handler,
    HandlerWrapper,
    InputError,
    Observation,
    Where,
    World,
    run,
)
from naisei.files import written_beside
from naisei.lang import say
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Table
from naisei.text_files import csv_cell, read_text
from naisei.textgame.flow import play_game
from naisei.textgame.games import Game
from naisei.textgame.schemas import START, GameResult, View
from naisei_textgame_selftaught.kind import SelfTaught
from naisei_textgame_selftaught.knowledge import Knowledge


def order(games: Sequence[Game], seed: int) -> list[Game]:
    """The games in this seed's training order."""
    shuffled = sorted(games, key=lambda game: game.id)
    Random(f"order/{seed}").shuffle(shuffled)
    return shuffled


def lessons(
    games: Sequence[Game],
    handler: Callable[[Game], Handler],
    *,
    known: Knowledge,
    max_steps: int = 100,
) -> Iterator[tuple[Knowledge, GameResult]]:
    """Play games in order; yields the knowledge and the result after each.

    known: initial knowledge, modified in place (copy it to keep it); its `games` were already
    played and are skipped. Uses only texts, points and endings.

    Raises:
        InputError: a game that the interpreter cannot play.
    """
    for game in games[known.games :]:
        draw = f"{known.seed}/{known.games}/{game.id}"
        player = SelfTaught(known, draw=draw, caution=known.caution)
        watched = _Watched(handler(game))
        played = play_game(game.id, player, max_steps=max_steps)
        try:
            result = run(played, World({Act: watched}))
        except EffectFailed as error:
            raise InputError(
                say(f"このゲームは遊べません: {error}", f"the game cannot be played: {error}"),
                place=str(game.path),
                remedy=say(
                    "作り直すか、除いてください。--resume で、書き込んだところから続けられます",
                    "generate it again, or leave it out; --resume goes on from what was written",
                ),
            ) from error
        player.end(watched.last)
        yield known, result


def play_frozen(
    game: Game, handler: Handler, known: Knowledge, *, max_steps: int = 100
) -> GameResult:
    """Play a game without changing `known`."""
    player = SelfTaught(known.model_copy(deep=True), caution=known.caution)
    return run(play_game(game.id, player, max_steps=max_steps), World({Act: handler}))


class _Watched(HandlerWrapper):
    """Keeps the last answer, since players do not see the final one."""

    last = View()

    def perform(self, effect: Act, where: Where) -> Observation:
        seen = super().perform(effect, where)
        assert isinstance(seen, Observation), "there is no event loop here"
        self.last = View.of(seen)
        return seen


# A cache of answers per sequence of commands.
#
# Games are deterministic. Snapshots of a learner mostly play alike,
# and the interpreter takes nearly all the time.

#: Sequence of commands → answer, for one game.
Answers = dict[tuple[str, ...], Observation]


class Remembering(HandlerWrapper):
    """Answers from `answers` if possible; otherwise `game` is driven to that point."""

    def __init__(self, game: Handler, answers: Answers) -> None:
        super().__init__(game)
        self._course = answers
        self._commands: tuple[str, ...] = ()

    def perform(self, effect: Act, where: Where) -> Observation:
        command = str(effect.action)
        self._commands = (command,) if command == START else (*self._commands, command)
        if (known := self._course.get(self._commands)) is not None:
            self.restore(effect, known, where)
            return known
        seen = super().perform(effect, where)
        assert isinstance(seen, Observation), "there is no event loop here"
        self._course[self._commands] = seen
        return seen


#: Numbers of training games after which the player is measured.
COUNTS = (0, 1, 2, 5, 10, 20, 50, 100, 200)
_COLUMNS = (
    *("caution", "train games", "seeds", "normalized_score", "low", "high"),
    *("mean_steps", "won", "lost"),
)


class Point(BaseModel):
    """One held-out game played with one learner's knowledge after `n` games."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    caution: bool
    seed: int
    n: int
    game: str
    normalized_score: float
    steps: int
    won: bool
    lost: bool


def snapshots(
    games: Sequence[Game],
    handler: Callable[[Game], Handler],
    counts: Sequence[int],
    *,
    known: Knowledge,
    max_steps: int = 100,
) -> Iterator[Knowledge]:
    """The knowledge after each of `counts` games, as far as the games suffice.

    known: initial knowledge; counts up to its number of games are skipped.
    """
    counts = sorted(set(counts))
    if 0 in counts and known.games == 0:
        yield known.model_copy(deep=True)
    drawn = order(games, known.seed)[: max(counts)]
    for _ in lessons(drawn, handler, known=known, max_steps=max_steps):
        if known.games in counts:
            yield known.model_copy(deep=True)


def measured(
    known: Knowledge,
    games: Sequence[Game],
    handler: Callable[[Game], Handler],
    answers_of: dict[str, Answers],
    *,
    max_steps: int = 100,
) -> Iterator[Point]:
    """A point per game. answers_of: cached answers per game, modified in place."""
    for game in games:
        staged = Remembering(handler(game), answers_of.setdefault(game.id, {}))
        result = play_frozen(game, staged, known, max_steps=max_steps)
        yield Point(
            caution=known.caution,
            seed=known.seed,
            n=known.games,
            game=game.id,
            normalized_score=result.normalized_score,
            steps=len(result.steps),
            won=result.won,
            lost=result.lost,
        )


def table(points: Sequence[Point]) -> Table:
    """A row per number of training games; 95 % intervals with games of all seeds as clusters."""
    rows: list[tuple[str | float | int, ...]] = []
    for caution, n in sorted({(p.caution, p.n) for p in points}, key=lambda k: (not k[0], k[1])):
        of = [p for p in points if (p.caution, p.n) == (caution, n)]
        score = mean_metric(
            "normalized_score",
            [p.normalized_score for p in of],
            clusters=[p.game for p in of],
            share=True,
        )
        count = len(of)
        rows.append((
            "on" if caution else "off", n, len({p.seed for p in of}),
            score.value, score.low, score.high,
            sum(p.steps for p in of) / count,
            sum(p.won for p in of) / count, sum(p.lost for p in of) / count,
        ))  # fmt: skip
    return Table("Learning curve", _COLUMNS, tuple(rows))


def write_points(path: Path, points: Sequence[Point]) -> None:
    """Write points as CSV, one per line."""
    with written_beside(path) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(Point.model_fields), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {name: csv_cell(value) for name, value in point.model_dump().items()}
            for point in points
        )


def read_points(paths: Sequence[Path]) -> list[Point]:
    """The points of several files.

    Raises:
        InputError: a file is unreadable or invalid.
    """
    points: list[Point] = []
    for path in paths:
        text = read_text(path)
        try:
            read = [Point.model_validate(row) for row in csv.DictReader(text.splitlines())]
        except ValidationError as error:
            read = []
            why = error.errors()[0]["msg"]
        else:
            why = say("値がありません", "it holds no value")
        if not read:
            raise InputError(
                say(
                    f"学習曲線のファイルではありません: {why}", f"this is no learning curve: {why}"
                ),
                place=str(path),
                remedy=say(
                    "naisei self-taught learn --valid DIR --curve FILE で作れます",
                    "naisei self-taught learn --valid DIR --curve FILE writes one",
                ),
            )
        points += read
    return points


#: Okabe and Ito, Color Universal Design (2008).
_LINES = {"on": ("#0072B2", "o", "-"), "off": ("#D55E00", "s", "--")}


def draw(points: Sequence[Point], path: Path) -> None:
    """Plot score and steps over the number of training games, with 95 % intervals of the score.

    Raises:
        InputError: matplotlib is missing, or the file cannot be written.
    """
    if find_spec("matplotlib") is None:
        raise InputError(
            say("図を描くには matplotlib が要ります", "pictures need matplotlib"),
            place="--plot",
            remedy=say(
                'pip install "naisei[plots]" で入ります (表だけなら不要)',
                'pip install "naisei[plots]"; the table needs none',
            ),
        )
    matplotlib = import_module("matplotlib")
    settings = {"svg.hashsalt": "naisei", "axes.spines.top": False, "axes.spines.right": False}
    with matplotlib.rc_context(settings):
        figure = _figure(table(points).rows)
        try:
            with written_beside(path) as scratch:
                figure.savefig(scratch, metadata={"Date": None} if path.suffix == ".svg" else None)
        except ValueError as error:  # unknown picture format
            raise InputError(
                say(f"書き込めません: {error}", f"it cannot be written: {error}"), place=str(path)
            ) from None


def _figure(rows: Sequence[Sequence[str | float | int]]) -> Any:
    # pyplot would keep every figure in memory and look for a display.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 5.6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    counts = sorted({int(row[1]) for row in rows})
    for caution, (colour, mark, style) in _LINES.items():
        of = [row for row in rows if row[0] == caution]
        if not of:
            continue
        x = [counts.index(int(row[1])) for row in of]
        score, low, high, steps = ([float(row[k]) for row in of] for k in (3, 4, 5, 6))
        look = {"color": colour, "marker": mark, "linestyle": style}
        upper.plot(x, score, label=f"caution {caution}", **look)
        upper.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        lower.plot(x, steps, **look)
    upper.set_ylabel("normalised score")
    upper.set_ylim(0, 1.02)
    upper.legend(loc="lower right")
    lower.set_ylabel("mean steps")
    lower.set_ylim(bottom=0)
    lower.set_xlabel("train games played")
    lower.set_xticks(range(len(counts)), [str(n) for n in counts])
    for axes in (upper, lower):
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    return figure
