"""The learning curve: how a player does on games kept aside, after so many games of its own."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from naisei.core import Handler, InputError
from naisei.files import written_beside
from naisei.lang import say
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Table
from naisei.textgame.games import Game
from naisei.textgame.learning.knowledge import Knowledge
from naisei.textgame.learning.school import lessons, order, play_frozen
from naisei.textgame.learning.stage import Course, Remembering

__all__ = ["COUNTS", "Point", "measured", "read_points", "snapshots", "table", "write_points"]

#: Numbers of train games after which the player is measured.
COUNTS = (0, 1, 2, 5, 10, 20, 50, 100, 200)
_COLUMNS = (
    *("caution", "train games", "seeds", "normalized_score", "low", "high"),
    *("mean_steps", "won", "lost"),
)


class Point(BaseModel):
    """One game kept aside, played by what one learner knew after `n` games."""

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
    """What is known after each of `counts` games; it ends where the games do.

    known: what to begin with; with some games played already, only what comes after them.
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
    courses: dict[str, Course],
    *,
    max_steps: int = 100,
) -> Iterator[Point]:
    """A point for each game. courses: what was seen of the games so far; it grows."""
    for game in games:
        staged = Remembering(handler(game), courses.setdefault(game.id, {}))
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
    """A row for each number of train games; intervals (95 %) resample games, of all seeds."""
    rows: list[tuple[str | float | int, ...]] = []
    for caution, n in sorted({(p.caution, p.n) for p in points}, key=lambda k: (not k[0], k[1])):
        of = [p for p in points if (p.caution, p.n) == (caution, n)]
        score = mean_metric(
            "normalized_score", [p.normalized_score for p in of], clusters=[p.game for p in of]
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
    """As CSV, a line for each point."""
    with written_beside(path) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(Point.model_fields), lineterminator="\n")
        writer.writeheader()
        writer.writerows(point.model_dump() for point in points)


def read_points(paths: Sequence[Path]) -> list[Point]:
    """The points of several files.

    Raises:
        InputError: a file that cannot be read, or holds something else.
    """
    points = []
    for path in paths:
        try:
            with path.open(encoding="utf-8", newline="") as file:
                points += [Point.model_validate(row) for row in csv.DictReader(file)]
        except (OSError, UnicodeDecodeError, ValidationError) as error:
            why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise InputError(
                say(
                    f"学習曲線のファイルではありません: {why}", f"this is no learning curve: {why}"
                ),
                place=str(path),
                remedy=say(
                    "naisei textgame learn --valid DIR --curve FILE で作れます",
                    "naisei textgame learn --valid DIR --curve FILE writes one",
                ),
            ) from None
    return points
