"""What the commands of text games do, once the flags are read."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import track

from naisei.cli.lang import say
from naisei.cli.show import metrics_table, print_tables
from naisei.core import InputError
from naisei.runs.result import RunResult
from naisei.textgame.config import GameConfig
from naisei.textgame.engine import needs_textworld
from naisei.textgame.execute import Session, run_games
from naisei.textgame.make.many import Maker, make_many

__all__ = ["carry_out", "make_cooking_games", "print_run"]


def carry_out(config: GameConfig, session: Session, *, run_dir: Path | None, json: bool) -> int:
    """Play the games and print what came of it; returns the exit code."""
    console = Console(stderr=json)
    result = run_games(config, session, run_dir=run_dir)
    print_run(result, console)
    if json:
        print(result.line(), flush=True)
    return result.exit_code


def print_run(result: RunResult, console: Console) -> None:
    """The metrics, the tables, and where the report is."""
    print_tables([metrics_table(result.summary.metrics), *result.summary.tables], console)
    for note in result.summary.notes:
        console.print(note, style="yellow", markup=False)
    out = result.outcome
    if out.failed:
        console.print(
            say(
                f"{len(out.rows)} ゲーム中 {out.failed} 件は計測の失敗で採点できていません。"
                "同じ命令でもう一度試せます。",
                f"{out.failed} of {len(out.rows)} games are unscored by instrument failures; "
                "the same command tries them again.",
            ),
            style="red",
        )
        for row in out.rows:
            if row.failure:
                console.print(f"  {row.where.episode}: {row.failure}", style="red", markup=False)
    if out.stopped:
        console.print(
            say(
                f"途中で止まりました ({out.stopped})。続き: naisei runs resume {result.run_dir}",
                f"Stopped ({out.stopped}). To go on: naisei runs resume {result.run_dir}",
            ),
            style="red",
            markup=False,
        )
    console.print(say("報告: ", "Report: ") + str(result.report), markup=False)


def make_cooking_games(
    split: str, folder: Path, *, count: int | None, seed: int, processes: int | None
) -> int:
    """Generate cooking games on the competition's grid; returns the exit code."""
    from random import Random

    from naisei.textgame.make.cooking import file_name, make_cooking
    from naisei.textgame.make.grid import SPLITS, grid, repeats

    if split not in SPLITS:
        raise InputError(
            f"unknown split: {split}", place="--split", remedy=f"use {', '.join(SPLITS)}"
        )
    wanted = [(c, n) for n in range(repeats(split)) for c in grid(split)]
    if count is not None and count < len(wanted):
        # A part of the set has all sorts of games in it.
        wanted = sorted(
            Random(seed).sample(wanted, count), key=lambda pair: (pair[1], pair[0].name)
        )
    jobs: list[tuple[str, Maker]] = [
        (
            file_name(c, split, seed=seed, number=n),
            partial(make_cooking, c, split, seed=seed, number=n),
        )
        for c, n in wanted
    ]
    return _make(jobs, folder, processes)


def _make(jobs: list[tuple[str, Maker]], folder: Path, processes: int | None) -> int:
    needs_textworld()
    made = make_many(jobs, folder, processes=processes)
    console = Console(stderr=True)
    games = list(
        track(made, say("ゲームを作成中", "Making games"), total=len(jobs), console=console)
    )
    points = sum(game.max_score for game in games)
    console.print(
        say(
            f"{folder} に {len(games)} ゲーム (満点の合計 {points})",
            f"{len(games)} games in {folder}, worth {points} points in all",
        ),
        markup=False,
        soft_wrap=True,
    )
    return 0
