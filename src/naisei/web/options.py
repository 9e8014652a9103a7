"""Options of `naisei serve`: address, access, and content of the web app."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Self

import typer
from pydantic import Field, model_validator

from naisei.cli.parameters import check_served, with_options
from naisei.core import InputError
from naisei.files import make_folder
from naisei.lang import say
from naisei.models.base import ModelSettings
from naisei.system.config import flag, port_flag
from naisei.system.execute import Endpoint
from naisei.system.listening import Listening
from naisei.text_files import read_text

#: Environment variable with the token. Others on the machine can see option values.
TOKEN = "NAISEI_WEB_TOKEN"
_SHOWN = ("見せるもの", "What is shown")


class WebOptions(Listening):
    """Options of `naisei serve`.

    token: the access token, by default from `token_file`, else from `NAISEI_WEB_TOKEN`; needed
    unless `host` is loopback. runs: the folder of runs to show. state: folder of conversations.
    index: of documents, for the document page. documents: a folder of them, whose index is made,
    and kept up to date, under `state`; not both. model: plays every role that a page does not name
    another for; `None` leaves pages to what needs no model. offer: further models, of which a
    visitor chooses one for a conversation. endpoint: how models are reached. open_conversations:
    conversations held in memory at a time; idle: seconds after which one that nobody looks at is
    put away (it goes on when it is opened again).

    Raises:
        InputError: a host that others can reach without a token; a token too short to keep
            anybody out; a file or folder that is not there.
    """

    port: int = port_flag(8320)
    token_file: Path | None = flag(
        None,
        "アクセス用トークンを書いたファイル。環境変数 NAISEI_WEB_TOKEN でもよい",
        "A file with the token that lets people in; NAISEI_WEB_TOKEN does too.",
        panel="connections",
        metavar="FILE",
    )
    token: str = Field(default="", repr=False)
    runs: Path = flag(
        Path("runs"),
        "表示する実行のフォルダー",
        "Folder of the runs to show.",
        panel=_SHOWN,
        metavar="DIR",
    )
    state: Path = flag(
        Path("naisei-web"),
        "会話を保存するフォルダー",
        "Folder where conversations are kept.",
        panel=_SHOWN,
        metavar="DIR",
    )
    index: Path | None = flag(
        None,
        "資料の索引 (naisei intent index で作る)",
        "Index of documents, made by `naisei intent index`.",
        panel=_SHOWN,
        metavar="DIR",
    )
    documents: Path | None = flag(
        None,
        "資料のフォルダー。索引は開くたびに新しくする",
        "A folder of documents; its index is brought up to date when a talk begins.",
        panel=_SHOWN,
        metavar="DIR",
    )
    uploads: bool = flag(
        True, "資料のアップロードを受け付ける", "Take uploads of documents.", panel=_SHOWN
    )
    start_runs: bool | None = flag(
        None,
        "ページから実行の開始、再開、分岐をしてよいか "
        "(既定: ループバックで、トークンも --allow-host もないとき)",
        "Whether runs may be started, resumed and forked on the pages; by default on loopback, "
        "where there is neither a token nor --allow-host.",
        name="--start-runs/--no-start-runs",
        panel=_SHOWN,
    )
    model: str | None = flag(
        None,
        "全役割の既定のモデル",
        "Model of every role that has none of its own.",
        panel="models",
        metavar="PROVIDER:NAME",
    )
    offer: tuple[str, ...] = flag(
        (),
        "ページで選べる、--model のほかのモデル (複数可)",
        "A model that visitors may choose instead; repeatable.",
        panel="models",
        metavar="PROVIDER:NAME",
    )
    endpoint: Endpoint = Endpoint()
    open_conversations: int = Field(default=500, ge=1)
    idle: float = 900.0

    @model_validator(mode="before")
    @classmethod
    def _with_token(cls, given: Any) -> Any:
        if isinstance(given, dict) and "token" not in given:
            return {**given, "token": _token(given.get("token_file"))}
        return given

    @model_validator(mode="after")
    def _sound(self) -> Self:
        self.guard([self.token] if self.token else [], variable=TOKEN, option="--token-file")
        if self.runs.resolve().is_relative_to(self.state.resolve()):
            raise InputError(
                say(
                    "会話を保存するフォルダーの中は、実行記録として見せられません",
                    "what is inside the folder of conversations is not shown as runs",
                ),
                place=f"--runs {self.runs}",
                remedy=say(
                    "--state の外のフォルダーを指定してください", "name a folder outside of --state"
                ),
            )
        if self.offer and self.model is None:
            raise InputError(
                say("既定のモデルがありません", "there is no default among them"),
                place="--offer",
                remedy=say("--model で一つを既定にしてください", "name one of them by --model"),
            )
        if self.index is not None and self.documents is not None:
            raise InputError(
                say("索引か資料のフォルダーの、どちらか一つです", "either an index or a folder"),
                place="--index, --documents",
                remedy=say("片方を外してください", "leave one out"),
            )
        if self.documents is not None and not self.documents.is_dir():
            raise InputError(
                say("そのようなフォルダーはありません", "no such folder"),
                place=f"--documents {self.documents}",
                remedy=say(
                    "資料のあるフォルダーを指定してください", "name the folder of documents"
                ),
            )
        return self

    @property
    def settings(self) -> ModelSettings:
        return self.endpoint.settings(64)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that a visitor may choose from, default first; empty without a model."""
        return tuple(dict.fromkeys((self.model, *self.offer))) if self.model is not None else ()


def _token(path: Path | None) -> str:
    if path is None:
        return os.environ.get(TOKEN, "").strip()
    token = read_text(path).strip()
    if not token:
        raise InputError(
            say("ファイルが空です", "the file is empty"),
            place=f"--token-file {path}",
            remedy=say("トークンを書いてください", "write the token into it"),
        )
    return token


app = typer.Typer()


@app.command(help=say("ブラウザで使う", "Serve the web app."))
@with_options
def serve(options: WebOptions) -> None:
    if options.runs != Path("runs"):  # the first run creates the default folder
        make_folder(options.runs)
    from naisei.terminal import Console
    from naisei.web.app import serve as listen

    check_served(options.index, options.models, options.settings)
    console = Console(stderr=True)

    def ready(url: str) -> None:
        line = say(
            f"ブラウザで開いてください: {url} (Ctrl-C で終わり)", f"Open {url} (Ctrl-C ends)"
        )
        console.print(line, highlight=False, soft_wrap=True)

    listen(options, ready=ready)
