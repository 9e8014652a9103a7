"""The system declaration of R-Clarify."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei.clarify.config import AuditConfig, ClarifyConfig
from naisei.core import InputError
from naisei.lang import say
from naisei.system.declare import Ablation, Experiment, RawOptions, Role, Row, System, Verb
from naisei.system.registry import BUILT_IN

if TYPE_CHECKING:
    from naisei.clarify.audit import AuditTask
    from naisei.clarify.task import ClarifyTask
    from naisei.runs.task import Digest, Table
    from naisei.system.studies import Study


def _calls_model(config: ClarifyConfig) -> bool:
    from naisei.clarify.agent import is_model_free

    return not is_model_free(config.agent)


def _settle(given: RawOptions) -> dict[str, Any]:
    """Default to `bayes` without a model; remove the memory policy of model-free agents."""
    from naisei.clarify.agent import is_model_free, settings_of
    from naisei.memory import memory_policy
    from naisei.models.embedders import open_embedder, resolve

    values = dict(given.values)
    agent = values.setdefault("agent", "llm" if given.model_for("agent") else "bayes")
    values["agent_options"] = settings_of(
        agent, values.get("agent_options", {}), beside=given.axes.get("agent", ())
    )
    if "memory" in values:
        # An unknown name is an error for any agent.
        memory_policy(values["memory"], prompts="naisei.clarify")
    if is_model_free(agent):
        values["memory"] = "none"
    values.setdefault("memory", "none" if values.get("independent") else "tur")
    values.setdefault("simulator", "llm" if given.model_of.get("simulator") else "rule")
    name = values.get("embedder", "auto")
    # The resolved name: `auto` differs between machines.
    values["embedder"] = resolve(name)
    if values["embedder"] != name and values["embedder"] == "ngram":
        open_embedder(name)  # warns once
    return values


def _load(config: ClarifyConfig) -> ClarifyTask:
    from naisei.clarify.task import ClarifyTask

    return ClarifyTask.of(config)


def _load_audit(config: AuditConfig) -> AuditTask:
    from naisei.clarify.audit import AuditTask

    return AuditTask.of(config)


def _label(config: ClarifyConfig) -> str:
    """The agent, its model, and differences from the full system."""
    parts = [config.agent]
    if model := config.models.get("agent"):
        parts.append(model)
    if _calls_model(config):
        parts.append(config.memory)
    if not config.rules.clarify:
        parts.append("no-clarify")
    if config.manner != "cooperative":
        parts.append(config.manner)
    if config.rules.repeats != "mask":
        parts.append(f"repeats-{config.rules.repeats}")
    return " ".join(parts)


def _row(clarify: bool, memory: str) -> Row[ClarifyConfig]:
    def change(config: ClarifyConfig) -> ClarifyConfig:
        rules = config.rules.model_copy(update={"clarify": clarify})
        kept = memory if _calls_model(config) else "none"
        return config.model_copy(update={"rules": rules, "memory": kept})

    return Row(change)


def _rows(config: ClarifyConfig, asked: Sequence[str]) -> Sequence[str]:
    """Agents without a memo vary only in asking."""
    return asked if asked or _calls_model(config) else ("full", "no-clarify")


def _hints(config: ClarifyConfig, given: Collection[str]) -> Sequence[str]:
    if config.agent != "bayes" or "agent" in given:
        return ()
    return (
        say(
            "モデルの指定がないので、モデル不要の bayes を使いました (--model で指定できます)。",
            "No model is given: the model-free agent bayes was used (--model names a model).",
        ),
    )


_WITHOUT = (
    "モデルの要らないエージェントを使う: --agent bayes",
    "use an agent without a model: --agent bayes",
)


def _elsewhere(config: dict[str, Any], path: Path) -> InputError | None:
    """A conversation resumes with the command that began it."""
    if config.get("task") != "chat":
        return None
    return InputError(
        say("会話は、話していた人が続けます", "a conversation needs its person to go on"),
        place=str(path),
        remedy=f"naisei clarify chat --run-dir {path}",
    )


def _digest(result: Any) -> Digest:
    from naisei.clarify.metrics import digest

    return digest(result)


def _tables(study: Study) -> Sequence[Table]:
    from naisei.clarify.tables import more_tables

    return more_tables(study)


RUN: Experiment[ClarifyConfig] = Experiment(
    about=(
        "データ上でエージェントを動かし、表とレポートを作る",
        "Run agents on data; prints a table with intervals and writes a report.",
    ),
    config=ClarifyConfig,
    load=_load,
    settle=_settle,
    offered=("agent", "data", "limit"),
    roles=(
        Role("agent", needed=_calls_model, without=_WITHOUT),
        Role("reflector", needed=lambda c: c.memory != "none" and _calls_model(c)),
        Role("simulator", needed=lambda c: c.simulator == "llm", sampled=False),
    ),
    label=_label,
    ablation=Ablation(
        rows={
            # Tables 2 and 3 of the paper.
            "full": _row(clarify=True, memory="tur"),
            "no-tur": _row(clarify=True, memory="none"),
            "no-clarify": _row(clarify=False, memory="tur"),
            "no-both": _row(clarify=False, memory="none"),
            "reflexion": _row(clarify=True, memory="reflexion"),
        },
        about=(
            "論文の表 2 と表 3: TUR、質問、その両方を外したときと、Reflexion との比較",
            "The paper's Tables 2 and 3: without TUR, without asking, without both, and Reflexion.",
        ),
        defaults={"trials": 5},
        chosen=_rows,
    ),
    columns=(
        *("score@", "pass@", "dpass@", "questions", "wrong_acts"),
        *("tokens_reflection_success", "tokens_total_success"),
        *("tokens_reflection_all", "tokens_total_all"),
    ),
    tables=_tables,
    hints=_hints,
    headline=("score@", "pass@"),
    digest=_digest,
)

AUDIT: Experiment[AuditConfig] = Experiment(
    verb="audit",
    task="audit",
    about=(
        "ユーザー役のシミュレーターを調べる: 漏えい、矛盾、誤導、回答拒否",
        "Audit a user simulator: leaks, contradictions, misleading answers, refusals.",
    ),
    config=AuditConfig,
    load=_load_audit,
    roles=(Role("simulator", needed=lambda c: c.simulator == "llm", sampled=False),),
)


SYSTEM = System(
    name="clarify",
    about=BUILT_IN["clarify"],
    experiments=(RUN, AUDIT),
    verbs=(
        Verb(
            "chat",
            (
                "ターミナルで話す。あなたがユーザーになる",
                "Talk to it in the terminal: you are the user.",
            ),
            "naisei.clarify.chat:chat_command",
            shares=RUN,
            flags=("agent", "agent_option", "data", "memory", "trials", "quota", "embedder"),
            preset={"split": "all"},
        ),
    ),
    demo="naisei.clarify.demo:PART",
    elsewhere=_elsewhere,
    page="naisei.web.pages.assistant:PAGE",
    replay="naisei.web.replays.clarify:REPLAY",
)
