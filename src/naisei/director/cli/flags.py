"""The flags of the director's commands, as annotated types for typer."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from naisei.cli import options
from naisei.cli.lang import say

__all__ = [
    "Cast",
    "Judge",
    "JudgeModel",
    "Margin",
    "Model",
    "OutputTokens",
    "Policy",
    "Repeats",
    "Retries",
    "Scene",
    "SpeakerModel",
    "Talk",
    "Talks",
    "Temperature",
    "Topic",
    "Turns",
]

_TASK = say("課題", "Task")
_MODELS = say("モデル", "Models")

Topic = Annotated[
    str,
    typer.Option(
        "--topic",
        help=say(
            "話題 (なければ最初の発言が決める)",
            "What they talk about; else the first line sets it.",
        ),
        rich_help_panel=_TASK,
    ),
]
Scene = Annotated[
    str, typer.Option("--scene", help=say("場面", "Where they are."), rich_help_panel=_TASK)
]
Turns = Annotated[
    int,
    typer.Option(min=1, help=say("発言の回数", "Turns in a talk."), rich_help_panel=_TASK),
]
Talks = Annotated[
    int,
    typer.Option(min=1, help=say("会話の本数", "Talks in all."), rich_help_panel=_TASK),
]
Cast = Annotated[
    list[str] | None,
    typer.Option(
        "--character",
        metavar="ID|FILE",
        help=say(
            "話す人物、順に (複数可。既定: yana ayu)。自作は TOML ファイル",
            "Who speaks, in order, repeatable (yana, ayu by default); a TOML file is your own.",
        ),
        rich_help_panel=_TASK,
    ),
]
Retries = Annotated[
    int,
    typer.Option(
        min=0,
        help=say("不合格のときに書き直させる回数", "New drafts after a rejected one."),
        rich_help_panel=_TASK,
    ),
]
Policy = Annotated[
    Literal["best", "refuse", "person"],
    typer.Option(
        help=say(
            "書き直しの上限に達したとき: 最良の案を WARN で出す、何も言わない、人が書く",
            "Out of retries: the best draft goes out as WARN, nothing is said, or a person "
            "writes the line.",
        ),
        rich_help_panel=_TASK,
    ),
]
Judge = Annotated[
    bool,
    typer.Option(
        "--judge/--no-judge",
        help=say("採点役のモデルにも採点させるか", "Whether a model judges, after the hard rules."),
        rich_help_panel=_TASK,
    ),
]
Repeats = Annotated[
    int,
    typer.Option(
        min=1,
        max=25,
        help=say(
            "一つの案を判定する回数 (平均をとる)", "Judgements of a draft; their mean counts."
        ),
        rich_help_panel=_TASK,
    ),
]
Margin = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=0.5,
        help=say(
            "境目のヒステリシス: 前に上だった人物は境目からこの幅まで上とみなす",
            "Hysteresis: who was above a cut stays above it within this margin.",
        ),
        rich_help_panel=_TASK,
    ),
]
Talk = Annotated[
    Literal["ja", "en"],
    typer.Option(
        "--talk", help=say("指示文の言語", "Language of the prompts."), rich_help_panel=_TASK
    ),
]
Model = options.ModelOrEnv
SpeakerModel = Annotated[str | None, options.role_model("speaker")]
JudgeModel = Annotated[str | None, options.role_model("judge")]
Temperature = Annotated[
    float | None,
    options.temperature(say("話し手のサンプリング温度", "Sampling temperature of the speaker.")),
]
OutputTokens = Annotated[
    int | None, options.output_tokens(say("1 回の応答の上限", "Bound on one reply of the speaker."))
]
