"""From exceptions to one message on stderr and an exit code.

0   done
1   an unexpected error: a bug; the traceback is kept in a file
2   something the user gave cannot be used, the disk is full or read only, or the log of a run
    does not fit the code
3   a run stopped at its budget; the same command, or `naisei runs resume`, continues it
130 stopped by Ctrl-C or SIGTERM; continues likewise
"""

from __future__ import annotations

import os
import sys
import traceback
from datetime import datetime
from pathlib import Path

from naisei.lang import say

__all__ = ["DEBUG", "exit_code", "report"]

#: Environment variable that shows tracebacks; `naisei --debug` sets it.
DEBUG = "NAISEI_DEBUG"


def exit_code(error: BaseException) -> int:
    """The exit code that an exception amounts to."""
    from naisei.cli.usage import UsageError
    from naisei.core import InputError, ModelCallForbidden, ReplayDivergence

    error = _meant(error)
    if isinstance(error, KeyboardInterrupt):
        return 130
    wrong = InputError | ReplayDivergence | ModelCallForbidden | UsageError
    return 2 if isinstance(error, wrong) else 1


def report(error: BaseException) -> int:
    """Say on stderr what went wrong, in one message; returns the exit code."""
    # Imported when needed: `naisei --help` must not wait for the core.
    from naisei.cli.usage import Abort, UsageError, explained
    from naisei.core import EffectFailed, InputError, ModelCallForbidden, ReplayDivergence

    if os.environ.get(DEBUG):
        traceback.print_exception(error)
        return exit_code(error)
    error = _meant(error)
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
        _print(say("予期しないエラー: ", "unexpected ") + f"{type(error).__name__}: {error}")
        _keep_traceback(error)
    return exit_code(error)


def _meant(error: BaseException) -> BaseException:
    """Of a group of errors the one that was raised on purpose, else the first; of a disk's
    error, what it amounts to for the user."""
    import sqlite3

    from naisei.core import InputError, NaiseiError
    from naisei.databases import database_error
    from naisei.files import is_disk_error, output_error

    if isinstance(error, BaseExceptionGroup):
        inner = [_meant(each) for each in error.exceptions]
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
    if isinstance(error, sqlite3.Error):
        return database_error(error, "") or error
    return error


def _print(message: str, remedy: str | None = None) -> None:
    from naisei.terminal import visible

    # Plain text, not markup: a message may quote anything.
    head = say("エラー", "error")
    if sys.stderr.isatty():
        head = f"\x1b[1;31m{head}\x1b[0m"
    print(f"{head}: {visible(message).rstrip()}", file=sys.stderr)
    if remedy:
        print(f"  → {visible(remedy)}", file=sys.stderr)


def _keep_traceback(error: BaseException) -> None:
    import platformdirs

    text = "".join(traceback.format_exception(error))
    try:
        folder = Path(platformdirs.user_log_dir("naisei"))
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "errors.log"
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{datetime.now():%Y-%m-%d %H:%M:%S} {' '.join(sys.argv)}\n{text}\n")
    except OSError:
        print(text, file=sys.stderr)  # nowhere to keep it
        return
    where = say("詳細はここに記録しました", "the traceback is in")
    again = say("--debug で表示できます", "`naisei --debug …` shows it")
    print(f"  → {where}: {path} ({again})", file=sys.stderr)
