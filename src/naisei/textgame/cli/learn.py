"""`naisei textgame learn` and `learning-curve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.cli import options
from naisei.lang import say

__all__ = ["command", "curve"]

_LEARNING = say("学習", "Learning")
_CURVE = say("学習曲線", "Learning curve")

Games = Annotated[
    Path,
    typer.Option(
        "--games",
        metavar="DIR",
        help=say("学習用の料理ゲームのフォルダー", "Folder of cooking games to learn from."),
        rich_help_panel=_LEARNING,
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="FILE",
        help=say("学んだことを書くファイル (JSON)", "Where to write what was learned (JSON)."),
        rich_help_panel=_LEARNING,
    ),
]
Lessons = Annotated[
    int,
    typer.Option(
        "--lessons",
        min=1,
        help=say("遊ぶゲームの数", "How many games to play."),
        rich_help_panel=_LEARNING,
    ),
]
Caution = Annotated[
    bool,
    typer.Option(
        "--caution/--no-caution",
        help=say(
            "負けた手を避け、確かなことを先に済ませる",
            "Let losses count, and do what is sure before anything is tried.",
        ),
        rich_help_panel=_LEARNING,
    ),
]
Valid = Annotated[
    Path | None,
    typer.Option(
        "--valid",
        metavar="DIR",
        help=say("途中で測るための別のゲーム", "Other games, to measure on along the way."),
        rich_help_panel=_CURVE,
    ),
]
ValidLimit = Annotated[
    int,
    typer.Option(
        "--valid-limit",
        min=1,
        help=say(
            "そのうち使う数 (どの種でも同じもの)", "How many of them, the same for every seed."
        ),
        rich_help_panel=_CURVE,
    ),
]
Curve = Annotated[
    Path | None,
    typer.Option(
        "--curve",
        metavar="FILE.csv",
        help=say("測った値を書くファイル", "Where to write what was measured."),
        rich_help_panel=_CURVE,
    ),
]
Svg = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE.svg",
        help=say("曲線の図 (naisei[plots] が要る)", "A picture of it; needs naisei[plots]."),
        rich_help_panel=_CURVE,
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help=say("書いたものの続きから学ぶ", "Go on from what --out and --curve hold."),
        rich_help_panel=_LEARNING,
    ),
]
Files = Annotated[
    list[Path], typer.Argument(metavar="FILE.csv...", help=say("測った値", "What was measured."))
]


def command(
    games: Games,
    out: Out,
    lessons: Lessons = 200,
    caution: Caution = True,
    valid: Valid = None,
    valid_limit: ValidLimit = 60,
    curve: Curve = None,
    resume: Resume = False,
    seed: options.Seed = 0,
) -> None:
    # The other commands do not wait for what only this one needs.
    from naisei.textgame.learning.commands import learn

    learn(
        games,
        out,
        lessons=lessons,
        caution=caution,
        seed=seed,
        valid=valid,
        valid_limit=valid_limit,
        curve=curve,
        resume=resume,
    )


def curve(files: Files, plot: Svg = None) -> None:
    from naisei.textgame.learning.commands import show

    show(files, plot)
