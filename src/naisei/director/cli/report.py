"""`naisei director report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.director.cli.check import Characters, Format, SkipOthers
from naisei.lang import say

__all__ = ["command"]

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE|-",
        help=say("台本 (JSONL、CSV、やな: …)", "A script: JSONL, CSV or `やな: …`."),
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help=say(
            "書き込むフォルダー (既定: 台本の名前-report)",
            "Folder to write; NAME-report by default.",
        ),
    ),
]


def command(
    file: File,
    out: Out = None,
    character: Characters = None,
    format: Format = "auto",
    skip_others: SkipOthers = False,
) -> None:
    # The other commands do not wait for what only a report needs.
    from naisei.director.bulk import judged_lines, opened
    from naisei.director.report import write_report
    from naisei.director.speakers import Speakers
    from naisei.director.tally import tally

    speakers = Speakers(character or (), skip_others=skip_others)
    with opened(file) as (stream, place):
        found = tally(judged_lines(stream, place, speakers, kind=format, one_talk=True))
    folder = out or Path(f"{'stdin' if file == '-' else Path(file).stem}-report")
    for path in write_report(found, place, folder):
        print(path)
