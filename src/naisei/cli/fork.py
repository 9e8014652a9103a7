"""`naisei runs fork`: an episode from a step on, with another answer, prompt or model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from naisei.agent.rules import SYSTEM
from naisei.cli.once import repeated
from naisei.cli.printing import print_result
from naisei.core import InputError
from naisei.lang import say
from naisei.system.config import Options, Printed, flag
from naisei.system.execute import RunOptions

Dir = Annotated[
    Path, typer.Argument(metavar="DIR", help=say("実行ディレクトリ", "A run directory."))
]
FORK_HELP = say(
    "1 件を途中のステップから分岐させ、答え・プロンプト・モデルを変えて続ける。"
    "役割ごとのモデルは --ROLE-model MODEL で変える",
    "Fork an episode at a step and go on with another answer, prompt or model. The model of a "
    "role is changed by --ROLE-model MODEL.",
)
#: Which roles there are depends on the run, so their flags are read by the command itself.
FORK_CONTEXT: dict[str, Any] = {"allow_extra_args": True, "ignore_unknown_options": True}


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
    run_dir: Path | None = flag(
        None,
        "新しい実行の置き場所。省くと runs/ の下",
        "Directory of the new run; by default one under runs/.",
        panel="run",
    )


def fork(
    context: typer.Context, directory: Dir, plan: _Forked, options: RunOptions, printed: Printed
) -> None:
    from naisei.runs.frozen import Frozen
    from naisei.system.fork import fork_run

    if Frozen.read(directory / "config.json").system == SYSTEM:
        from naisei.agent import terminal

        if plan.prompt is not None or context.args:
            raise InputError(
                say("会話では変えられません", "cannot be changed in a talk"),
                place=" ".join(["--prompt"] * (plan.prompt is not None) + context.args[:1]),
                remedy="--answer",
            )
        terminal.fork(directory, plan.episode, plan.step, plan.run_dir, plan.answer)
        return
    result = fork_run(
        directory,
        plan.episode,
        plan.step,
        answer=plan.answer,
        prompt=plan.prompt,
        models=_role_models(context.args),
        options=options,
        run_dir=plan.run_dir,
    )
    print_result(result, as_json=printed.as_json)
    raise typer.Exit(result.exit_code)


def _role_models(given: list[str]) -> dict[str, str]:
    """role → model, of `--ROLE-model MODEL` and `--ROLE-model=MODEL`."""
    models: dict[str, str] = {}
    words = iter(given)
    for word in words:
        name, joined, value = word.partition("=")
        role = name.removeprefix("--").removesuffix("-model")
        if name != f"--{role}-model" or not role:
            raise InputError(
                say("このオプションはありません", "there is no such option"),
                place=word,
                remedy="naisei runs fork --help",
            )
        value = value if joined else next(words, "")
        if not value:
            raise InputError(
                say("モデルを指定してください", "a model is missing"),
                place=word,
                remedy=f"--{role}-model openai:gpt-5-nano",
            )
        if role in models:
            raise repeated(name)
        models[role] = value
    return models
