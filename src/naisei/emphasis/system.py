"""Emphasis as a system: compares taggers that set words in bold by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from naisei.emphasis.config import EvalConfig
from naisei.lang import language
from naisei.system.declare import Experiment, RawOptions, Role, System, Verb
from naisei.system.registry import BUILT_IN

if TYPE_CHECKING:
    from naisei.emphasis.task import EvalTask
    from naisei.runs.charts import Chart
    from naisei.runs.task import Digest


def _calls_model(config: EvalConfig) -> bool:
    from naisei.emphasis.taggers.registry import LLM

    return config.tagger == LLM


def _settle(given: RawOptions) -> dict[str, Any]:
    """Split `crf:l2=2` into a tagger and its settings. Language models have no probabilities to
    compare without titles."""
    from naisei.emphasis.taggers.registry import LLM, parsed

    values = {"language": language(), **given.values}
    values["tagger"], values["options"] = parsed(values.get("tagger", "rule"))
    if values["tagger"] == LLM:
        values["empty_title"] = False
    return values


def _label(config: EvalConfig) -> str:
    """The label as on the command line."""
    options = ",".join(f"{key}={value}" for key, value in config.options.items())
    return f"{config.tagger}:{options}" if options else config.tagger


def _load(config: EvalConfig) -> EvalTask:
    from pathlib import Path

    from naisei.emphasis.corpus.store import load_corpus
    from naisei.emphasis.task import EvalTask

    return EvalTask(config, load_corpus(Path(config.corpus)))


def _digest(result: Any) -> Digest:
    from naisei.emphasis.results import digest

    return digest(result)


def _charts(episodes: Sequence[tuple[str, Any]]) -> Sequence[Chart]:
    from naisei.emphasis.results import calibration

    return calibration(episodes)


EVAL: Experiment[EvalConfig] = Experiment(
    verb="eval",
    task="eval",
    about=(
        "タガーをコーパスで測り、比べる (文書単位の交差検証)",
        "Measure and compare taggers on a corpus, cross-validated by document.",
    ),
    config=EvalConfig,
    load=_load,
    settle=_settle,
    headline=("span_f1",),
    digest=_digest,
    charts=_charts,
    roles=(Role("editor", needed=_calls_model),),
    label=_label,
    columns=(
        *("token_precision", "token_recall", "token_f1", "span_f1"),
        *("token_f1_article", "span_f1_article", "emphasis_rate", "calibration_error"),
    ),
)

SYSTEM = System(
    name="emphasis",
    about=BUILT_IN["emphasis"],
    replay="naisei.web.replays.emphasis:REPLAY",
    experiments=(EVAL,),
    verbs=(
        Verb(
            "tag",
            (
                "文書に強調の案を入れる (ほかは 1 バイトも変えない)",
                "Suggest emphasis in a document; not one other byte is changed.",
            ),
            "naisei.emphasis.tag:command",
        ),
        Verb(
            "corpus",
            (
                "太字を含む文書からコーパスを作る",
                "Build a corpus from folders of emphasised documents.",
            ),
            "naisei.emphasis.corpus.build:make_corpus",
        ),
        Verb(
            "train",
            (
                "タガーを学習する (中断しても続きから)",
                "Train a tagger; an interrupted training resumes.",
            ),
            "naisei.emphasis.train:command",
        ),
    ),
    demo="naisei.emphasis.demo:PART",
    page="naisei.web.pages.emphasis:PAGE",
)
