"""What `naisei emphasis eval` and `compare-encoders` do, once the flags are read."""

from __future__ import annotations

import json as jsons
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from naisei.cli.printing import metrics_table, print_tables
from naisei.core import fingerprint
from naisei.emphasis.evaluation.config import EvalConfig
from naisei.emphasis.evaluation.execute import Session, Study, run_eval, run_study
from naisei.lang import say
from naisei.runs.report import write_study
from naisei.runs.result import RunResult
from naisei.terminal import Console

__all__ = ["evaluate", "print_run"]


def evaluate(
    configs: Mapping[str, EvalConfig],
    session: Session,
    *,
    run_dir: Path | None,
    json: bool,
    title: str = "naisei emphasis eval",
) -> int:
    """One configuration, or several as a study; returns the exit code."""
    if len(configs) == 1:
        result = run_eval(next(iter(configs.values())), session, run_dir=run_dir)
        print_run(result, json=json)
        return result.exit_code
    if run_dir is None:
        digest = fingerprint({k: c.model_dump(mode="json") for k, c in configs.items()})
        run_dir = Path("runs") / f"emphasis-eval-{digest[:10]}"
    study = run_study(configs, session, run_dir=run_dir)
    _print_study(study, run_dir, title, json=json)
    return study.exit_code


def print_run(result: RunResult, *, json: bool) -> None:
    """Metrics and tables on stdout, where the rest is on stderr; with `json`, one line."""
    console = Console(stderr=json)
    print_tables([metrics_table(result.summary.metrics), *result.summary.tables], console)
    for note in result.summary.notes:
        console.print(note, style="yellow")
    _say_state(result, console)
    console.print(say("報告: ", "Report: ") + str(result.report))
    if json:
        print(result.line(), flush=True)


def _say_state(result: RunResult, console: Console) -> None:
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
    if out.stopped:
        console.print(
            say(
                f"途中で止まりました ({out.stopped})。続き: naisei runs resume {result.run_dir}",
                f"Stopped ({out.stopped}). To go on: naisei runs resume {result.run_dir}",
            ),
            style="red",
        )


def _print_study(study: Study, run_dir: Path, title: str, *, json: bool) -> None:
    """The tables of a study; writes its page, CSV and Markdown beside the runs."""
    console = Console(stderr=json)
    notes = list(dict.fromkeys(n for r in study.results.values() for n in r.summary.notes))
    links = {
        label: str(r.report.resolve().relative_to(run_dir.resolve()))
        for label, r in study.results.items()
    }
    page = write_study(run_dir, title, study.tables, runs=links, notes=notes)
    print_tables(study.tables, console)
    for result in study.results.values():
        _say_state(result, console)
    console.print(say("表と報告: ", "Tables and report: ") + str(page))
    if json:
        runs: dict[str, JsonValue] = {k: r.to_json() for k, r in study.results.items()}
        out = {
            "metrics": {k: r.to_json()["metrics"] for k, r in study.results.items()},
            "n": sum(r.outcome.scored for r in study.results.values()),
            "n_unscored": sum(r.outcome.failed for r in study.results.values()),
            "run_dir": str(run_dir),
            "runs": runs,
        }
        print(jsons.dumps(out, ensure_ascii=False, allow_nan=False), flush=True)
