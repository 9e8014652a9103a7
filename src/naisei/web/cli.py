"""`naisei serve`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint
from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import UPLOAD
from naisei.text_files import read_text

__all__ = ["app"]

_RUNS = Path("runs")
_SHOWN = say("見せるもの", "What is shown")

TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help=say(
            "アクセス用トークンを書いたファイル。環境変数 NAISEI_WEB_TOKEN でもよい",
            "A file with the token that lets people in; NAISEI_WEB_TOKEN does too.",
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
Runs = Annotated[
    Path,
    typer.Option(
        "--runs",
        metavar="DIR",
        help=say("表示する実行のフォルダー", "Folder of the runs to show."),
        rich_help_panel=_SHOWN,
    ),
]
State = Annotated[
    Path,
    typer.Option(
        "--state",
        metavar="DIR",
        help=say("会話を保存するフォルダー", "Folder where conversations are kept."),
        rich_help_panel=_SHOWN,
    ),
]
Documents = Annotated[
    Path | None,
    typer.Option(
        "--documents",
        metavar="DIR",
        help=say(
            "資料のフォルダー。索引は開くたびに新しくする",
            "A folder of documents; its index is brought up to date when a talk begins.",
        ),
        rich_help_panel=_SHOWN,
    ),
]
IndexDir = Annotated[
    Path | None,
    typer.Option(
        "--index",
        metavar="DIR",
        help=say(
            "資料の索引 (naisei intent index で作る)",
            "Index of documents, made by `naisei intent index`.",
        ),
        rich_help_panel=_SHOWN,
    ),
]
Uploads = Annotated[
    bool,
    typer.Option(
        "--uploads/--no-uploads",
        help=say("資料のアップロードを受け付ける", "Take uploads of documents."),
        rich_help_panel=_SHOWN,
    ),
]
MaxUpload = Annotated[
    int,
    typer.Option(
        "--max-upload",
        min=1,
        help=say("アップロードの大きさの上限 (バイト)", "Bytes of one upload at most."),
        rich_help_panel=_SHOWN,
    ),
]

app = typer.Typer()


@app.command(help=say("ブラウザで使う", "Serve the web app."))
@grouped
def serve(
    host: options.Host = "127.0.0.1",
    port: options.Port = 8320,
    token_file: TokenFile = None,
    allow_host: AllowHost = None,
    runs: Runs = _RUNS,
    state: State = Path("naisei-web"),
    index: IndexDir = None,
    documents: Documents = None,
    uploads: Uploads = True,
    max_upload: MaxUpload = UPLOAD,
    model: options.Model = None,
    *,
    endpoint: Endpoint,
) -> None:
    # `naisei --help` does not wait for it.
    from naisei.models.registry import open_model
    from naisei.retrieval.store import Store
    from naisei.terminal import Console
    from naisei.web.app import serve as listen
    from naisei.web.options import WebOptions

    settings = endpoint.settings(concurrency=64)
    # Now, not when somebody opens a page who cannot mend it.
    if model is not None:
        open_model(model, settings)
    if index is not None:
        Store(index).close()
    given = WebOptions(
        host=host,
        port=port,
        token=_token(token_file),
        hosts=tuple(allow_host or ()),
        runs=_runs(runs),
        state=state,
        index=index,
        documents=documents,
        uploads=uploads,
        max_upload=max_upload,
        model=model,
        settings=settings,
    )
    console = Console(stderr=True)

    def ready(url: str) -> None:
        line = say(
            f"ブラウザで開いてください: {url} (Ctrl-C で終わり)", f"Open {url} (Ctrl-C ends)"
        )
        console.print(line, highlight=False, soft_wrap=True)

    listen(given, ready=ready)


def _token(path: Path | None) -> str:
    if path is None:
        return os.environ.get("NAISEI_WEB_TOKEN", "").strip()
    token = read_text(path).strip()
    if not token:
        raise InputError(
            say("ファイルが空です", "the file is empty"),
            place=f"--token-file {path}",
            remedy=say("トークンを書いてください", "write the token into it"),
        )
    return token


def _runs(folder: Path) -> Path:
    """The default folder may not be there yet: the first run makes it."""
    if not folder.is_dir() and (folder.exists() or folder != _RUNS):
        raise InputError(
            say("そのようなフォルダーはありません", "no such folder"),
            place=f"--runs {folder}",
            remedy=say("実行記録のあるフォルダーを指定してください", "name the folder of the runs"),
        )
    return folder
