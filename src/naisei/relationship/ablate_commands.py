"""The ablation in one command: no reflection, reflection without injection, with injection.

Each condition is a run of its own, which `naisei runs compare` reads as well.
"""

from __future__ import annotations

import json as jsonlib
import math
from pathlib import Path
from typing import Any

from naisei.cli.printing import print_tables
from naisei.core import InputError, fingerprint
from naisei.lang import say
from naisei.relationship.config import RelationshipConfig
from naisei.relationship.execute import Sitting, check_models, hold
from naisei.runs.compare import compare
from naisei.runs.report import write_study
from naisei.runs.result import RunResult
from naisei.runs.task import Table
from naisei.terminal import Console

__all__ = ["CONDITIONS", "ablate", "conditions"]

#: Condition → folder of its run.
CONDITIONS = {"none": "none", "no-inject": "no-inject", "inject": "inject"}


def conditions(config: RelationshipConfig) -> dict[str, RelationshipConfig]:
    """The three configurations; they differ in nothing but the reflection.

    config: reflects, in whatever mode the two conditions with reflection are to have.
    """
    given: dict[str, dict[str, Any]] = {
        "none": {"reflection": "off", "inject": False},
        "no-inject": {"inject": False},
        "inject": {"inject": True},
    }
    made = {
        name: config.model_copy(update={"rules": config.rules.model_copy(update=changes)})
        for name, changes in given.items()
    }
    return {
        name: one.model_copy(
            update={"models": {r: m for r, m in config.models.items() if r in one.needed}}
        )
        for name, one in made.items()
    }


def ablate(
    config: RelationshipConfig, sitting: Sitting, *, run_dir: Path | None, json: bool
) -> int:
    """Hold the conversations under each condition, and compare them; returns the exit code."""
    check_models(config)
    chosen = conditions(config)
    digest = fingerprint({name: one.model_dump(mode="json") for name, one in chosen.items()})
    root = run_dir or Path("runs") / f"relationship-ablate-{digest[:10]}"
    console = Console(stderr=json)
    results: dict[str, RunResult] = {}
    for name, one in chosen.items():
        console.print(f"── {name}", style="cyan")
        results[name] = hold(one, sitting, run_dir=root / CONDITIONS[name])
        if results[name].outcome.stopped:
            break
    tables = [_conditions_table(results)]
    notes = list(dict.fromkeys(note for r in results.values() for note in r.summary.notes))
    told: list[str] = []
    if len(results) == len(chosen) and all(r.outcome.scored for r in results.values()):
        more, told = _paired(root, config.seed)
        tables += more
    notes += told
    links = {name: f"{CONDITIONS[name]}/report.html" for name in results}
    page = write_study(root, "naisei relationship ablate", tables, runs=links, notes=notes)
    print_tables(tables, console)
    for note in notes:
        console.print(note, style="yellow")
    _say_state(results, root, console)
    console.print(say("表と報告: ", "Tables and report: ") + str(page))
    if json:
        print(_line(results, root, tables), flush=True)
    return next((r.exit_code for r in results.values() if r.exit_code), 0)


def _conditions_table(results: dict[str, RunResult]) -> Table:
    """The metrics that are defined under some condition, a column each."""
    names = dict.fromkeys(m.name for r in results.values() for m in r.summary.metrics)
    values = [{m.name: m.value for m in r.summary.metrics} for r in results.values()]
    figures = {name: [given.get(name, math.nan) for given in values] for name in names}
    defined = {n: row for n, row in figures.items() if not all(map(math.isnan, row))}
    rows: list[tuple[str | float | int, ...]] = [(n, *row) for n, row in defined.items()]
    return Table("Conditions", ("metric", *results), tuple(rows))


def _paired(root: Path, seed: int) -> tuple[list[Table], list[str]]:
    """What `naisei runs compare` says of the three, and what the vector changed in the speech:
    injection against the same reflection without it. With notes that must be read."""
    # The other commands do not wait for the words of Japanese.
    from naisei.relationship.effect import effect_of

    runs = {name: root / folder for name, folder in CONDITIONS.items()}
    tables = [compare(list(runs.values()), seed=seed).table()]
    try:
        found = effect_of(runs["inject"], runs["no-inject"], seed=seed)
    except InputError as error:
        head = say("言葉づかいへの効果は測れません: ", "No effect on speech can be measured: ")
        return tables, [head + str(error)]
    return [*tables, *found.tables()], list(found.notes)


def _say_state(results: dict[str, RunResult], root: Path, console: Console) -> None:
    for name, result in results.items():
        out = result.outcome
        if out.failed:
            console.print(
                say(
                    f"{name}: {len(out.rows)} 件中 {out.failed} 件は測定エラーで"
                    "採点できていません。"
                    "同じコマンドでもう一度試せます。",
                    f"{name}: {out.failed} of {len(out.rows)} conversations are unscored by "
                    "instrument failures; the same command tries them again.",
                ),
                style="red",
            )
        if out.stopped:
            console.print(
                say(
                    f"途中で止まりました ({out.stopped})。同じコマンドで続きから始まります: "
                    f"--run-dir {root}",
                    f"Stopped ({out.stopped}). The same command goes on: --run-dir {root}",
                ),
                style="red",
            )


def _line(results: dict[str, RunResult], root: Path, tables: list[Table]) -> str:
    out: dict[str, Any] = {
        "metrics": {name: r.to_json()["metrics"] for name, r in results.items()},
        "n": sum(r.outcome.scored for r in results.values()),
        "n_unscored": sum(r.outcome.failed for r in results.values()),
        "run_dir": str(root),
        "runs": {name: r.to_json() for name, r in results.items()},
    }
    if len(tables) > 1:
        out["comparison"] = compare([root / f for f in CONDITIONS.values()]).to_json()
    return jsonlib.dumps(out, ensure_ascii=False, allow_nan=False)
