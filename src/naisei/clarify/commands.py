"""What the commands do, once the flags are read."""

from __future__ import annotations

import asyncio
import json as jsonlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from naisei.clarify.agent import AgentContext
from naisei.clarify.agents.registry import build_agent, is_model_free
from naisei.clarify.choose import Wish, configs
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.execute import Study, check_models, run_config, run_study
from naisei.clarify.person import Person, people_directory
from naisei.clarify.schemas import Language
from naisei.clarify.session import Session
from naisei.clarify.study import ABLATION, ablation
from naisei.cli.lang import language as shown_language
from naisei.cli.lang import say
from naisei.cli.show import metrics_table, print_tables
from naisei.core import InputError, fingerprint
from naisei.memory import memory as open_memory
from naisei.models.embedders.kept import KeptEmbedder
from naisei.models.embedders.registry import open_embedder
from naisei.models.world import base_world
from naisei.runs.result import RunResult
from naisei.runs.study_report import write_study
from naisei.terminal import Console

if TYPE_CHECKING:
    from naisei.clarify.audit.task import AuditConfig

__all__ = ["ablate", "audit", "chat", "print_run", "print_study", "run"]

_ERR = Console(stderr=True)


def run(wish: Wish, session: Session, *, run_dir: Path | None, json: bool) -> int:
    """One configuration, or a study of several; returns the exit code."""
    chosen = configs(wish)
    if not wish.agents and next(iter(chosen.values())).agent == "bayes":
        _ERR.print(
            say(
                "モデルの指定がないので、モデル不要の bayes を使います (--model で指定できます)。",
                "No model is given: using the model-free agent bayes (--model names a model).",
            ),
            style="dim",
        )
    if len(chosen) == 1:
        result = run_config(next(iter(chosen.values())), session, run_dir=run_dir)
        print_run(result, json=json)
        return result.exit_code
    return _study("clarify run", chosen, session, run_dir, json)


def ablate(
    wish: Wish, rows: Sequence[str], session: Session, *, run_dir: Path | None, json: bool
) -> int:
    """The rows of Tables 2 and 3; returns the exit code."""
    base = next(iter(configs(wish).values()))
    free = is_model_free(base.agent)
    names = list(rows) or (["full", "no-clarify"] if free else list(ABLATION))
    unknown = [n for n in names if n not in ABLATION]
    if unknown:
        raise InputError(
            say(f"'{unknown[0]}' という行はありません", f"unknown row '{unknown[0]}'"),
            place="--rows",
            remedy=say(f"使えるもの: {', '.join(ABLATION)}", f"known: {', '.join(ABLATION)}"),
        )
    if free:
        _ERR.print(
            say(
                f"{base.agent} はメモを使わないので、質問の有無だけを比べます。",
                f"{base.agent} keeps no memo: only asking is ablated.",
            ),
            style="dim",
        )
        names = [n for n in names if n in ("full", "no-clarify")]
    chosen = ablation(base, names)
    if free:
        chosen = {n: c.model_copy(update={"memory": "none"}) for n, c in chosen.items()}
    return _study("clarify ablate", chosen, session, run_dir, json)


def _study(
    title: str,
    chosen: Mapping[str, ClarifyConfig],
    session: Session,
    run_dir: Path | None,
    json: bool,
) -> int:
    if run_dir is None:
        digest = fingerprint([title, {k: c.model_dump(mode="json") for k, c in chosen.items()}])
        run_dir = Path("runs") / f"{title.replace(' ', '-')}-{digest[:10]}"
    study = run_study(chosen, session, run_dir=run_dir, seed=next(iter(chosen.values())).seed)
    print_study(title, study, run_dir, json=json)
    return study.exit_code


def print_run(result: RunResult, *, json: bool) -> None:
    """The metrics of a run on stdout, where the rest is on stderr; with `json`, one line."""
    console = _ERR if json else Console()
    print_tables([metrics_table(result.summary.metrics), *result.summary.tables], console)
    for note in result.summary.notes:
        console.print(note, style="yellow")
    _say_state(result, console)
    if json:
        print(result.line(), flush=True)


def print_study(title: str, study: Study, run_dir: Path, *, json: bool) -> None:
    """The tables of a study; writes its page, CSV and Markdown beside the runs."""
    console = _ERR if json else Console()
    notes = list(dict.fromkeys(n for r in study.results.values() for n in r.summary.notes))
    links = {
        label: str(r.report.resolve().relative_to(run_dir.resolve()))
        for label, r in study.results.items()
    }
    page = write_study(run_dir, f"naisei {title}", study.tables, runs=links, notes=notes)
    print_tables(study.tables, console)
    for note in notes:
        console.print(note, style="yellow")
    for result in study.results.values():
        _say_state(result, console)
    console.print(say("表と報告: ", "Tables and report: ") + str(page))
    if json:
        print(_study_line(study, run_dir), flush=True)


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
    console.print(say("報告: ", "Report: ") + str(result.report))


def _study_line(study: Study, run_dir: Path) -> str:
    """The result object of a study: per configuration, and the sums over them."""
    runs: dict[str, JsonValue] = {label: r.to_json() for label, r in study.results.items()}
    out = {
        "metrics": {label: r.to_json()["metrics"] for label, r in study.results.items()},
        "n": sum(r.outcome.scored for r in study.results.values()),
        "n_unscored": sum(r.outcome.failed for r in study.results.values()),
        "tokens": {label: r.to_json()["tokens"] for label, r in study.results.items()},
        "run_dir": str(run_dir),
        "runs": runs,
    }
    return jsonlib.dumps(out, ensure_ascii=False, allow_nan=False)


def audit(config: AuditConfig, session: Session, *, run_dir: Path | None, json: bool) -> int:
    """Audit a user simulator; returns the exit code."""
    # Other commands do not wait for what only an audit or a sitting needs.
    from naisei.clarify.audit_run import run_audit

    result = run_audit(config, session, run_dir=run_dir)
    print_run(result, json=json)
    return result.exit_code


def chat(
    wish: Wish, session: Session, *, user: str, scene: str | None, language: Language | None
) -> None:
    """A sitting in the terminal."""
    from naisei.clarify.chat import Chat
    from naisei.clarify.chat import chat as sit
    from naisei.clarify.talk import ground

    config = next(iter(configs(wish).values()))
    check_models(config)
    policy = open_memory(config.memory)
    directory = people_directory()
    person = Person.load(user, directory)
    stands = ground(config, scene=scene, asked=language, shown=shown_language())
    agent = build_agent(
        config.agent,
        AgentContext(
            actions=stands.actions,
            alpha=config.alpha,
            trials=config.rules.trials,
            options=config.agent_options,
            embedder=lambda: KeptEmbedder(open_embedder(config.embedder)),
        ),
    )

    async def go() -> None:
        async with base_world(
            config.models, settings=session.settings, embedder=config.embedder
        ) as base:
            await sit(
                Chat(
                    agent=agent,
                    actions=stands.actions,
                    base=base,
                    person=person,
                    directory=directory,
                    rules=config.rules,
                    scene=stands.scene,
                    policy=(policy.name, policy.prompt),
                    console=Console(),
                )
            )

    asyncio.run(go())
