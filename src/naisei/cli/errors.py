"""Error messages on the command line, including typer's own."""

from __future__ import annotations

import os
import re
import sys
import traceback
from datetime import datetime
from functools import wraps
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from naisei.lang import language, say

# From exceptions to one message on stderr and an exit code.
#
# 0   done
# 1   an unexpected error: a bug; the traceback is saved to a file
# 2   invalid input, a full or read-only disk, or a run log that does not match the code
# 3   a run stopped at its budget; the same command, or `naisei runs resume`, continues it
# 4   a run, a study, a training or a talk in which nothing was scored
# 130 stopped by Ctrl-C or SIGTERM; continued in the same way

#: Environment variable that shows tracebacks; `naisei --debug` sets it.
DEBUG = "NAISEI_DEBUG"


def exit_code(error: BaseException) -> int:
    """Return the exit code for an exception."""
    from naisei.core import InputError, ModelCallForbidden, ReplayDivergence

    error = _root_error(error)
    if isinstance(error, KeyboardInterrupt):
        return 130
    wrong = InputError | ReplayDivergence | ModelCallForbidden | UsageError
    return 2 if isinstance(error, wrong) else 1


def report(error: BaseException) -> int:
    """Print the error to stderr as one message; returns the exit code."""
    # Imported lazily, to keep `naisei --help` fast.
    from naisei.core import EffectFailed, InputError, ModelCallForbidden, ReplayDivergence

    if os.environ.get(DEBUG):
        traceback.print_exception(error)
        return exit_code(error)
    error = _root_error(error)
    if isinstance(error, KeyboardInterrupt | Abort):
        _print(say("中断しました", "interrupted"))
    elif isinstance(error, InputError):
        _print(f"{error.place}: {error.message}" if error.place else error.message, error.remedy)
    elif isinstance(error, UsageError):
        message, remedy = explained(error)
        if message:
            _print(message, remedy)
    elif isinstance(error, EffectFailed | ReplayDivergence | ModelCallForbidden):
        _print(str(error))
    else:
        told = f"{type(error).__name__}: {error}"
        if plugin := _plugin_of(error):
            _print(say(f"プラグイン {plugin} のエラー: {told}", f"plug-in {plugin}: {told}"))
        else:
            _print(say("予期しないエラー: ", "unexpected ") + told)
        _keep_traceback(error)
    return exit_code(error)


def _plugin_of(error: BaseException) -> str:
    """Return the plug-in that raised the error, with module and line; "" for our own code."""
    from naisei.entries import plugins

    packages = plugins()
    for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
        module = str(frame.f_globals.get("__name__", ""))
        if name := packages.get(module.partition(".")[0]):
            return f"{name} ({module}:{line})"
    return ""


#: Extra → the modules that it installs.
_EXTRAS = {
    "bench": ("inspect_ai",),
    "frames": ("pandas", "polars", "pyarrow"),
    "otel": ("opentelemetry",),
    "plots": ("matplotlib",),
    "postgres": ("psycopg",),
    "ray": ("ray",),
    "textgame": ("textworld",),
    "train": ("safetensors", "tokenizers", "torch", "transformers"),
}
#: Module → package, for modules without an extra.
_PACKAGES = {"mlflow": "mlflow-skinny", "tensorboardX": "tensorboardX", "wandb": "wandb"}


def _root_error(error: BaseException) -> BaseException:
    """Return the relevant error of a group: a `NaiseiError` if there is one, otherwise the first.
    Disk errors become user errors."""
    import sqlite3

    from naisei.core import InputError, NaiseiError
    from naisei.files import database_error, is_disk_error, output_error

    if isinstance(error, BaseExceptionGroup):
        inner = [_root_error(each) for each in error.exceptions]
        return next((each for each in inner if isinstance(each, NaiseiError)), inner[0])
    if isinstance(error, OSError) and is_disk_error(error):
        return output_error(error, error.filename or "")
    if isinstance(error, FileNotFoundError) and error.filename:
        return InputError(
            say("見つかりません", "is not there"),
            place=os.fsdecode(error.filename),
            remedy=say(
                "実行中に移動や削除をしていないか確かめてください",
                "was it moved or removed meanwhile?",
            ),
        )
    if isinstance(error, UnicodeEncodeError) and "surrogates" in error.reason:
        given = error.object[max(0, error.start - 40) : error.end + 40]
        return InputError(
            say("UTF-8 でない文字があります", "holds characters that are not UTF-8"),
            place=given.encode(errors="backslashreplace").decode(),
        )
    if isinstance(error, sqlite3.Error):
        return database_error(error, "") or error
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or "").partition(".")[0]
        brought = (f"'naisei[{extra}]'" for extra, names in _EXTRAS.items() if package in names)
        if install := _PACKAGES.get(package) or next(brought, ""):
            return InputError(
                say(f"{package} がインストールされていません", f"{package} is not installed"),
                remedy=f"pip install {install}",
            )
    return error


def _print(message: str, remedy: str | None = None) -> None:
    from naisei.keys import masked
    from naisei.terminal import visible

    # Plain text, not markup: a message may quote arbitrary text.
    head = say("エラー", "error")
    if sys.stderr.isatty():
        head = f"\x1b[1;31m{head}\x1b[0m"
    print(f"{head}: {visible(masked(message)).rstrip()}", file=sys.stderr)
    if remedy:
        print(f"  → {visible(masked(remedy))}", file=sys.stderr)


def _keep_traceback(error: BaseException) -> None:
    import platformdirs

    from naisei.keys import masked

    command = " ".join(sys.argv)
    text = masked(f"{command}\n{''.join(traceback.format_exception(error))}")
    try:
        folder = Path(platformdirs.user_log_dir("naisei"))
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "errors.log"
        path.touch(mode=0o600)
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{datetime.now():%Y-%m-%d %H:%M:%S} {text}\n")
    except OSError:
        print(text, file=sys.stderr)  # no writable place for it
        return
    where = say("詳細はここに記録しました", "the traceback is in")
    again = say("--debug で表示できます", "`naisei --debug …` shows it")
    print(f"  → {where}: {path} ({again})", file=sys.stderr)


# Typer's output in the user's language: help and usage errors.
#
# Typer has no translations. Its help is printed by `typer.rich_utils`, whose titles and console are
# replaced here. Its errors are English sentences; those that can occur are translated by pattern,
# and the others are unchanged.

#: Usage errors of the command line.
UsageError: type[Any] = typer.BadParameter.__mro__[1]
#: The user ended the input (Ctrl-D) at a prompt.
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
#: Help texts of the options that typer adds.
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
#: English sentence → Japanese; `\1`… are copied; `{n}` is a sentence to translate in turn.
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
    """Make typer print help in the user's language, wrapped by `naisei.terminal` and without
    markup. Imported only for help."""
    for kind in (TyperCommand, TyperGroup):
        kind.format_help = _translated_first(kind.format_help)  # type: ignore[method-assign]


def _translated_first(format_help: Any) -> Any:
    @wraps(format_help)
    def formatted(*given: Any) -> Any:
        _translate_rich()
        return format_help(*given)

    return formatted


def _translate_rich() -> None:
    from rich.text import Text
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

    def plain(*, text: str, style: str = "", markup_mode: Any) -> Text:
        return rich_utils.highlighter(Text(cleandoc(text), style=style))

    vars(rich_utils).update(
        Console=Console, Panel=Panel, rich_format_help=printed, _make_rich_text=plain
    )


def explained(error: Any) -> tuple[str, str | None]:
    """Return message and remedy of a usage error; the message is empty if help was printed
    instead."""
    # Help printed for a missing command already lists the commands.
    if type(error).__name__ == "NoArgsIsHelpError":
        return "", None
    message = error.format_message().replace(": Value error, ", ": ")
    message = translated(message)
    if error.ctx is None:
        return message, None
    path = error.ctx.command_path
    return message, say(f"使い方: {path} --help", f"{path} --help shows how to use it")


def translated(sentence: str) -> str:
    """Translate a known English sentence of typer or pydantic into the user's language."""
    if language() != "ja":
        return sentence
    for pattern, text in _ERRORS:
        if found := pattern.fullmatch(sentence):
            inner = re.sub(r"\{(\d)\}", lambda n: translated(found[int(n[1])]), text)
            return re.sub(r"\\(\d)", lambda n: found[int(n[1])], inner)
    return sentence
