"""What `naisei textgame ablate` does, once the flags are read."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from naisei.cli.printing import print_tables
from naisei.core import fingerprint
from naisei.lang import say
from naisei.runs.report import write_study
from naisei.runs.result import RunResult
from naisei.terminal import Console
from naisei.textgame.config import GameConfig
from naisei.textgame.execute import Session, run_games
from naisei.textgame.llm.tables import study_tables

__all__ = ["ablate"]


def ablate(
    chosen: Mapping[str, GameConfig], session: Session, *, run_dir: Path | None, json: bool
) -> int:
    """Run each row in a folder of its own, then compare them; returns the exit code.

    The same command goes on where it was stopped.
    """
    if run_dir is None:
        digest = fingerprint({row: c.model_dump(mode="json") for row, c in chosen.items()})
        run_dir = Path("runs") / f"textgame-ablate-{digest[:10]}"
    results: dict[str, RunResult] = {}
    for row, config in chosen.items():
        results[row] = run_games(config, session, run_dir=run_dir / row)
        if results[row].outcome.stopped:
            break
    _print(results, run_dir, Console(stderr=json), seed=next(iter(chosen.values())).seed)
    if json:
        print(_line(results, run_dir), flush=True)
    return next((r.exit_code for r in results.values() if r.exit_code), 0)


def _print(results: Mapping[str, RunResult], run_dir: Path, console: Console, *, seed: int) -> None:
    tables = study_tables({row: r.summary for row, r in results.items()}, seed=seed)
    notes = list(dict.fromkeys(n for r in results.values() for n in r.summary.notes))
    links = {
        row: str(r.report.resolve().relative_to(run_dir.resolve())) for row, r in results.items()
    }
    page = write_study(run_dir, "naisei textgame ablate", tables, runs=links, notes=notes)
    print_tables(tables, console)
    for note in notes:
        console.print(note, style="yellow")
    for row, result in results.items():
        if failed := result.outcome.failed:
            console.print(
                say(
                    f"{row}: {failed} ゲームは通信やモデルの不具合で採点できていません。"
                    "同じコマンドでもう一度試せます。",
                    f"{row}: {failed} games are unscored by instrument failures; the same command "
                    "tries them again.",
                ),
                style="red",
            )
        if why := result.outcome.stopped:
            console.print(
                say(
                    f"{row} の途中で止まりました ({why})。同じコマンドで続きから再開します。",
                    f"Stopped in {row} ({why}). The same command goes on from there.",
                ),
                style="red",
            )
    console.print(say("表と報告: ", "Tables and report: ") + str(page))


def _line(results: Mapping[str, RunResult], run_dir: Path) -> str:
    """The result object of a study: per row, and the sums over them."""
    runs: dict[str, JsonValue] = {row: r.to_json() for row, r in results.items()}
    out = {
        "metrics": {row: r.to_json()["metrics"] for row, r in results.items()},
        "n": sum(r.outcome.scored for r in results.values()),
        "n_unscored": sum(r.outcome.failed for r in results.values()),
        "tokens": {row: r.to_json()["tokens"] for row, r in results.items()},
        "run_dir": str(run_dir),
        "runs": runs,
    }
    return jsonlib.dumps(out, ensure_ascii=False, allow_nan=False)
