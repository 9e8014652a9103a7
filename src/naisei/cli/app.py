"""The typer app `naisei`; sub-commands are imported only when called."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from naisei import __version__, lang
from naisei.cli import errors
from naisei.cli.profile import defaults
from naisei.lang import say
from naisei.system.registry import BUILT_IN, find_system, system_in, system_names

#: Other sub-commands → module of the typer app, and help text in Japanese and English.
_OTHERS: dict[str, tuple[str, str, str]] = {
    "talk": (
        "naisei.agent.command:app",
        "一人の相手と話す: 聞き返し、動き、資料で答え、確かめてから話す",
        "Talk with one agent that asks, acts, answers from documents and checks what it says.",
    ),
    "serve": (
        "naisei.web.options:app",
        "ブラウザで使う: 各エージェントと話し、実行を見る・比べる",
        "Everything in the browser: talk to each agent, look at runs.",
    ),
    "demo": (
        "naisei.cli.demo:app",
        "すべてのシステムのデモ",
        "A demonstration of every system.",
    ),
    "reproduce": (
        "naisei.cli.reproduce:app",
        "論文・資料の表と図を一つのコマンドで作る",
        "Every table and figure of a source in one command.",
    ),
    "runs": (
        "naisei.cli.runs:app",
        "実行記録を見る・再開する・比べる・書き出す",
        "List, show, resume, compare and export runs.",
    ),
    "data": (
        "naisei.cli.data:app",
        "同梱データを見る・検証する・書き出す",
        "List, show, validate and export the bundled data.",
    ),
    "mcp": (
        "naisei.doors.commands:mcp_app",
        "MCP のサーバー: 各システムをツールとして使う",
        "An MCP server: the systems as tools, runs as resources.",
    ),
    "proxy": (
        "naisei.doors.commands:proxy_app",
        "モデルの前に立つプロキシ: 聞き返す、検査する、資料で答える、覚える",
        "A proxy before any model: asks back, checks lines, answers from documents, remembers.",
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
        refuse_repeats(self)
        for name in system_names():
            built_in = BUILT_IN.get(name)
            self.add_command(TyperCommand(name, help=built_in and say(*built_in)))
        for name, (_, *about) in _OTHERS.items():
            self.add_command(TyperCommand(name, help=say(*about)))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stopped:  # typer turns it into an exit code silently
            errors.report(stopped)
            raise

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import an external system only when it is named or listed."""
        found = super().get_command(ctx, cmd_name)
        if found is not None and found.help is None:
            found.help = _about(cmd_name)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        if args[0].endswith(".py"):  # a system under development
            from naisei.cli.derived import group_of

            return args[0], refuse_repeats(group_of(system_in(Path(args[0])))), args[1:]
        name, command, rest = super().resolve_command(ctx, args)
        if name in _OTHERS:
            from naisei.entries import load_entry

            command = get_command(load_entry(_OTHERS[name][0]))
        elif name is not None:
            from naisei.cli.derived import group_of

            command = group_of(find_system(name))
        return name, refuse_repeats(command), rest


def _about(name: str) -> str:
    from naisei.core import InputError

    try:
        return say(*find_system(name).about)
    except InputError as error:  # a broken plug-in does not hide the others
        return str(error)


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


def _profile(context: typer.Context, name: str | None) -> None:
    if not context.resilient_parsing:  # completion needs no defaults
        context.default_map = defaults(name)


def _debug(wanted: bool) -> None:
    if wanted:
        os.environ[errors.DEBUG] = "1"


@app.callback(help=say("内省: 聞いてから動くエージェント", "Agents that ask before they act."))
def _root(
    # Eager, so that they apply before a sub-command is imported.
    language: Annotated[
        str | None,
        typer.Option(
            "--lang",
            callback=lang.use,
            is_eager=True,
            help=say("表示言語: ja または en", "Language of messages: ja or en."),
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            metavar="NAME",
            envvar="NAISEI_PROFILE",
            callback=_profile,
            is_eager=True,
            help=say(
                "naisei.toml のプロファイル (フラグの既定値の組)",
                "A profile of naisei.toml: defaults of flags.",
            ),
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


# A single-valued option given twice is an error.


def refuse_repeats(command: Any) -> Any:
    """Make a command, or a group with all its commands, count its options.

    The parser raises `InputError` if an option that takes one value is given twice.
    """
    for inner in getattr(command, "commands", {}).values():
        refuse_repeats(inner)
    command.make_parser = partial(_counting, command.make_parser)
    return command


def _counting(make: Any, context: Any) -> Any:
    parser = make(context)
    parse = parser.parse_args

    def parse_args(args: list[str]) -> Any:
        values, rest, order = parse(args)
        if not context.resilient_parsing:  # shell completion runs no command
            _check(order)
        return values, rest, order

    parser.parse_args = parse_args
    return parser


def _check(order: Sequence[Any]) -> None:
    """order: one parameter per occurrence on the command line. Raises `InputError`."""
    for parameter, times in Counter(order).items():
        if times > 1 and not parameter.multiple and not parameter.count:
            from naisei.core import InputError  # keeps `--help` fast

            raise InputError(
                say("1 回しか指定できません", "can be given only once"),
                place=parameter.opts[0],
                remedy=say(
                    "どれか 1 つにするか、値ごとに実行してください",
                    "give one of them, or run the command once for each value",
                ),
            )
