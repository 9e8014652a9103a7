"""`naisei intent serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.cli import options
from naisei.intent.config import AssistConfig
from naisei.intent.serve.app import serve
from naisei.intent.serve.options import ServeOptions, read_users
from naisei.lang import say
from naisei.lengths import BODY, UPLOAD
from naisei.system.execute import RunOptions
from naisei.terminal import Console

__all__ = ["command"]

_LIMITS = say("上限", "Limits")
_KEPT = say("保存", "What is kept")

Tokens = Annotated[
    Path | None,
    typer.Option(
        "--tokens",
        metavar="FILE",
        help=say(
            "ユーザーごとのトークンの TOML。全員に 1 つなら NAISEI_SERVE_TOKEN",
            "A token for each user: TOML. One for all: NAISEI_SERVE_TOKEN.",
        ),
        rich_help_panel=options.CONNECTIONS,
    ),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help=say("Host に許す名前 (複数可)", "A name that Host may have, repeatable."),
        rich_help_panel=options.CONNECTIONS,
    ),
]
AllowOrigin = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-origin",
        metavar="URL",
        help=say(
            "呼び出しを許すページの出所 (複数可。例: https://chat.example.com)",
            "An origin whose pages may call, repeatable, such as https://chat.example.com.",
        ),
        rich_help_panel=options.CONNECTIONS,
    ),
]
State = Annotated[
    Path,
    typer.Option(
        "--state",
        metavar="DIR",
        help=say("会話と評価を保存するフォルダー", "Folder for sessions and feedback."),
        rich_help_panel=_KEPT,
    ),
]
Uploads = Annotated[
    Path | None,
    typer.Option(
        "--uploads",
        metavar="DIR",
        help=say(
            "資料のアップロードを受け付け、このフォルダーに置く (既定: 受け付けない)",
            "Take uploads of documents, into this folder; none are taken by default.",
        ),
        rich_help_panel=_KEPT,
    ),
]
TurnTimeout = Annotated[
    float,
    typer.Option(
        "--turn-timeout",
        min=0.001,
        help=say("1 回のやりとりの制限時間 (秒)", "Seconds allowed to one turn."),
        rich_help_panel=_LIMITS,
    ),
]
MaxBody = Annotated[
    int,
    typer.Option(
        "--max-body",
        min=1,
        help=say("リクエストの大きさの上限 (バイト)", "Bytes of one request at most."),
        rich_help_panel=_LIMITS,
    ),
]
MaxUpload = Annotated[
    int,
    typer.Option(
        "--max-upload",
        min=1,
        help=say("アップロードの大きさの上限 (バイト)", "Bytes of one upload at most."),
        rich_help_panel=_LIMITS,
    ),
]
InFlight = Annotated[
    int,
    typer.Option(
        "--in-flight",
        min=1,
        help=say("同時に処理するやりとりの数", "Turns at a time; more are told to wait."),
        rich_help_panel=_LIMITS,
    ),
]


def command(
    config: AssistConfig,
    running: RunOptions,
    *,
    host: options.Host = "127.0.0.1",
    port: options.Port = 8321,
    tokens: Tokens = None,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
    state: State = Path("naisei-sessions"),
    uploads: Uploads = None,
    turn_timeout: TurnTimeout = 120.0,
    in_flight: InFlight = 64,
    max_body: MaxBody = BODY,
    max_upload: MaxUpload = UPLOAD,
) -> None:
    """`naisei intent serve`."""
    users = read_users(tokens)
    serving = ServeOptions(
        host=host,
        port=port,
        tokens=users.tokens,
        profiles=users.profiles,
        hosts=tuple(allow_host or ()),
        origins=tuple(allow_origin or ()),
        max_body=max_body,
        max_upload=max_upload,
        timeout=turn_timeout,
        in_flight=in_flight,
        uploads=uploads,
        state=state,
    )
    console = Console(stderr=True)

    def ready(url: str) -> None:
        line = say(f"待ち受け中: {url} (Ctrl-C で終わり)", f"Listening on {url} (Ctrl-C ends)")
        console.print(line, highlight=False, soft_wrap=True)

    serve(serving, config, settings=running.settings(in_flight), ready=ready)
