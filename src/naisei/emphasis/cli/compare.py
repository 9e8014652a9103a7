"""`naisei emphasis compare-encoders`."""

from __future__ import annotations

from typing import Annotated

import typer

from naisei.cli.grouped import grouped
from naisei.cli.groups import Sitting
from naisei.emphasis.cli import flags
from naisei.lang import language, say

__all__ = ["command"]

_ENCODERS = say("エンコーダー", "Encoders")

Encoders = Annotated[
    list[str] | None,
    typer.Option(
        "--encoder",
        metavar="NAME[:LAYERS]",
        show_default="multilingual-e5-small:3, :6, :12",
        help=say(
            "エンコーダー (複数可): multilingual-e5-small、Hugging Face のフォルダーか名前。"
            ":LAYERS で先頭の層だけを使う",
            "An encoder, repeatable: multilingual-e5-small, or a Hugging Face folder or name; "
            ":LAYERS keeps its first layers.",
        ),
        rich_help_panel=_ENCODERS,
    ),
]
Tagger = Annotated[
    str,
    typer.Option(
        "--tagger",
        metavar="NAME[:KEY=VALUE,…]",
        help=say(
            "エンコーダーを載せるタガーと、その設定",
            "The tagger that is put on each encoder, and its settings.",
        ),
        rich_help_panel=_ENCODERS,
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
        rich_help_panel=_ENCODERS,
    ),
]
Baselines = Annotated[
    bool,
    typer.Option(
        "--baselines/--no-baselines",
        help=say(
            "CRF と、静的な単語ベクトルの BiLSTM も並べる",
            "Beside them a CRF, and a BiLSTM on static vectors.",
        ),
        rich_help_panel=_ENCODERS,
    ),
]


@grouped
def command(
    corpus: flags.Corpus,
    encoder: Encoders = None,
    tagger: Tagger = "transformer-title-crf",
    small: Small = None,
    baselines: Baselines = True,
    *,
    folds: flags.Folds,
    sitting: Sitting,
) -> None:
    # The other commands do not wait for it.
    from naisei.emphasis.evaluation.commands import evaluate
    from naisei.emphasis.evaluation.config import EvalConfig
    from naisei.emphasis.evaluation.encoders import compared
    from naisei.emphasis.evaluation.execute import Session

    base = EvalConfig(
        corpus=str(corpus),
        tagger="rule",
        parts=folds.folds,
        dev=folds.dev,
        seed=folds.seed,
        seeds=folds.seeds,
        first=folds.first,
        language=language(),
    )
    configs = compared(base, encoder or (), tagger=tagger, small=small, baselines=baselines)
    session = Session(budget=sitting.budget, quiet=sitting.quiet)
    code = evaluate(
        configs,
        session,
        run_dir=sitting.run_dir,
        json=sitting.json,
        title="naisei emphasis compare-encoders",
    )
    raise typer.Exit(code)
