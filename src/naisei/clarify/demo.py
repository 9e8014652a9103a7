"""The demonstration: a few dialogues as they happen, then one table of several agents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from rich.rule import Rule
from rich.text import Text

from naisei.clarify.commands import print_study
from naisei.clarify.config import ClarifyConfig, Rules
from naisei.clarify.describe import scene_text
from naisei.clarify.execute import Study, load_data, run_config
from naisei.clarify.schemas import ActionSet, Instance
from naisei.clarify.session import Session
from naisei.clarify.study import study_tables
from naisei.cli.lang import language, say
from naisei.core import Event, InputError
from naisei.models.embedders.registry import resolve
from naisei.runs.budget import Budget
from naisei.runs.result import RunResult
from naisei.terminal import Console, Panel

__all__ = ["demo"]

#: The embedded model's part: this many instances, and never longer than this.
_LLM_INSTANCES, _LLM_MINUTES = 3, 5.0
_SHOWN = 3


def demo(*, llm: bool, run_dir: Path | None, seed: int) -> int:
    """Show R-Clarify at work on `ambigact40-open`; returns the exit code."""
    console = Console()
    root = run_dir or Path("runs") / f"demo-{datetime.now():%Y%m%d-%H%M%S}"
    base = ClarifyConfig(seed=seed, embedder=resolve("auto"))
    console.print(
        Panel(
            say(
                "R-Clarify: 曖昧な一言と状況から、40 の行動のうち望まれている 1 つを当てます。\n"
                "迷えば聞き返し（1 試行 2 回まで）、外せば次の試行に生かします（3 試行まで）。",
                "R-Clarify: from an ambiguous remark and the situation, find the one of 40 actions "
                "that is really wanted.\nIn doubt it asks (twice a trial at most); after a miss it "
                "tries again, the wiser for it (3 trials).",
            ),
            title="naisei 内省",
        )
    )
    _dialogues(base, root, console)
    results = _compared(base, root, console)
    if llm and (embedded := _embedded(base, root, console)) is not None:
        results["llm local: (quota 1)"] = embedded
    tables = study_tables({label: r.summary for label, r in results.items()}, seed=seed)
    print_study("clarify demo", Study(results, tables), root, json=False)
    return 0


def _dialogues(base: ClarifyConfig, root: Path, console: Console) -> None:
    console.print(Rule(say("bayes との対話", "Dialogues with bayes")))
    config = base.model_copy(update={"limit": _SHOWN})
    data = load_data(config)
    by_id = {i.id: i for i in data.instances}
    run_config(
        config,
        Session(concurrency=1, quiet=True),
        run_dir=root / "dialogues",
        data=data,
        on_event=_printer(by_id, data.actions, console),
    )


def _printer(
    instances: dict[str, Instance], actions: ActionSet, console: Console
) -> Callable[[Event], None]:
    """Prints what passes between user and agent, with the scene before the first of it."""
    begun: set[str] = set()

    def show(event: Event) -> None:
        instance = instances[event.where.instance]
        if instance.id not in begun:
            begun.add(instance.id)
            console.print(Panel(Text(scene_text(instance.scene)), title=instance.id))
        request, result = event.request, event.result
        if event.kind == "ask" and isinstance(request, dict):
            console.print(
                Text.assemble((say("  質問 ", "  asks "), "cyan"), str(request["question"]))
            )
            console.print(Text.assemble((say("  回答 ", "  user "), "green"), str(result)))
        elif event.kind == "chat" and isinstance(request, dict) and request["role"] == "reflector":
            console.print(Text.assemble((say("  内省 ", "  memo "), "magenta"), str(result)))
        elif event.kind == "act" and isinstance(request, dict) and isinstance(result, dict):
            action = request["action"]
            assert isinstance(action, dict)
            mark = ("○", "green") if result["reward"] else ("×", "red")
            text = actions.text(int(str(action["execute"])))
            console.print(Text.assemble((say("  実行 ", "  acts "), "yellow"), text, " ", mark))

    return show


def _compared(base: ClarifyConfig, root: Path, console: Console) -> dict[str, RunResult]:
    console.print(Rule(say("test の全件での比較", "All of the test split")))
    out = {}
    for agent in ("bayes", "embed", "random"):
        config = base.model_copy(update={"agent": agent})
        console.print(Text(f"{agent} …", style="dim"))
        out[agent] = run_config(config, Session(quiet=True), run_dir=root / agent)
    return out


def _embedded(base: ClarifyConfig, root: Path, console: Console) -> RunResult | None:
    """The embedded model on a few instances; `None`, with the reason said, if it cannot run."""
    console.print(Rule(say("組み込みの言語モデル", "The embedded language model")))
    config = base.model_copy(
        update={
            "agent": "llm",
            "memory": "tur",
            "models": {"agent": "local:", "reflector": "local:"},
            "limit": _LLM_INSTANCES,
            # One question a trial, or a small machine would not get through three instances.
            "rules": Rules(trials=3, quota=1),
        }
    )
    try:
        from naisei.models.local.notice import NOTICE_EN, NOTICE_JA
        from naisei.models.local.progress import Shown
        from naisei.models.local.pull import pull
        from naisei.models.local.weights import DEFAULT, catalogue

        console.print(Text(say(NOTICE_JA, NOTICE_EN), style="yellow"))
        with Shown(language=language()) as told:
            pull(catalogue()[DEFAULT], progress=told)
        data = load_data(config)
        by_id = {i.id: i for i in data.instances}
        return run_config(
            config,
            Session(concurrency=1, budget=Budget(minutes=_LLM_MINUTES), quiet=True),
            run_dir=root / "llm",
            data=data,
            on_event=_printer(by_id, data.actions, console),
        )
    except InputError as error:
        console.print(
            Text(
                say("組み込みモデルは動かせませんでした: ", "The embedded model could not be run: ")
                + str(error),
                style="red",
            )
        )
        return None
