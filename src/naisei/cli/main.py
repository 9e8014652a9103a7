"""`naisei`, as installed: runs the app and turns exceptions into messages and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from naisei import keys
from naisei.cli import errors, lang

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit; see `naisei.cli.errors` for the exit codes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that cannot show a character
            stream.reconfigure(errors="backslashreplace")
    # Imports and logs make many objects and few cycles: looking for them less often saves
    # a twentieth of the time.
    gc.set_threshold(20_000, 20, 50)
    arguments = list(sys.argv[1:] if args is None else args)
    try:
        lang.use(_language(arguments))
        # Imported now, since help texts are in the language chosen.
        from naisei.cli.app import app
        from naisei.cli.usage import translate_help

        translate_help()
        with keys.only_to_named(arguments, os.environ):
            code = app(arguments, prog_name="naisei", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:
        code = errors.report(error)
    sys.exit(code)


def _language(arguments: Sequence[str]) -> str | None:
    """The value of `--lang`, if it stands before the sub-command."""
    for at, argument in enumerate(arguments):
        if argument.startswith("--lang="):
            return argument.removeprefix("--lang=")
        if argument == "--lang" and at + 1 < len(arguments):
            return arguments[at + 1]
        if not argument.startswith("-"):
            break
    return None
