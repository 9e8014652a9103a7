"""The demonstration: a short talk, each draft with its verdict."""

from __future__ import annotations

from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path

from rich.rule import Rule
from rich.text import Text

from naisei.cli.lang import language, say
from naisei.core import InputError
from naisei.director.cli.live import Live
from naisei.director.commands import print_run
from naisei.director.config import TalkConfig
from naisei.director.execute import Session, run_talks
from naisei.runs.budget import Budget
from naisei.terminal import Console, Panel

__all__ = ["demo"]

#: The embedded model's part: so many turns, and never longer than this.
_LLM_TURNS, _LLM_MINUTES = 4, 3.0


def demo(*, llm: bool, run_dir: Path | None, seed: int) -> int:
    """A talk of drafts written for it, then one of the embedded model; returns the exit code."""
    console = Console()
    root = run_dir or Path("runs") / f"director-demo-{datetime.now():%Y%m%d-%H%M%S}"
    console.print(
        Panel(
            say(
                "ディレクター: 姉のやなと妹のあゆが話します。案は口に出す前に検査され、\n"
                "RETRY の案は理由を添えて書き直させます。跡は残りません。",
                "The director: the sisters やな and あゆ talk. Every draft is checked before it is "
                "spoken;\na RETRY is written again with the reasons, and leaves no trace.",
            ),
            title="naisei 内省",
        )
    )
    _scripted(root, seed, console)
    if llm:
        _embedded(root, seed, console)
    return 0


def _scripted(root: Path, seed: int, console: Console) -> None:
    console.print(Rule(say("台本の下書き (モデルの出力ではない)", "Scripted drafts, no model's")))
    console.print(
        Text(
            say(
                "下書きと採点は、判定の種類が見えるようにこのデモのために書いたものです。",
                "Drafts and scores were written for this demonstration, so that each kind of "
                "verdict shows.",
            ),
            style="yellow",
        )
    )
    with as_file(files("naisei.data") / "director_demo" / "writer.jsonl") as script:
        model = f"scripted:{script}"
        config = TalkConfig(
            topic="洗濯",
            scene="雨の日の居間",
            turns=8,
            models={"speaker": model, "judge": model},
            seed=seed,
        )
        result = run_talks(
            config,
            Session(concurrency=1, quiet=True),
            run_dir=root / "director",
            on_event=Live(config, console),
        )
    print_run(result, console)


def _embedded(root: Path, seed: int, console: Console) -> None:
    """The embedded model speaks and judges; says so if it cannot run."""
    console.print(Rule(say("組み込みの言語モデル", "The embedded language model")))
    models = {"speaker": "local:", "judge": "local:"}
    config = TalkConfig(
        topic="洗濯", scene="雨の日の居間", turns=_LLM_TURNS, models=models, seed=seed
    )
    try:
        from naisei.models.local.progress import Shown
        from naisei.models.local.pull import pull
        from naisei.models.local.weights import DEFAULT, catalogue

        with Shown(language=language()) as told:
            pull(catalogue()[DEFAULT], progress=told)
        result = run_talks(
            config,
            Session(concurrency=1, budget=Budget(minutes=_LLM_MINUTES), quiet=True),
            run_dir=root / "director-llm",
            on_event=Live(config, console),
        )
    except InputError as error:
        console.print(
            Text(
                say("組み込みモデルは動かせませんでした: ", "The embedded model could not be run: ")
                + str(error),
                style="red",
            )
        )
        return
    print_run(result, console)
