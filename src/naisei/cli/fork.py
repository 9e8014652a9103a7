"""`naisei runs fork`: an episode from a step on, with another answer, prompt or model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.cli.printing import print_result
from naisei.core import InputError
from naisei.lang import say
from naisei.system.config import Options, Printed, flag
from naisei.system.execute import RunOptions

Dir = Annotated[
    Path, typer.Argument(metavar="DIR", help=say("実行ディレクトリ", "A run directory."))
]
FORK_HELP = say(
    "1 件を途中のステップから分岐させ、答え・プロンプト・モデルを変えて続ける",
    "Fork an episode at a step and go on with another answer, prompt or model.",
)


class _Forked(Options):
    episode: str = flag("", "件 (INSTANCE#TRIAL)", "The episode, INSTANCE#TRIAL.", metavar="E")
    step: str = flag(
        ...,
        "分岐するステップ。ここから先を新しく進める",
        "The step to fork at: from it on, all is done anew.",
        metavar="N",
    )
    answer: str | None = flag(
        None,
        "そのステップの答え、またはモデルの返答 (形式のあるものは JSON)",
        "The answer at the step, or the model's reply (JSON where that has a form).",
        metavar="TEXT",
    )
    prompt: str | None = flag(
        None,
        "そのステップでモデルに渡す最後のメッセージ",
        "The last message that the model gets at the step.",
        metavar="TEXT",
    )
    models: dict[str, str] = flag(
        {},
        "役割のモデルを変える: ROLE=PROVIDER:NAME (複数可)",
        "The model of a role: ROLE=PROVIDER:NAME, repeatable.",
        name="--model",
        panel="models",
    )
    run_dir: Path | None = flag(
        None,
        "新しい実行の置き場所。省くと runs/ の下",
        "Directory of the new run; by default one under runs/.",
        panel="run",
    )


def fork(directory: Dir, plan: _Forked, options: RunOptions, printed: Printed) -> None:
    from naisei.runs.frozen import Frozen
    from naisei.system.fork import fork_run

    if not Frozen.read(directory / "config.json").identity:
        from naisei.runs.terminal import fork_conversation

        if plan.prompt is not None or plan.models:
            raise InputError(
                say("会話では変えられません", "cannot be changed in a conversation"),
                place="--model" if plan.models else "--prompt",
                remedy="--answer",
            )
        new = fork_conversation(directory, plan.episode, plan.step, plan.run_dir, plan.answer)
        print(say(f"続きは --run-dir {new} で", f"go on with --run-dir {new}"))
        return
    result = fork_run(
        directory,
        plan.episode,
        plan.step,
        answer=plan.answer,
        prompt=plan.prompt,
        models=plan.models,
        options=options,
        run_dir=plan.run_dir,
    )
    print_result(result, as_json=printed.as_json)
    raise typer.Exit(result.exit_code)
