"""`naisei relationship plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.lang import say

__all__ = ["command"]

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE…",
        help=say(
            "agent_a.json、またはそれのあるフォルダー。複数なら重ねて比べる",
            "agent_a.json or its folder; several are compared.",
        ),
    ),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="NAME…",
        help=say(
            "ファイルごとの名前 (続けて並べる)", "A name for each file (one after the other)."
        ),
    ),
]
Out = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--out",
        metavar="FILE",
        help=say(
            "書き出す図 (.png, .svg, .pdf。繰り返し可。既定: rr_plot.png)",
            "Picture to write: .png, .svg, .pdf; repeatable; rr_plot.png by default.",
        ),
    ),
]
Csv = Annotated[
    bool,
    typer.Option(
        "--csv",
        help=say(
            "値を CSV に書き出す (-o がなければ図は描かない)",
            "Write the values as CSV; no picture unless -o is given.",
        ),
    ),
]
Title = Annotated[str, typer.Option(help=say("図の題", "Title of the picture."))]


def command(
    files: Files, labels: Labels = None, out: Out = None, csv: Csv = False, title: Title = ""
) -> None:
    # The other commands do not wait for what only this one needs.
    import sys

    from naisei.files import write_atomically
    from naisei.relationship.plot import draw, table
    from naisei.relationship.series import read_series
    from naisei.runs.tables import to_csv

    paths, names = _apart(files, labels)
    series = [
        read_series(path, name)
        for path, name in zip(paths, names or [""] * len(paths), strict=True)
    ]
    for one in series:
        for note in one.notes:
            print(f"naisei: {note}", file=sys.stderr)
    pictures = out or ([] if csv else [Path("rr_plot.png")])
    if pictures:
        draw(series, pictures, title=title)
    written = list(pictures)
    if csv:
        to = (pictures[0] if pictures else Path("rr_plot")).with_suffix(".csv")
        write_atomically(to, to_csv(table(series)))
        written.append(to)
    for path in written:
        print(path)


def _apart(given: list[str], labels: list[str] | None) -> tuple[list[Path], list[str]]:
    """Files and labels. After `--labels A` the parser takes `B` for a file: what is none, is a
    label."""
    from naisei.core import InputError

    if labels is None:
        return [Path(name) for name in given], []
    files = [Path(name) for name in given if Path(name).exists()]
    names = [*labels, *(name for name in given if not Path(name).exists())]
    if len(files) != len(names):
        shown = ", ".join(map(str, files)) or "–"
        raise InputError(
            say(
                f"ファイル {len(files)} 個 ({shown}) に名前が {len(names)} 個 ({', '.join(names)})",
                f"{len(files)} files ({shown}) and {len(names)} labels ({', '.join(names)})",
            ),
            place="--labels",
            remedy=say(
                "存在するファイルを先に並べ、同じ数の名前を --labels の後に並べてください",
                "list files that exist, then --labels and as many names",
            ),
        )
    return files, names
