"""`naisei self-taught learn` and `learning-curve`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from naisei.core import InputError
from naisei.files import check_place, write_atomically
from naisei.lang import say
from naisei.system.config import Options, flag, seed_flag
from naisei.textgame.engine import GameHandler, ProcessPool, needs_textworld
from naisei.textgame.games import Game, find_games
from naisei_textgame_selftaught.curve import (
    COUNTS,
    Answers,
    Point,
    draw,
    measured,
    read_points,
    snapshots,
    table,
    write_points,
)
from naisei_textgame_selftaught.knowledge import Knowledge, load

_LEARNING, _CURVE = ("学習", "Learning"), ("学習曲線", "Learning curve")


class LearnOptions(Options):
    """What `learn` plays, how it learns, and what it measures."""

    games: Path = flag(
        ...,
        "学習用の料理ゲームのフォルダー",
        "Folder of cooking games to learn from.",
        metavar="DIR",
        panel=_LEARNING,
    )
    out: Path = flag(
        ...,
        "学んだことを書くファイル (JSON)",
        "Output file for the knowledge (JSON).",
        metavar="FILE",
        panel=_LEARNING,
    )
    lessons: int = flag(200, "遊ぶゲームの数", "Number of games to play.", panel=_LEARNING, ge=1)
    caution: bool = flag(
        True,
        "負けた手を避け、確かなことを先に済ませる",
        "Count losses, and apply sure rules before trying others.",
        panel=_LEARNING,
    )
    valid: Path | None = flag(
        None,
        "途中で測るための別のゲーム",
        "Held-out games for the learning curve.",
        metavar="DIR",
        panel=_CURVE,
    )
    valid_limit: int = flag(
        60,
        "そのうち使う数 (どの種でも同じもの)",
        "Number of held-out games, the same for every seed.",
        panel=_CURVE,
        ge=1,
    )
    curve: Path | None = flag(
        None,
        "測った値を書くファイル",
        "Output file for the curve.",
        metavar="FILE.csv",
        panel=_CURVE,
    )
    resume: bool = flag(
        False,
        "書いたものの続きから学ぶ",
        "Continue from --out and --curve.",
        panel=_LEARNING,
    )
    seed: int = seed_flag()


def learn(options: LearnOptions) -> None:
    """Play games, and write the knowledge after each measured number of them; with `valid`, measure
    it there.

    Raises:
        InputError: unusable games, a curve without games to measure on, or an `out` with other
            settings.
    """
    curve, out = options.curve, options.out
    if (options.valid is None) != (curve is None):
        raise InputError(
            say(
                "曲線には、測るためのゲームと書き込むファイルの両方が要ります",
                "a curve needs both games to measure on and a file to write",
            ),
            place="--curve" if options.valid is not None else "--valid",
            remedy=say(
                "--valid DIR --curve FILE.csv を付けてください",
                "give --valid DIR --curve FILE.csv",
            ),
        )
    needs_textworld()
    school = find_games(str(options.games))
    # The same games for all seeds, which differ only in their training.
    held_out: tuple[Game, ...] = ()
    if options.valid is not None:
        held_out = find_games(str(options.valid), limit=options.valid_limit)
    lessons = min(options.lessons, len(school))
    counts = [n for n in COUNTS if n < options.lessons and held_out] + [lessons]
    known = _begun(options) if options.resume else _new(options)
    for path in filter(None, (out, curve)):
        check_place(path)
    points = read_points([curve]) if options.resume and curve and curve.is_file() else []
    answers_of: dict[str, Answers] = {}
    stage = _Stage()
    try:
        for learned in snapshots(school, stage, counts, known=known):
            new = list(measured(learned, held_out, stage, answers_of))
            points += new
            if curve is not None:
                # After every stage, so that an interrupted curve is usable.
                write_points(curve, points)
            write_atomically(out, learned.text())
            print(_progress(learned.games, new), file=sys.stderr, flush=True)
    finally:
        stage.close()
    print(say(f"学んだこと: {out}", f"What was learned: {out}"))


class _Stage:
    """Interpreters for one game after another; each new game releases the previous one."""

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


def _new(options: LearnOptions) -> Knowledge:
    return Knowledge(seed=options.seed, caution=options.caution)


def _begun(options: LearnOptions) -> Knowledge:
    known = load(options.out)
    if (known.seed, known.caution) != (options.seed, options.caution):
        raise InputError(
            say(
                f"--seed {known.seed} と {'--caution' if known.caution else '--no-caution'} で"
                "学んだものです",
                f"it was learned with seed {known.seed} and caution "
                f"{'on' if known.caution else 'off'}",
            ),
            place=str(options.out),
            remedy=say(
                "同じ指定で続けるか、--resume を外してください",
                "go on with the same, or leave out --resume",
            ),
        )
    return known


def learning_curve(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE.csv...", help=say("測った値", "What was measured.")),
    ],
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE.svg",
            help=say("曲線の図 (naisei[plots] が要る)", "A picture of it; needs naisei[plots]."),
            rich_help_panel=say(*_CURVE),
        ),
    ] = None,
) -> None:
    """The table of measured curves over all seeds as Markdown, and a plot."""
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
