"""Flags of the emphasis commands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from naisei.cli import options
from naisei.lang import say

__all__ = ["Corpus", "Folds"]

_TASK = say("課題", "Task")

Corpus = Annotated[
    Path,
    typer.Argument(
        metavar="CORPUS",
        help=say(
            "強調つき文書のコーパス (JSON Lines)", "A corpus of emphasised documents (JSON lines)."
        ),
    ),
]
Parts = Annotated[
    int,
    typer.Option(
        "--folds",
        min=2,
        help=say("交差検証の分割数 (文書単位)", "Parts of the cross-validation, by document."),
        rich_help_panel=_TASK,
    ),
]
Seeds = Annotated[
    int,
    typer.Option(
        "--seeds",
        min=1,
        help=say(
            "乱数を使うタガーの学習の回数。値はその平均",
            "Trainings of a tagger that has random numbers; figures are their mean.",
        ),
        rich_help_panel=_TASK,
    ),
]
Dev = Annotated[
    int,
    typer.Option(
        "--dev",
        min=0,
        help=say(
            "学習部分の末尾から開発用に取る文の数",
            "Sentences set aside from the end of each training part.",
        ),
        rich_help_panel=_TASK,
    ),
]
First = Annotated[
    int | None,
    typer.Option(
        "--first",
        min=1,
        help=say(
            "コーパスの最初の N 文書だけを採点する (学習には全文書を使う)",
            "Score only the first N documents of the corpus; all are trained on.",
        ),
        rich_help_panel=_TASK,
    ),
]


@dataclass(frozen=True, slots=True)
class Folds:
    """How documents are split."""

    folds: Parts = 5
    seeds: Seeds = 3
    dev: Dev = 500
    first: First = None
    seed: options.Seed = 0
