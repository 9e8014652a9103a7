"""`naisei relationship compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.cli import options
from naisei.lang import say

__all__ = ["command"]

With = Annotated[
    Path,
    typer.Argument(
        metavar="RUN_WITH",
        help=say(
            "注入ありの実行ディレクトリ (または agent_a.json)",
            "Run directory with injection (or an agent_a.json).",
        ),
    ),
]
Without = Annotated[
    Path,
    typer.Argument(metavar="RUN_WITHOUT", help=say("注入なしのほう", "The one without injection.")),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE.html", help=say("HTML で書く", "Write a page.")),
]
Csv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE.csv", help=say("CSV で書く", "Write CSV.")),
]


def command(
    run_with: With,
    run_without: Without,
    html: Html = None,
    csv: Csv = None,
    json: options.Json = False,
    seed: options.Seed = 0,
) -> None:
    import json as jsonlib

    from naisei.cli.printing import print_tables
    from naisei.files import write_atomically
    from naisei.relationship.effect import effect_of
    from naisei.runs.report import templates
    from naisei.runs.tables import to_csv
    from naisei.terminal import Console

    found = effect_of(run_with, run_without, seed=seed)
    console = Console(stderr=json)
    print_tables(found.tables(), console)
    for note in found.notes:
        console.print(note, style="yellow")
    texts: list[tuple[Path, str]] = []
    if csv is not None:
        texts.append((csv, "\n".join(to_csv(table) for table in found.tables())))
    if html is not None:
        page = templates().get_template("study.html")
        title = say("注入の効果", "The effect of injection")
        texts.append(
            (html, page.render(title=title, tables=found.tables(), runs={}, notes=found.notes))
        )
    for path, text in texts:
        write_atomically(path, text)
        console.print(say("書きました: ", "Written: ") + str(path))
    if json:
        print(jsonlib.dumps(found.to_json(), ensure_ascii=False, allow_nan=False))
