"""`naisei relationship export`."""

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
        "--out", help=say("書き込むフォルダー (既定: DIR)", "Folder to write; DIR by default.")
    ),
]


def command(directory: Dir, out: Out = None) -> None:
    from naisei.relationship.exports import export
    from naisei.runs.directory import RunDirectory

    with RunDirectory.look(directory) as run:
        for path in export(run, out):
            print(path)
