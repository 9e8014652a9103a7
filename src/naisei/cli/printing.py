"""Output of commands: tables for people, one line for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table as Grid
from rich.text import Text

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.tables import folded, number
from naisei.runs.task import Metric, Table
from naisei.runs.words import worded
from naisei.terminal import Console, json_text, visible

if TYPE_CHECKING:
    from naisei.runs.result import RunResult
    from naisei.system.studies import Study


def print_either(as_json: bool, value: object, text: str) -> None:
    """Print a result for programs or for people."""
    print(json_text(value) if as_json else visible(text))


def print_tables(tables: Sequence[Table], console: Console) -> None:
    """Print tables, with each value and the bounds of its interval in one cell."""
    for table in tables:
        grid = Grid(title=worded(table.title), title_justify="left", caption=table.note or None)
        joined = folded(table)
        for at, column in enumerate(joined.columns):
            grid.add_column(worded(column), justify="left" if at == 0 else "right", overflow="fold")
        for row in joined.rows:
            grid.add_row(*(Text(number(cell)) for cell in row))
        console.print(grid)


def _metrics_table(metrics: Sequence[Metric]) -> Table:
    """Return the defined metrics for the terminal; the report names the others."""
    return Table(
        "",
        ("metric", "value", "low", "high", "n"),
        tuple((m.name, m.value, m.low, m.high, m.n) for m in metrics if m.value == m.value),
    )


#: Maximum number of printed reasons for unscored episodes; the report has all.
_REASONS = 5


def print_result(
    result: RunResult,
    *,
    as_json: bool = False,
    hints: Sequence[str] = (),
    console: Console | None = None,
) -> None:
    """Print a run's metrics and tables to stdout. With `as_json`, only its result object goes to
    stdout, on one line, and the rest to stderr. console: for human-readable output."""
    console = console or Console(stderr=as_json)
    print_tables([_metrics_table(result.summary.metrics), *result.summary.tables], console)
    for note in result.summary.notes:
        console.print(note, style="yellow")
    _print_state(result, console)
    for hint in hints:
        console.print(hint, style="dim")
    console.print(say("報告: ", "Report: ") + str(result.report))
    if as_json:
        print(result.line(), flush=True)


def print_study(study: Study, *, as_json: bool = False) -> None:
    """Print the tables of a study, and the path of its page."""
    console = Console(stderr=as_json)
    print_tables(study.tables, console)
    for note in study.notes:
        console.print(note, style="yellow")
    for result in study.results.values():
        _print_state(result, console)
    page = study.path / "study.html"
    console.print(say("表と報告: ", "Tables and report: ") + str(page))
    if as_json:
        line = json.dumps(_study_json(study), ensure_ascii=False, allow_nan=False)
        print(line, flush=True)


def _print_state(result: RunResult, console: Console) -> None:
    """Print why a run is incomplete and how to resume it."""
    out = result.outcome
    if out.failed:
        console.print(
            say(
                f"{len(out.rows)} 件中 {out.failed} 件は通信やモデルの不具合で採点できていません。"
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


def _study_json(study: Study) -> dict[str, Any]:
    """Return the result object of a study: per configuration, and the sums over them."""
    from naisei.runs.compare import compare

    runs = {label: result.to_json() for label, result in study.results.items()}
    out: dict[str, Any] = {
        "metrics": {label: run["metrics"] for label, run in runs.items()},
        "n": sum(r.outcome.scored for r in study.results.values()),
        "n_unscored": sum(r.outcome.failed for r in study.results.values()),
        "tokens": {label: run["tokens"] for label, run in runs.items()},
        "run_dir": str(Path(study.path)),
        "runs": runs,
        "notes": list(study.notes),
    }
    if len(runs) > 1:
        with suppress(InputError):  # no unit is scored in all of them
            paths = [result.run_dir for result in study.results.values()]
            out["comparison"] = compare(paths, names=list(runs)).to_json()
    return out
