"""What a command prints of a run and of a study: tables for people, one line for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei.cli.show import metrics_table, print_tables
from naisei.lang import say
from naisei.terminal import Console

if TYPE_CHECKING:
    from naisei.runs.result import RunResult
    from naisei.system.execute import Study

__all__ = ["print_result", "print_study"]

#: Reasons of unscored episodes that are printed; the report has all.
_REASONS = 5


def print_result(result: RunResult, *, as_json: bool = False, hints: Sequence[str] = ()) -> None:
    """The metrics and tables of a run on stdout; with `as_json` its result object alone is
    there, on one line, and the rest is on stderr."""
    console = Console(stderr=as_json)
    print_tables([metrics_table(result.summary.metrics), *result.summary.tables], console)
    for note in result.summary.notes:
        console.print(note, style="yellow")
    print_state(result, console)
    for hint in hints:
        console.print(hint, style="dim")
    console.print(say("報告: ", "Report: ") + str(result.report))
    if as_json:
        print(result.line(), flush=True)


def print_study(study: Study, *, as_json: bool = False) -> None:
    """The tables of a study, and where its page is."""
    console = Console(stderr=as_json)
    print_tables(study.tables, console)
    for note in study.notes:
        console.print(note, style="yellow")
    for result in study.results.values():
        print_state(result, console)
    page = study.path / "study.html"
    console.print(say("表と報告: ", "Tables and report: ") + str(page))
    if as_json:
        line = json.dumps(study_json(study), ensure_ascii=False, allow_nan=False)
        print(line, flush=True)


def print_state(result: RunResult, console: Console) -> None:
    """Why a run is not complete, and how to go on; nothing for one that is."""
    out = result.outcome
    if out.failed:
        console.print(
            say(
                f"{len(out.rows)} 件中 {out.failed} 件は計測エラーで採点できていません。"
                "同じコマンドでもう一度試せます。",
                f"{out.failed} of {len(out.rows)} episodes are unscored by instrument failures; "
                "the same command tries them again.",
            ),
            style="red",
        )
        for row in [row for row in out.rows if row.failure][:_REASONS]:
            console.print(f"  {row.where.episode}: {row.failure}", style="red")
    if out.stopped:
        console.print(
            say(
                f"途中で止まりました ({out.stopped})。続き: naisei runs resume {result.run_dir}",
                f"Stopped ({out.stopped}). To go on: naisei runs resume {result.run_dir}",
            ),
            style="red",
        )


def study_json(study: Study) -> dict[str, Any]:
    """The result object of a study: per configuration, and the sums over them."""
    runs = {label: result.to_json() for label, result in study.results.items()}
    return {
        "metrics": {label: run["metrics"] for label, run in runs.items()},
        "n": sum(r.outcome.scored for r in study.results.values()),
        "n_unscored": sum(r.outcome.failed for r in study.results.values()),
        "tokens": {label: run["tokens"] for label, run in runs.items()},
        "run_dir": str(Path(study.path)),
        "runs": runs,
    }
