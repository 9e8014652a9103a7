"""R-Clarify's part of `naisei demo`: one dialogue, and what asking is worth."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from naisei.clarify.config import ClarifyConfig, Rules
from naisei.clarify.data import Dataset
from naisei.clarify.describe import scene_text
from naisei.clarify.schemas import ActionSet, EpisodeResult, Scene
from naisei.clarify.study import study_tables
from naisei.clarify.system import RUN
from naisei.clarify.task import with_speakers
from naisei.cli.demo import Part, Stage
from naisei.cli.printing import print_tables
from naisei.core import Event
from naisei.lang import language, say
from naisei.models.embedders import resolve
from naisei.runs.report import write_study
from naisei.runs.result import RunResult
from naisei.runs.task import Table
from naisei.system.execute import RunOptions, Study
from naisei.terminal import Console

_INSTANCES = 100
#: With a model: so many instances, and never longer than this.
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
    data, _ = with_speakers(base)
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
    _table(results, stage.console)
    tables = study_tables(Study(configs, results, stage.root))
    links = {label: f"{r.run_dir.name}/report.html" for label, r in results.items()}
    page = write_study(stage.root, "naisei clarify demo", tables, runs=links)
    stage.report("R-Clarify", page)


def _dialogue(data: Dataset, asking: RunResult, silent: RunResult, stage: Stage) -> None:
    """The first in which a question helped, and what comes of not asking there."""
    other = {row.where.instance: row.result for row in silent.outcome.rows}
    for row in asking.outcome.rows:
        result = EpisodeResult.model_validate(row.result)
        guess = EpisodeResult.model_validate(other[row.where.instance]).trials[0]
        trial = result.trials[0]
        if trial.turns and trial.success and not guess.success:
            break
    instance = next(i for i in data.instances if i.id == result.instance)
    _scene(instance.scene, stage)
    for turn in trial.turns:
        stage.print(_asks(turn.question), indent=6)
        stage.print(_answers(turn.answer), indent=6)
    stage.print(_acts(data.actions, trial.acts[0], trial.success), indent=6)
    without = data.actions.text(guess.acts[0])
    stage.print(
        say(f"      （聞かずに動くなら：{without} ×）", f"      (without asking: {without} ×)"),
        "dim",
        indent=6,
    )


def _scene(scene: Scene, stage: Stage) -> None:
    """The remark and where the user is; what lies about is in the report."""
    said, *facts = scene_text(scene.model_copy(update={"surroundings": {}})).splitlines()
    where = [line.removeprefix("- ") for line in facts if line.startswith("- ")]
    stage.print(Text(said, style="bold"), indent=2)
    stage.print(say("　", "; ").join(where), "dim")


def _asks(question: str) -> Text:
    return Text.assemble((say("質問  ", "asks  "), "cyan"), question)


def _answers(answer: str) -> Text:
    return Text.assemble((say("回答  ", "user  "), "green"), answer)


def _acts(actions: ActionSet, action: int, success: bool) -> Text:
    mark = ("○", "green") if success else ("×", "red")
    return Text.assemble((say("実行  ", "acts  "), "yellow"), actions.text(action), " ", mark)


def _table(results: dict[str, RunResult], console: Console) -> None:
    columns = say(
        "エージェント|正解率 [95 % 区間]|質問の数（1 件あたり）",
        "agent|right [95 %]|questions an instance",
    )
    rows = []
    for label, result in results.items():
        metric = {m.name: m for m in result.summary.metrics}
        right, asked = metric["pass@1"], metric["questions"]
        share = f"{100 * right.value:.0f} % [{100 * right.low:.0f}, {100 * right.high:.0f}]"
        rows.append((label, share, f"{asked.value:.2f}"))
    title = say(f"test から選んだ {_INSTANCES} 件", f"{_INSTANCES} instances of the test split")
    console.print()
    print_tables([Table(title, tuple(columns.split("|")), tuple(rows))], console)


def _with_model(base: ClarifyConfig, stage: Stage, model: str) -> None:
    config = base.model_copy(
        update={
            "agent": "llm",
            "memory": "tur",
            "models": {"agent": model, "reflector": model},
            "limit": _LLM_INSTANCES,
            # One question a trial, or a small machine would not get through.
            "rules": Rules(trials=3, quota=1),
        }
    )
    data, _ = with_speakers(config)
    result = RUN.run(
        config,
        RunOptions(concurrency=1, max_minutes=_LLM_MINUTES, quiet=True),
        run_dir=stage.root / "clarify",
        on_event=_live(data, stage),
    )
    stage.finished(result)
    stage.report("R-Clarify", result.report)


def _live(data: Dataset, stage: Stage) -> Callable[[Event], None]:
    """Prints what passes between user and agent, with the scene before the first of it."""
    scenes = {i.id: i.scene for i in data.instances}

    def show(event: Event) -> None:
        scene = scenes.pop(event.where.instance, None)
        if scene is not None:
            _scene(scene, stage)
        request, result = event.request, event.result
        if not isinstance(request, dict):
            return
        if event.kind == "ask":
            stage.print(_asks(str(request["question"])), indent=6)
            stage.print(_answers(str(result)), indent=6)
        elif event.kind == "chat" and request["role"] == "reflector" and event.failure is None:
            memo = (say("内省  ", "memo  "), "magenta")
            stage.print(Text.assemble(memo, str(result)), indent=6)
        elif event.kind == "act" and isinstance(result, dict):
            action = request["action"]
            assert isinstance(action, dict)
            acted = _acts(data.actions, int(str(action["execute"])), bool(result["reward"]))
            stage.print(acted, indent=6)

    return show


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
