"""Entry point of `naisei`: runs the app and turns exceptions into messages and exit codes."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper

from naisei import keys, lang
from naisei.cli import errors


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit; see `naisei.cli.errors` for the exit codes."""
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # for terminals that cannot show a character
            stream.reconfigure(errors="backslashreplace")
    # Imports and logs create many objects and few cycles: collecting less often saves 5 % of
    # the time.
    gc.set_threshold(20_000, 20, 50)
    arguments = list(sys.argv[1:] if args is None else args)
    try:
        lang.use(_language(arguments))
        # Imported after the language is chosen, since help texts depend on it.
        from naisei.cli.app import app
        from naisei.cli.errors import translate_help

        translate_help()
        with keys.only_to_named(arguments, os.environ), _ended_by_sigterm():
            code = app(arguments, prog_name="naisei", standalone_mode=False)
        sys.stdout.flush()  # a full disk is noticed here if stdout is a file
    except (Exception, KeyboardInterrupt) as error:
        code = errors.report(error)
        _drop_output()
    sys.exit(code)


def _open_streams() -> None:
    """Replace a closed stream (`<&-`) by an empty one, or the next open file would take its
    number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def _drop_output() -> None:
    """Discard unwritable output, so that the interpreter does not retry at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Make SIGTERM end a command like Ctrl-C, with cleanup. Runs and servers have their own
    handlers."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is stop:
            signal.signal(signal.SIGTERM, before)


def _language(arguments: Sequence[str]) -> str | None:
    """Return the value of `--lang`, if it precedes the sub-command."""
    for at, argument in enumerate(arguments):
        if argument.startswith("--lang="):
            return argument.removeprefix("--lang=")
        if argument == "--lang" and at + 1 < len(arguments):
            return arguments[at + 1]
        if not argument.startswith("-"):
            break
    return None
