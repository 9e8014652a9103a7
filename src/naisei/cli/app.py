"""The typer app `naisei`: its sub-commands are imported only when they are called."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from naisei import __version__
from naisei.cli import errors, lang
from naisei.cli.lang import say

__all__ = ["COMMANDS", "app"]

#: Sub-command → where its typer app is, and its help in Japanese and English.
COMMANDS = {
    "clarify": (
        "naisei.clarify.cli:app",
        "曖昧な発話に、聞き返してから行動する (R-Clarify)",
        "Ask before acting on ambiguous requests (R-Clarify).",
    ),
    "director": (
        "naisei.director.cli:app",
        "発言を口に出す前に検査する。不合格の案は跡を残さない",
        "Check lines before they are spoken; rejected ones leave no trace.",
    ),
    "relationship": (
        "naisei.relationship.cli:app",
        "二人の関係を値として読み、次の発話に生かし、図にする",
        "Personas whose relationship is read, injected and shown.",
    ),
    "textgame": (
        "naisei.textgame.cli:app",
        "テキストゲームを読み、計画し、同じ失敗をしないプレイヤー",
        "Players of text games that read, plan, and do not repeat a mistake.",
    ),
    "intent": (
        "naisei.intent.cli:app",
        "資料を探す前に聞き返す、社内資料の案内役",
        "A document assistant that asks back before it searches.",
    ),
    "emphasis": (
        "naisei.emphasis.cli:app",
        "文書の大事な語句に太字を付ける",
        "Set in bold the words of a document that matter.",
    ),
    "serve": (
        "naisei.web.cli:app",
        "ブラウザで使う: 各エージェントと話し、実行を見る・比べる",
        "Everything in the browser: talk to each agent, look at runs.",
    ),
    "demo": (
        "naisei.cli.demo:app",
        "すべてのシステムのデモ",
        "A demonstration of every system.",
    ),
    "runs": (
        "naisei.runs.cli:app",
        "実行記録を見る・再開する・比べる・書き出す",
        "List, show, resume, compare and export runs.",
    ),
    "models": (
        "naisei.models.cli:app",
        "モデルを調べる・取得する",
        "Check models and pull the embedded one.",
    ),
}


class _Lazy(TyperGroup):
    """Knows its sub-commands by name and help; imports one when it is invoked."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name, (_, ja, en) in COMMANDS.items():
            self.add_command(TyperCommand(name, help=say(ja, en)))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None:
            module, _, attribute = COMMANDS[name][0].partition(":")
            command = get_command(getattr(import_module(module), attribute))
        return name, command, rest


app = typer.Typer(
    cls=_Lazy,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"naisei {__version__}")
        raise typer.Exit


def _debug(wanted: bool) -> None:
    if wanted:
        os.environ[errors.DEBUG] = "1"


@app.callback(help=say("内省: 聞いてから動くエージェント", "Agents that ask before they act."))
def _root(
    # Eager, so that they hold before a sub-command is imported.
    language: Annotated[
        str | None,
        typer.Option(
            "--lang",
            callback=lang.use,
            is_eager=True,
            help=say("表示言語: ja または en", "Language of messages: ja or en."),
        ),
    ] = None,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug",
            callback=_debug,
            is_eager=True,
            help=say("エラーの詳細を表示する", "Show tracebacks."),
        ),
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help=say("バージョンを表示する", "Show the version."),
        ),
    ] = False,
) -> None:
    pass
