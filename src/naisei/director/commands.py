"""What the director's commands do, once the flags are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from naisei.cli.lang import say
from naisei.cli.show import metrics_table, print_tables
from naisei.core import Event
from naisei.director.cli.live import Live
from naisei.director.config import TalkConfig
from naisei.director.execute import Session, run_talks
from naisei.director.task import TalkTask
from naisei.runs.directory import RunDirectory
from naisei.runs.frozen import default_path
from naisei.runs.result import RunResult
from naisei.terminal import Console

__all__ = ["carry_out", "print_run"]


def carry_out(config: TalkConfig, session: Session, *, run_dir: Path | None, json: bool) -> int:
    """Hold the talks; a single one is printed as it goes. Returns the exit code."""
    console = Console(stderr=json)
    live = None
    if not session.quiet and config.talks == 1:
        session = replace(session, quiet=True)  # a progress bar would write across the lines
        path = run_dir or default_path(TalkTask(config))
        live = Live(config, console, earlier=_earlier(path))
    result = run_talks(config, session, run_dir=run_dir, on_event=live)
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
                f"{len(out.rows)} 件中 {out.failed} 件は通信やモデルの不具合で採点できていません。"
                "同じコマンドでもう一度試せます。",
                f"{out.failed} of {len(out.rows)} talks are unscored by instrument failures; "
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


def _earlier(path: Path) -> list[Event]:
    """The events of former sittings in a run directory, if there is one."""
    if not (path / "config.json").exists():
        return []
    with RunDirectory.look(path) as run:
        return [event for name in run.log.known_episodes() for event in run.log.read(name)]
