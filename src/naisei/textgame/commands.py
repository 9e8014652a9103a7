"""What the commands of text games do, once the flags are read."""

from __future__ import annotations

from pathlib import Path

from naisei.cli.printing import metrics_table, print_tables
from naisei.lang import say
from naisei.runs.result import RunResult
from naisei.terminal import Console
from naisei.textgame.config import GameConfig
from naisei.textgame.execute import Session, run_games

__all__ = ["carry_out", "print_run"]


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
        console.print(note, style="yellow")
    out = result.outcome
    if out.failed:
        console.print(
            say(
                f"{len(out.rows)} ゲーム中 {out.failed} 件は、"
                "通信やモデルの不具合で採点できていません。"
                "同じコマンドでもう一度試せます。",
                f"{out.failed} of {len(out.rows)} games are unscored by instrument failures; "
                "the same command tries them again.",
            ),
            style="red",
        )
        for row in out.rows:
            if row.failure:
                console.print(f"  {row.where.episode}: {row.failure}", style="red")
    if out.stopped:
        console.print(
            say(
                f"途中で止まりました ({out.stopped})。続き: naisei runs resume {result.run_dir}",
                f"Stopped ({out.stopped}). To go on: naisei runs resume {result.run_dir}",
            ),
            style="red",
        )
    console.print(say("報告: ", "Report: ") + str(result.report))
