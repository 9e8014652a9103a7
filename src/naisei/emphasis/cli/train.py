"""`naisei emphasis train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.cli import options
from naisei.emphasis.cli import flags
from naisei.lang import say

__all__ = ["command"]

_TRAINING = say("学習", "Training")

Tagger = Annotated[
    str,
    typer.Option(
        "--tagger",
        metavar="NAME[:KEY=VALUE,…]",
        help=say(
            "タガーと設定 (eval と同じ名前。例: transformer-title-crf:layers=6)",
            "Tagger and settings, named as in eval: transformer-title-crf:layers=6.",
        ),
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="DIR",
        help=say(
            "書き込むフォルダー (中断した学習はここから続く)",
            "Folder to write; a training that was broken off goes on from it.",
        ),
    ),
]
Dev = Annotated[
    int,
    typer.Option(
        "--dev",
        min=0,
        help=say("開発用に取り分ける文の数 (文書単位)", "Sentences set aside, in whole documents."),
        rich_help_panel=_TRAINING,
    ),
]
Small = Annotated[
    bool | None,
    typer.Option(
        "--small/--full",
        show_default=False,
        help=say(
            "CPU で数分の小さな設定か、論文の設定か (既定: GPU がなければ small)",
            "Settings for minutes on a CPU, or the thesis's; small by default without a GPU.",
        ),
        rich_help_panel=_TRAINING,
    ),
]
Device = Annotated[
    str,
    typer.Option(
        "--device", help=say("auto、cpu、cuda", "auto, cpu or cuda."), rich_help_panel=_TRAINING
    ),
]


def command(
    corpus: flags.Corpus,
    out: Out,
    tagger: Tagger = "transformer-title-crf",
    dev: Dev = 500,
    small: Small = None,
    device: Device = "auto",
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    # The other commands do not wait for it.
    from naisei.emphasis.training.commands import train_command

    code = train_command(
        corpus,
        tagger,
        out,
        dev=dev,
        seed=seed,
        device=device,
        small=small,
        quiet=quiet,
        json=json,
    )
    raise typer.Exit(code)
