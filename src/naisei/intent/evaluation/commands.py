"""What `naisei intent eval` does, once the flags are read."""

from __future__ import annotations

import json as jsons
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

from pydantic import JsonValue

from naisei.cli.printing import print_tables
from naisei.core import InputError, fingerprint
from naisei.intent.config import AssistConfig
from naisei.intent.contacts import Contacts, load_contacts
from naisei.intent.evaluation.config import ABLATIONS, EvalConfig, ablated
from naisei.intent.evaluation.execute import Session, Study, run_eval, run_study
from naisei.intent.evaluation.items import HANDBOOK
from naisei.lang import say
from naisei.runs.report import write_study
from naisei.runs.result import RunResult
from naisei.runs.task import Table
from naisei.terminal import Console

__all__ = ["evaluate", "print_run"]

_ERR = Console(stderr=True)


def evaluate(
    source: str,
    assistant: AssistConfig,
    session: Session,
    *,
    split: str = "all",
    limit: int | None = None,
    seed: int = 0,
    simulator: str = "rule",
    simulator_model: str | None = None,
    rows: Sequence[str] = (),
    run_dir: Path | None = None,
    json: bool = False,
) -> int:
    """One configuration, or those named in `rows` as a study; returns the exit code."""
    if unknown := [name for name in rows if name not in ABLATIONS]:
        raise InputError(
            say(f"「{unknown[0]}」という行はありません", f"no row is called '{unknown[0]}'"),
            place="--row",
            remedy=say(f"使えるもの: {', '.join(ABLATIONS)}", f"known: {', '.join(ABLATIONS)}"),
        )
    contacts = assistant.setting.contacts
    if source == HANDBOOK and not contacts.contact:
        contacts = _handbook_contacts()
    models = dict(assistant.models)
    if simulator == "llm" and simulator_model:
        models["simulator"] = simulator_model
    base = EvalConfig(
        data=source,
        split=None if split == "all" else split,
        limit=limit,
        seed=seed,
        index=assistant.index,
        mode=assistant.mode,
        user=simulator,
        rules=assistant.setting.rules,
        contacts=contacts,
        models=models,
        sampling=assistant.sampling,
    )
    if len(rows) > 1:
        return _study(ablated(base, list(dict.fromkeys(rows))), session, run_dir, json)
    config = ablated(base, rows)[rows[0]] if rows else base
    result = run_eval(config, session, run_dir=run_dir)
    print_run(result, json=json)
    return result.exit_code


def _handbook_contacts() -> Contacts:
    """Those of the bundled handbook, where it has any."""
    bundled = files("naisei") / "data" / "handbook" / "contacts.toml"
    if not bundled.is_file():
        return Contacts()
    with as_file(bundled) as path:
        return load_contacts(path)


def print_run(result: RunResult, *, json: bool) -> None:
    """The tables of a run on stdout, where the rest is on stderr; with `json`, one line."""
    console = _ERR if json else Console()
    print_tables([*result.summary.tables, _chief(result)], console)
    for note in result.summary.notes:
        console.print(note, style="yellow")
    _say_state(result, console)
    if json:
        print(result.line(), flush=True)


_CHIEF = (
    "routing_agreement",
    "questions",
    "answer_support",
    "quotes_verbatim",
    "refusals_right",
    "refusals_wrong",
    "contact_right",
    "fell_back",
    "tokens",
    "latency_mean",
    "latency_median",
    "latency_p95",
)


def _chief(result: RunResult) -> Table:
    """What the tables of the report do not say; the report has every metric."""
    named = {m.name: m for m in result.summary.metrics}
    rows = tuple(
        (m.name, m.value, m.low, m.high, m.n, m.reason) for m in (named[n] for n in _CHIEF)
    )
    title = say("全体の指標", "Over all items")
    return Table(title, ("metric", "value", "low", "high", "n", "reason"), rows)


def _say_state(result: RunResult, console: Console) -> None:
    out = result.outcome
    if out.failed:
        console.print(
            say(
                f"{len(out.rows)} 件中 {out.failed} 件は通信やモデルの不具合で採点できていません。"
                "同じコマンドでもう一度試せます。",
                f"{out.failed} of {len(out.rows)} items are unscored by instrument failures; "
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
    console.print(say("報告: ", "Report: ") + str(result.report))


def _study(
    chosen: dict[str, EvalConfig], session: Session, run_dir: Path | None, json: bool
) -> int:
    if run_dir is None:
        digest = fingerprint({k: c.model_dump(mode="json") for k, c in chosen.items()})
        run_dir = Path("runs") / f"intent-eval-{digest[:10]}"
    study = run_study(chosen, session, run_dir=run_dir)
    _print_study(study, run_dir, json=json)
    return study.exit_code


def _print_study(study: Study, run_dir: Path, *, json: bool) -> None:
    """The tables of a study; writes its page, CSV and Markdown beside the runs."""
    console = _ERR if json else Console()
    notes = list(dict.fromkeys(n for r in study.results.values() for n in r.summary.notes))
    links = {
        label: str(r.report.resolve().relative_to(run_dir.resolve()))
        for label, r in study.results.items()
    }
    tables = study.tables
    page = write_study(run_dir, "naisei intent eval", tables, runs=links, notes=notes)
    print_tables(tables, console)
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
