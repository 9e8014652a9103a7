"""What `naisei textgame learn` and `learning-curve` do."""

from __future__ import annotations

import sys
from pathlib import Path

from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import say
from naisei.textgame.engine import GameHandler, ProcessPool, needs_textworld
from naisei.textgame.games import Game, find_games
from naisei.textgame.learning.curve import (
    COUNTS,
    Point,
    measured,
    read_points,
    snapshots,
    table,
    write_points,
)
from naisei.textgame.learning.knowledge import Knowledge, load
from naisei.textgame.learning.plot import draw
from naisei.textgame.learning.stage import Course

__all__ = ["learn", "show"]


def learn(
    games: Path,
    out: Path,
    *,
    lessons: int,
    caution: bool,
    seed: int,
    valid: Path | None = None,
    valid_limit: int = 60,
    curve: Path | None = None,
    resume: bool = False,
) -> None:
    """Play `lessons` games, and write what was learned after each measured number of them; with
    `valid`, measure it there. resume: go on from what `out` and `curve` hold.

    Raises:
        InputError: unusable games, a curve without games to measure it on, or an `out` that was
            learned otherwise.
    """
    if (valid is None) != (curve is None):
        raise InputError(
            say(
                "曲線には、測るためのゲームと書き込むファイルの両方が要ります",
                "a curve needs both games to measure on and a file to write",
            ),
            place="--curve" if valid is not None else "--valid",
            remedy=say(
                "--valid DIR --curve FILE.csv を付けてください",
                "give --valid DIR --curve FILE.csv",
            ),
        )
    needs_textworld()
    school = find_games(str(games))
    # The same games for every seed: the seeds differ in what was learned.
    kept = find_games(str(valid), limit=valid_limit) if valid is not None else ()
    counts = [n for n in COUNTS if n < lessons and kept] + [min(lessons, len(school))]
    known = _begun(out, seed, caution) if resume else Knowledge(seed=seed, caution=caution)
    points = read_points([curve]) if resume and curve is not None and curve.is_file() else []
    courses: dict[str, Course] = {}
    stage = _Stage()
    try:
        for learned in snapshots(school, stage, counts, known=known):
            new = list(measured(learned, kept, stage, courses))
            points += new
            if curve is not None:
                # After every stage: a curve that was interrupted is still one.
                write_points(curve, points)
            write_atomically(out, learned.text())
            print(_progress(learned.games, new), file=sys.stderr, flush=True)
    finally:
        stage.close()
    print(say(f"学んだこと: {out}", f"What was learned: {out}"))


class _Stage:
    """Interpreters for one game after another: the one before is given back, over or not."""

    def __init__(self) -> None:
        self._pool = ProcessPool()
        self._last: GameHandler | None = None

    def __call__(self, game: Game) -> GameHandler:
        self._return()
        self._last = GameHandler(game.path, self._pool)
        return self._last

    def _return(self) -> None:
        if self._last is not None:
            self._last.close()

    def close(self) -> None:
        self._return()
        self._pool.close()


def _begun(out: Path, seed: int, caution: bool) -> Knowledge:
    known = load(out)
    if (known.seed, known.caution) != (seed, caution):
        raise InputError(
            say(
                f"--seed {known.seed} と {'--caution' if known.caution else '--no-caution'} で"
                "学んだものです",
                f"it was learned with seed {known.seed} and caution "
                f"{'on' if known.caution else 'off'}",
            ),
            place=str(out),
            remedy=say(
                "同じ指定で続けるか、--resume を外してください",
                "go on with the same, or leave out --resume",
            ),
        )
    return known


def show(files: list[Path], plot: Path | None) -> None:
    """The table of measured curves, of all seeds together, as Markdown; and a picture."""
    points = read_points(files)
    found = table(points)
    print("| " + " | ".join(found.columns) + " |")
    print("|" + " --- |" * len(found.columns))
    for row in found.rows:
        cells = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row)
        print("| " + " | ".join(cells) + " |")
    if plot is not None:
        draw(points, plot)


def _progress(games: int, points: list[Point]) -> str:
    if not points:
        return say(f"{games} ゲーム", f"{games} games")
    score = sum(p.normalized_score for p in points) / len(points)
    steps = sum(p.steps for p in points) / len(points)
    return say(
        f"{games} ゲーム: 得点 {score:.3f}、{steps:.1f} 手",
        f"{games} games: score {score:.3f}, {steps:.1f} steps",
    )
