"""`naisei relationship report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.lang import say

__all__ = ["command"]

Dir = Annotated[
    Path, typer.Argument(metavar="DIR", help=say("実行ディレクトリ", "A run directory."))
]
Out = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--out",
        metavar="FILE",
        help=say(
            "書き出すページ (既定: DIR/relationship.html)",
            "Page to write; DIR/relationship.html by default.",
        ),
    ),
]


def command(directory: Dir, out: Out = None) -> None:
    # The other commands do not wait for what only this one needs.
    from naisei.relationship.report import write_report
    from naisei.runs.directory import RunDirectory

    with RunDirectory.look(directory) as run:
        print(write_report(run, out))
