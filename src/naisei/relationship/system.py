"""Relationship reflection as a system: conversations, and ratings of existing dialogues."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei.lang import say
from naisei.relationship.config import RatingConfig, Reflecting, RelationshipConfig
from naisei.system.declare import (
    Ablation,
    Experiment,
    LiveLines,
    RawOptions,
    Role,
    Row,
    System,
    Verb,
)
from naisei.system.registry import BUILT_IN

if TYPE_CHECKING:
    from naisei.core import Event
    from naisei.relationship.rating_task import RatingTask
    from naisei.relationship.task import ConversationTask
    from naisei.runs.charts import Chart
    from naisei.runs.task import Digest, Table
    from naisei.system.studies import Study
    from naisei.terminal import Console


def _settle(raw: RawOptions) -> dict[str, Any]:
    """Resolve the reflection flags into `rules`, persona files and the embedder."""
    from naisei.models.embedders import open_embedder

    values = _settle_embedder(raw)
    if values["embedder"] != "none":
        open_embedder(values["embedder"])  # raises early for an unknown name
    flags = Reflecting(**{k: values.pop(k) for k in Reflecting.model_fields if k in values})
    enabled = flags.at_start or flags.no_inject or "every_turn" in flags.model_fields_set
    mode = "turn" if flags.every_turn else "session" if enabled else "off"
    rules = {"reflection": mode, "inject": not flags.no_inject}
    values["rules"] = {**values.get("rules", {}), **rules}
    if "personas" in values:
        values["personas"] = tuple(map(_absolute_path, values["personas"]))
    return values


def _settle_embedder(raw: RawOptions) -> dict[str, Any]:
    """Resolve `auto`, which differs between machines."""
    from naisei.models.embedders import resolve

    return {**raw.values, "embedder": resolve(raw.values.get("embedder", "auto"))}


def _absolute_path(name: str) -> str:
    """Absolute path of a persona file, so that resume works from any folder; ids are unchanged."""
    path = Path(name)
    return str(path.resolve()) if name.endswith(".toml") and path.is_file() else name


def _load(config: RelationshipConfig) -> ConversationTask:
    from naisei.relationship.task import ConversationTask

    return ConversationTask(config)


def _load_rating(config: RatingConfig) -> RatingTask:
    from naisei.relationship.rating_task import RatingTask

    return RatingTask(config)


def _live(task: ConversationTask, console: Console, earlier: Sequence[Event]) -> LiveLines:
    from naisei.relationship.lines import event_lines

    pair = next(iter(task.pairs.values()))
    return lambda event: event_lines(event, pair.names, pair.language)


def _row(mode: str, *, inject: bool) -> Row[RelationshipConfig]:
    """A row of the ablation. mode: reflection mode, or "" for the configured one."""

    def change(config: RelationshipConfig) -> RelationshipConfig:
        requested = "turn" if config.rules.reflection == "off" else config.rules.reflection
        rules = config.rules.model_copy(update={"reflection": mode or requested, "inject": inject})
        return config.model_copy(update={"rules": rules})

    return Row(change)


def _hints(config: RelationshipConfig, given: Collection[str]) -> Sequence[str]:
    if config.rules.reflection != "off":
        return ()
    return (
        say(
            "関係値内省は切ってあります (--relationship-reflection、発話のたびなら "
            "--relationship-reflection-every-turn)。",
            "Relationship reflection is off: --relationship-reflection, or "
            "--relationship-reflection-every-turn for each utterance.",
        ),
    )


def _reflects(config: RelationshipConfig) -> bool:
    return config.rules.reflection != "off"


_WITHOUT = (
    "モデルなしで試すには naisei relationship demo",
    "without a model: naisei relationship demo",
)


def _reader(
    name: str, needed: Callable[[RelationshipConfig], bool], like: str = "reflector"
) -> Role[RelationshipConfig]:
    """A role whose malformed replies become failed readings after one repair."""
    return Role(name, needed=needed, like=like, sampled=False, resends=0, without=_WITHOUT)


def _digest(result: Any) -> Digest:
    from naisei.relationship.lines import digest

    return digest(result)


def _tables(study: Study) -> Sequence[Table]:
    from naisei.relationship.metrics import effect_tables

    return effect_tables(study)


def _charts(episodes: Sequence[tuple[str, Any]]) -> Sequence[Chart]:
    from naisei.relationship.curves import charts

    return charts(episodes)


RUN: Experiment[RelationshipConfig] = Experiment(
    about=(
        "二人の人物に日付のある会話をさせ、互いの関係値を読む",
        "Let two personas talk over dated sessions and estimate their relationship.",
    ),
    config=RelationshipConfig,
    load=_load,
    offered=("personas", "sessions", "turns"),
    headline=("injected_rate",),
    digest=_digest,
    charts=_charts,
    roles=(
        Role("speaker", without=_WITHOUT),
        _reader("questioner", _reflects),
        _reader("reflector", _reflects, like=""),
        _reader("summariser", lambda c: c.rules.summary and c.rules.sessions > 1),
        _reader("rater", lambda c: _reflects(c) and c.rules.importance == "model"),
    ),
    inputs=Reflecting,
    settle=_settle,
    ablation=Ablation(
        rows={
            "none": _row("off", inject=False),
            "no-inject": _row("", inject=False),
            "inject": _row("", inject=True),
        },
        about=(
            "内省なし・注入なし・注入ありの三通りを一度に比べる",
            "Compare no reflection, reflection without injection, and with injection.",
        ),
        defaults={"relationship_reflection_every_turn": True},
    ),
    tables=_tables,
    live=_live,
    hints=_hints,
)

_RATER = ("--rater speech で発話から推定する", "estimate from speech: --rater speech")

RATING: Experiment[RatingConfig] = Experiment(
    verb="",
    task="rating",
    about=(
        "手持ちの会話の関係値を 1 発話ずつ求める",
        "Rate an existing dialogue turn by turn.",
    ),
    config=RatingConfig,
    load=_load_rating,
    roles=(
        Role("questioner", like="reflector", resends=0, without=_RATER),
        Role("reflector", resends=0, without=_RATER),
    ),
    settle=_settle_embedder,
)

_HOME = "naisei.relationship"

SYSTEM = System(
    name="relationship",
    about=BUILT_IN["relationship"],
    experiments=(RUN, RATING),
    verbs=(
        Verb("rate", RATING.about, f"{_HOME}.commands:rate_command", shares=RATING, flags=None),
        Verb(
            "plot",
            ("関係値の推移を描く", "Plot the readings."),
            f"{_HOME}.plot:plot_command",
        ),
        Verb(
            "compare",
            ("注入の効果などを対応ありで比べる", "Compare two runs, paired."),
            f"{_HOME}.commands:compare_command",
        ),
        Verb(
            "report",
            (
                "値から根拠、根拠から発話へたどれる報告を書く",
                "Write an HTML report with the evidence of each number.",
            ),
            f"{_HOME}.report:report_command",
        ),
        Verb(
            "export",
            (
                "実行記録から agent_a.json などを書き出す",
                "Write agent_a.json and the other files from a run's log.",
            ),
            f"{_HOME}.exports:export_command",
        ),
        Verb(
            "personas",
            ("同梱の人物の組", "List the bundled pairs of personas."),
            f"{_HOME}.pairs:personas_command",
        ),
    ),
    demo="naisei.relationship.demo:PART",
    page="naisei.web.pages.relationship:PAGE",
    replay="naisei.web.replays.relationship:REPLAY",
)
