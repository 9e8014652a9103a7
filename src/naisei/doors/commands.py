"""`naisei mcp` and `naisei proxy`: flags. Servers are imported on call."""

from __future__ import annotations

from pathlib import Path

import typer
from pydantic import field_validator

from naisei.cli.parameters import check_served, with_options
from naisei.lang import say
from naisei.system.config import Options, flag


class McpOptions(Options):
    """Flags of `naisei mcp`."""

    model: str | None = flag(
        None,
        "clarify_next と ask_documents のモデル",
        "Model of clarify_next and ask_documents.",
        metavar="PROVIDER:NAME",
        env="NAISEI_MODEL",
    )
    index: Path | None = flag(
        None,
        "ask_documents の索引 (naisei intent index で作る)",
        "Index of ask_documents, made by naisei intent index.",
        metavar="DIR",
    )
    runs: Path = flag(
        Path("runs"), "見せる実行記録のフォルダー", "Folder of the runs shown.", metavar="DIR"
    )
    http: bool = flag(
        False,
        "標準入出力の代わりに HTTP で待ち受ける (このマシンの中だけ)",
        "Listen for HTTP, on this machine only, in place of standard input and output.",
    )
    port: int = flag(8330, "HTTP のポート (0 は空いているもの)", "Port; 0 is any.", ge=0, le=65535)


class ProxyOptions(Options):
    """Flags of `naisei proxy`.

    upstream: ends in `/v1` as a rule. features: of requests without their own.
    """

    upstream: str = flag(
        ...,
        "前に立つモデルの URL (OpenAI 互換、/v1 まで)",
        "URL of the models that it stands before, OpenAI-compatible, up to /v1.",
        metavar="URL",
        argument=True,
    )
    features: tuple[str, ...] = flag(
        (),
        "いつも使う機能 (複数可): ask, check, check:ayu, ground, memo",
        "What every request gets, repeatable: ask, check, check:ayu, ground, memo.",
        name="--with",
        metavar="FEATURE",
    )
    model: str | None = flag(
        None,
        "ask、ground、memo が使うモデル",
        "Model that ask, ground and memo use.",
        metavar="PROVIDER:NAME",
        env="NAISEI_MODEL",
    )
    actions: Path | None = flag(
        None,
        "ask の行動の一覧 (一行に一つ)",
        "What can be wanted, for ask: one action a line.",
        metavar="FILE",
    )
    dangerous: tuple[str, ...] = flag(
        (),
        "行う前に ask が確かめる行動 (一覧のとおりに、複数可)",
        "Actions of the list that ask confirms first, as they stand there, repeatable.",
        metavar="ACTION",
    )
    index: Path | None = flag(
        None,
        "ground の索引 (naisei intent index で作る)",
        "Index for ground, made by naisei intent index.",
        metavar="DIR",
    )
    state: str | None = flag(
        None,
        "メモと、尋ねた質問を覚えておく SQLite ファイル、または postgresql://… (既定: メモリの中)",
        "SQLite file, or postgresql://…, of memos and of questions that were asked; "
        "in memory by default.",
        metavar="FILE|URL",
    )
    port: int = flag(
        8340, "ポート (0 は空いているもの)", "Port; 0 is any free one.", ge=0, le=65535
    )

    @field_validator("state", mode="before")
    @classmethod
    def _address(cls, state: object) -> object:
        return str(state) if isinstance(state, Path) else state


mcp_app, proxy_app = typer.Typer(), typer.Typer()


@mcp_app.command(help=say("MCP のツールとして使う", "Serve the systems as tools of MCP."))
@with_options
def mcp(options: McpOptions) -> None:
    from naisei.doors.mcp import mcp_server, serve_http

    check_served(options.index, [options.model] if options.model else [])
    server = mcp_server(model=options.model, index=options.index, runs=options.runs)
    if options.http:
        serve_http(server, options.port)
    else:
        server.run("stdio")


@proxy_app.command(
    help=say(
        "モデルの前に立つ OpenAI 互換のプロキシ (このマシンの中だけ)",
        "An OpenAI-compatible proxy before any model, on this machine only.",
    )
)
@with_options
def proxy(options: ProxyOptions) -> None:
    from naisei.doors.proxy import serve

    check_served(options.index, [options.model] if options.model else [])
    serve(options)
