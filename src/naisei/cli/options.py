"""The flags that every system shares, as annotated types for typer.

    def run(data: options.Data = "…", limit: options.Limit = None) -> None: ...

Only `config` goes into a run's frozen configuration; concurrency, budgets, time-outs and
what is printed may differ from sitting to sitting.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from naisei.lang import say
from naisei.models.base import Mode

__all__ = [
    "CONNECTIONS",
    "BaseUrl",
    "Cache",
    "Concurrency",
    "Data",
    "Host",
    "Json",
    "Limit",
    "MaxMinutes",
    "MaxTokens",
    "MaxUsd",
    "Model",
    "ModelOrEnv",
    "Port",
    "Quiet",
    "RequestsPerMinute",
    "RunDir",
    "Seed",
    "Structured",
    "Timeout",
    "TokensPerMinute",
    "Trials",
    "output_tokens",
    "role_model",
    "temperature",
]

_RUN = say("実行", "Run")
_MODELS = say("モデル", "Models")
_OUTPUT = say("出力", "Output")
_BUDGET = say("予算", "Budget")


def role_model(role: str) -> Any:
    """The option `--ROLE-model`, for `judge_model: Annotated[str | None, role_model("judge")]`."""
    return typer.Option(
        f"--{role}-model",
        metavar="PROVIDER:NAME",
        help=say(f"{role} のモデル (既定: --model)", f"Model of the {role}; --model by default."),
        rich_help_panel=_MODELS,
    )


def temperature(help: str) -> Any:
    """The option `--temperature`, for `Annotated[float | None, temperature("…")]`; help: whose."""
    return typer.Option("--temperature", min=0.0, help=help, rich_help_panel=_MODELS)


def output_tokens(help: str) -> Any:
    """The option `--max-output-tokens`, for `Annotated[int | None, output_tokens("…")]`."""
    return typer.Option("--max-output-tokens", min=1, help=help, rich_help_panel=_MODELS)


Data = Annotated[
    str,
    typer.Option(
        "--data",
        metavar="PATH|NAME|arta:PATH",
        help=say(
            "データ: ファイル、同梱データの名前、arta:PATH",
            "A file, a bundled data set, or arta:PATH.",
        ),
        rich_help_panel=_RUN,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        min=1,
        help=say("使う件数 (乱数シードで選ぶ)", "Use so many instances, drawn by the seed."),
        rich_help_panel=_RUN,
    ),
]
Trials = Annotated[
    int,
    typer.Option(
        "--trials",
        min=1,
        help=say("1 件あたりの試行数", "Trials per instance."),
        rich_help_panel=_RUN,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed", help=say("乱数シード", "Seed of all that is random."), rich_help_panel=_RUN
    ),
]
Concurrency = Annotated[
    int,
    typer.Option(
        "--concurrency",
        min=1,
        help=say("同時に進めるエピソードの数", "Episodes at a time."),
        rich_help_panel=_RUN,
    ),
]
RunDir = Annotated[
    Path | None,
    typer.Option(
        "--run-dir",
        help=say(
            "実行ディレクトリ (既定: runs/ の下、"
            "設定から決まる名前。同じコマンドを再び実行すると続きから始まる)",
            "Run directory; by default one under runs/ named by the configuration, so that the "
            "same command continues the same run.",
        ),
        rich_help_panel=_RUN,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        help=say("全役割の既定のモデル", "Model of every role that has none of its own."),
        rich_help_panel=_MODELS,
    ),
]
#: The same, also from the environment.
ModelOrEnv = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        envvar="NAISEI_MODEL",
        help=say("全役割の既定のモデル", "Model of every role that has none of its own."),
        rich_help_panel=_MODELS,
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        help=say("接続先 URL (既定: OPENAI_BASE_URL)", "Endpoint; OPENAI_BASE_URL by default."),
        rich_help_panel=_MODELS,
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        min=0.001,
        help=say("リクエスト 1 回の制限時間 (秒)", "Seconds allowed to one request."),
        rich_help_panel=_MODELS,
    ),
]
Structured = Annotated[
    Mode,
    typer.Option(
        "--structured",
        help=say(
            "JSON 出力の指定方法。接続先が対応していなければ、より弱い方法に切り替える: "
            "json_schema、json_object、prompt",
            "First way of asking for JSON; weaker ones follow where the endpoint refuses it.",
        ),
        rich_help_panel=_MODELS,
    ),
]
RequestsPerMinute = Annotated[
    float | None,
    typer.Option(
        "--requests-per-minute",
        min=0.001,
        help=say("各モデルへの 1 分あたりのリクエスト数の上限", "Requests a minute to each model."),
        rich_help_panel=_MODELS,
    ),
]
TokensPerMinute = Annotated[
    float | None,
    typer.Option(
        "--tokens-per-minute",
        min=0.001,
        help=say("各モデルの 1 分あたりのトークンの上限", "Tokens a minute of each model."),
        rich_help_panel=_MODELS,
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        help=say("応答のキャッシュの置き場所", "Keep replies here, and use those kept."),
        rich_help_panel=_MODELS,
    ),
]
MaxUsd = Annotated[
    float | None,
    typer.Option(
        "--max-usd",
        help=say(
            "この実行全体の上限 (米ドル)。達したら止まり、再開できる",
            "Stop, resumably, when the whole run has cost so many US dollars.",
        ),
        rich_help_panel=_BUDGET,
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        help=say("この実行全体の上限 (トークン)", "… or so many tokens."),
        rich_help_panel=_BUDGET,
    ),
]
MaxMinutes = Annotated[
    float | None,
    typer.Option(
        "--max-minutes",
        help=say("今回の上限 (分)", "… or when this sitting has taken so many minutes."),
        rich_help_panel=_BUDGET,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help=say(
            "結果を JSON で標準出力の最後の行に出力する",
            "Print the result as JSON, the last line of stdout.",
        ),
        rich_help_panel=_OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help=say("進捗を表示しない", "No progress."), rich_help_panel=_OUTPUT
    ),
]

#: For what listens: a panel of its own.
CONNECTIONS = say("接続", "Connections")
Host = Annotated[
    str,
    typer.Option(
        "--host",
        help=say(
            "待ち受けるアドレス。ループバック以外ではトークンが要る",
            "Address to listen on; anything but loopback needs a token.",
        ),
        rich_help_panel=CONNECTIONS,
    ),
]
Port = Annotated[
    int,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        help=say("ポート (0 は空いているもの)", "Port; 0 is any free one."),
        rich_help_panel=CONNECTIONS,
    ),
]
