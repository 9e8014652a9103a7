"""What the commands do, once the flags are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from naisei.cli.printing import metrics_table, print_tables
from naisei.lang import say
from naisei.relationship.config import RelationshipConfig
from naisei.relationship.execute import Sitting, hold
from naisei.relationship.live import Live
from naisei.relationship.task import ConversationTask, empty
from naisei.runs.result import RunResult
from naisei.terminal import Console

__all__ = ["carry_out", "print_run"]


def carry_out(
    config: RelationshipConfig, sitting: Sitting, *, run_dir: Path | None, json: bool
) -> int:
    """Hold the conversations; a single one is printed as it goes. Returns the exit code."""
    console = Console(stderr=json)
    live = None
    task = ConversationTask(config)
    if not sitting.quiet and len(task.episodes()) == 1:
        sitting = replace(sitting, quiet=True)  # a progress bar would write across the lines
        live = Live(empty(next(iter(task.pairs.values()))), console)
    result = hold(config, sitting, run_dir=run_dir, on_event=live)
    print_run(result, console)
    if config.rules.reflection == "off":
        hint = say(
            "関係値内省は切ってあります (--relationship-reflection、発話のたびなら "
            "--relationship-reflection-every-turn)。",
            "Relationship reflection is off: --relationship-reflection, or "
            "--relationship-reflection-every-turn for each utterance.",
        )
        console.print(hint, style="dim")
    if json:
        print(result.line(), flush=True)
    return result.exit_code


def print_run(result: RunResult, console: Console) -> None:
    """The metrics, the tables, and where the files are."""
    print_tables([metrics_table(result.summary.metrics), *result.summary.tables], console)
    for note in result.summary.notes:
        console.print(note, style="yellow")
    out = result.outcome
    if out.failed:
        console.print(
            say(
                f"{len(out.rows)} 件中 {out.failed} 件は通信やモデルの不具合で採点できていません。"
                "同じコマンドでもう一度試せます。",
                f"{out.failed} of {len(out.rows)} conversations are unscored by instrument "
                "failures; the same command tries them again.",
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
    console.print(say("ファイル: ", "Files: ") + str(result.run_dir))
