"""What typer prints, in the user's language: help, and what is wrong with a command line.

Typer has no translations. Its help is printed by `typer.rich_utils`; the names of its titles and
its console are replaced there. Its errors are English sentences; those that can occur are
translated by pattern, and the others stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

import typer

from naisei.lang import language, say

__all__ = ["Abort", "UsageError", "explained", "translate_help", "translated"]

#: Something is wrong with the command line.
UsageError: type[Any] = typer.BadParameter.__mro__[1]
#: The user ended the input (Ctrl-D) where one was awaited.
Abort = typer.Abort

#: Fixed strings of `typer.rich_utils`: Japanese, English.
_STRINGS = {
    "ARGUMENTS_PANEL_TITLE": ("引数", "Arguments"),
    "OPTIONS_PANEL_TITLE": ("オプション", "Options"),
    "COMMANDS_PANEL_TITLE": ("コマンド", "Commands"),
    "DEFAULT_STRING": ("[既定: {}]", "[default: {}]"),
    "ENVVAR_STRING": ("[環境変数: {}]", "[env var: {}]"),
    "REQUIRED_LONG_STRING": ("[必須]", "[required]"),
}
#: Help of the options that typer adds.
_HELP = {
    "Show this message and exit.": "このヘルプを表示する",
    "Install completion for the current shell.": "使用中のシェルに補完を設定する",
    "Show completion for the current shell, to copy it or customize the installation.": (
        "使用中のシェルの補完スクリプトを表示する (コピーや変更のため)"
    ),
}
_USAGE = (
    ("Usage:", "使い方:"),
    ("[OPTIONS]", "[オプション]"),
    ("COMMAND [ARGS]...", "コマンド [引数]..."),
)
#: English sentence → Japanese; `\1`… are taken over, `{n}` is a sentence to translate in turn.
_ERRORS = tuple(
    (re.compile(pattern, re.DOTALL), text)
    for pattern, text in (
        (r"Invalid value for (.+?): (.+)", r"\1 の値が正しくありません: {2}"),
        (r"Invalid value: (.+)", r"値が正しくありません: {1}"),
        (r"Missing argument (.+?)\.(?: .*)?", r"引数 \1 を指定してください"),
        (r"Missing option (.+?)\.(?: .*)?", r"オプション \1 を指定してください"),
        (r"Missing command\.", r"コマンドを指定してください"),
        (
            r"No such option: (\S+) \(Possible options: (.+)\)",
            r"\1 というオプションはありません (候補: \2)",
        ),
        (r"No such option: (\S+)", r"\1 というオプションはありません"),
        (
            r"No such command (.+)\. Did you mean (.+)\?",
            r"\1 というコマンドはありません (候補: \2)",
        ),
        (r"No such command (.+)\.", r"\1 というコマンドはありません"),
        (r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", r"余分な引数があります: \1"),
        (r"Option (\S+) requires an argument\.", r"オプション \1 には値が必要です"),
        (r"Option (\S+) requires (\d+) arguments\.", r"オプション \1 には値が \2 個必要です"),
        (r"Option (\S+) does not take a value\.", r"オプション \1 は値を取りません"),
        (r"Argument (\S+) takes (\d+) values\.", r"引数 \1 には値が \2 個必要です"),
        (r"Input should be a valid integer.*", r"整数を指定してください"),
        (r"Input should be a valid number.*", r"数値を指定してください"),
        (r"Input should be a valid (?:date|datetime).*", r"日時を指定してください"),
        (r"Input should be greater than or equal to (\S+)", r"\1 以上にしてください"),
        (r"Input should be less than or equal to (\S+)", r"\1 以下にしてください"),
        (r"Input should be greater than (\S+)", r"\1 より大きくしてください"),
        (r"Input should be less than (\S+)", r"\1 より小さくしてください"),
        (r"Input should be ('.+?') or ('.+?')", r"\1 か \2 を指定してください"),
        (r"(.+) is not one of (.+?)\.?", r"\1 は指定できません。指定できる値: \2"),
        (r"(?:File|Path) (.+) does not exist\.", r"\1 がありません"),
        (r"Directory (.+) does not exist\.", r"フォルダー \1 がありません"),
        (r"\w+ (.+) is a file\.", r"\1 はファイルです (フォルダーを指定してください)"),
        (r"\w+ (.+) is a directory\.", r"\1 はフォルダーです (ファイルを指定してください)"),
        (r"\w+ (.+) is not readable\.", r"\1 を読めません"),
        (r"\w+ (.+) is not writable\.", r"\1 に書き込めません"),
    )
)


def translate_help() -> None:
    """Let typer print help in the user's language, wrapped as `naisei.terminal` does."""
    from typer import rich_utils

    from naisei.terminal import Console, Panel

    if vars(rich_utils)["Console"] is Console:
        return
    original = rich_utils.rich_format_help

    def printed(*, obj: Any, ctx: Any, markup_mode: Any) -> None:
        for name, words in _STRINGS.items():
            setattr(rich_utils, name, say(*words))
        if language() == "ja":
            for param in obj.get_params(ctx):
                param.help = _HELP.get(param.help, param.help)
            usage = obj.get_usage(ctx)
            for english, japanese in _USAGE:
                usage = usage.replace(english, japanese, 1)
            obj.get_usage = lambda _: usage
        original(obj=obj, ctx=ctx, markup_mode=markup_mode)

    vars(rich_utils).update(Console=Console, Panel=Panel, rich_format_help=printed)


def explained(error: Any) -> tuple[str, str | None]:
    """Message and remedy of a usage error; no message where help was printed instead."""
    # Help that took the place of a missing command says what there is.
    if type(error).__name__ == "NoArgsIsHelpError":
        return "", None
    message = error.format_message().replace(": Value error, ", ": ")
    message = translated(message)
    if error.ctx is None:
        return message, None
    path = error.ctx.command_path
    return message, say(f"使い方: {path} --help", f"{path} --help shows how to use it")


def translated(sentence: str) -> str:
    """An English sentence of typer or pydantic in the user's language, if it is a known one."""
    if language() != "ja":
        return sentence
    for pattern, text in _ERRORS:
        if found := pattern.fullmatch(sentence):
            inner = re.sub(r"\{(\d)\}", lambda n: translated(found[int(n[1])]), text)
            return re.sub(r"\\(\d)", lambda n: found[int(n[1])], inner)
    return sentence
