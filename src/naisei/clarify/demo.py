"""R-Clarify's part of `naisei demo`: one dialogue, and the value of asking."""

from __future__ import annotations

from naisei.clarify.config import ClarifyConfig, Rules
from naisei.clarify.data import Dataset
from naisei.clarify.lines import episode_lines
from naisei.clarify.schemas import EpisodeResult
from naisei.clarify.system import RUN
from naisei.clarify.task import configured
from naisei.cli.demo import Part, Stage
from naisei.cli.printing import print_tables
from naisei.lang import language, say
from naisei.models.embedders import resolve
from naisei.runs.lines import print_lines
from naisei.runs.report import write_study
from naisei.runs.result import RunResult
from naisei.runs.task import Table
from naisei.system.execute import RunOptions
from naisei.system.studies import Study, tables_of

_INSTANCES = 100
#: Number of instances and time limit with a model.
_LLM_INSTANCES, _LLM_MINUTES = 2, 5.0


def _show(stage: Stage) -> None:
    base = ClarifyConfig(
        data="ambigact40-open" if language() == "ja" else "ambigact40-open-en",
        rules=Rules(trials=1),
        seed=stage.seed,
        embedder=resolve("auto"),
    )
    if stage.model is None:
        _compared(base.model_copy(update={"limit": _INSTANCES}), stage)
    else:
        _with_model(base, stage, stage.model)


def _compared(base: ClarifyConfig, stage: Stage) -> None:
    data = configured(base)
    rules = base.rules.model_copy(update={"clarify": False})
    configs = {
        "bayes": base,
        say("bayes（質問なし）", "bayes, never asking"): base.model_copy(update={"rules": rules}),
        "random": base.model_copy(update={"agent": "random"}),
    }
    folders = ("clarify-bayes", "clarify-bayes-no-asking", "clarify-random")
    with stage.busy("3 つのエージェントを動かしています…", "Three agents at work …"):
        results = {
            label: RUN.run(config, RunOptions(quiet=True), run_dir=stage.root / folder)
            for folder, (label, config) in zip(folders, configs.items(), strict=True)
        }
    asking, silent, _ = results.values()
    _dialogue(data, asking, silent, stage)
    study = Study(configs, results, stage.root)
    title = say(f"test から選んだ {_INSTANCES} 件", f"{_INSTANCES} instances of the test split")
    columns = (say("設定", "configuration"), say("正解率", "right"), say("質問の数", "questions"))
    rows = [(label, m["pass@1"].value, m["questions"].value) for label, m in study.metrics.items()]
    stage.console.print()
    print_tables([Table(title, columns, tuple(rows))], stage.console)
    tables = tables_of(study, RUN)
    links = {label: f"{r.run_dir.name}/report.html" for label, r in results.items()}
    page = write_study(stage.root, "naisei clarify demo", tables, runs=links)
    stage.report("R-Clarify", page)


def _dialogue(data: Dataset, asking: RunResult, silent: RunResult, stage: Stage) -> None:
    """The first episode in which a question helped, and its result without asking."""
    other = {row.where.instance: row.result for row in silent.outcome.rows}
    for row in asking.outcome.rows:
        result = EpisodeResult.model_validate(row.result)
        guess = EpisodeResult.model_validate(other[row.where.instance]).trials[0]
        trial = result.trials[0]
        if trial.turns and trial.success and not guess.success:
            break
    _print(data, result, stage)
    without = data.actions.text(guess.acts[0])
    line = say(f"（聞かずに動くなら：{without} ×）", f"(without asking: {without} ×)")
    stage.print(line, "dim", indent=2)


def _print(data: Dataset, result: EpisodeResult, stage: Stage) -> None:
    """Print an episode; the scene and the thoughts are in the report."""
    found = next(i for i in data.instances if i.id == result.instance)
    scene = found.scene.model_copy(update={"surroundings": {}})
    instance = found.model_copy(update={"scene": scene})
    # Without thoughts, to fit on one screen.
    lines = [x for x in episode_lines(instance, result, data.actions) if x.tone != "dim"]
    print_lines(lines, stage.console)


def _with_model(base: ClarifyConfig, stage: Stage, model: str) -> None:
    config = base.model_copy(
        update={
            "agent": "llm",
            "memory": "tur",
            "models": {"agent": model, "reflector": model},
            "limit": _LLM_INSTANCES,
            # One question per trial, for small machines.
            "rules": Rules(trials=3, quota=1),
        }
    )
    data = configured(config)
    options = RunOptions(concurrency=1, max_minutes=_LLM_MINUTES, quiet=True)
    with stage.busy("エージェントが動いています…", "The agent is at work …"):
        result = RUN.run(config, options, run_dir=stage.root / "clarify")
    stage.finished(result)
    for row in result.outcome.rows:
        if row.scored:
            _print(data, EpisodeResult.model_validate(row.result), stage)
    stage.report("R-Clarify", result.report)


PART = Part(
    title=("R-Clarify：動く前に聞く", "R-Clarify: ask before acting"),
    about=(
        "曖昧な一言と状況から、望まれている行動を 40 の中から当てます。\n"
        "迷えば、動く前に聞き返します（2 回まで）。",
        "From an ambiguous remark and its scene: which of 40 actions is really wanted?\n"
        "In doubt it asks before it acts, twice at most.",
    ),
    show=_show,
    hint=("naisei clarify chat", "naisei clarify chat"),
)
