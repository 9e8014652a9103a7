"""PDF: lines into paragraphs, headings and tables, page by page; invisible text is left out."""

from __future__ import annotations

import re
import statistics
import threading
from collections import Counter
from itertools import groupby

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]
from pydantic import JsonValue

from naisei.japanese.sentences import outline_level
from naisei.lang import say
from naisei.retrieval.limits import LoadLimits
from naisei.retrieval.loaders.blocks import Blocks, Read, one_line
from naisei.retrieval.loaders.pdf_lines import Line, join, lines_of
from naisei.retrieval.unreadable import Unreadable

__all__ = ["read_pdf"]

#: pdfium may be used by one thread at a time.
_lock = threading.Lock()
_HEADING = 1.15
_PAGE_NUMBER = re.compile(r"^[-–—\s]*(?:page\s*)?\d{1,4}(?:\s*(?:/|of)\s*\d{1,4})?[-–—\s]*$", re.I)


def read_pdf(name: str, data: bytes, limits: LoadLimits) -> Read:
    """Raises:
    Unreadable: encrypted, broken, too many pages, no text (a scan).
    """
    with _lock:
        pages, info = _pages(name, data, limits)
    blocks = Blocks(limits.characters)
    body, sizes = _sizes(pages)
    margins = _margins(pages)
    for number, lines in enumerate(pages, start=1):
        blocks.page = number
        shown = [line for line in lines if not _margin(line, margins)]
        _page(blocks, shown, body, sizes)
    if not blocks.passages and not blocks.first:
        raise Unreadable(name, say("文字がありません(画像だけの PDF)", "no text in it (a scan?)"))
    title = (
        info if re.search(r"\w{2}", info) and not info.lower().endswith((".docx", ".doc")) else ""
    )
    meta: dict[str, JsonValue] = {}
    return Read(blocks.passages, blocks.first or ("" if title in _NO_TITLE else title), meta)


_NO_TITLE = frozenset({"untitled", "Untitled", "anonymous", "無題"})


def _pages(name: str, data: bytes, limits: LoadLimits) -> tuple[list[list[Line]], str]:
    if b"%PDF" not in data[:1024]:
        raise Unreadable(name, say("壊れた PDF です", "a broken PDF"))
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
            why = say("パスワードで保護されています", "protected by a password")
        else:
            why = say("壊れた PDF です", "a broken PDF")
        raise Unreadable(name, why) from error
    try:
        if len(document) > limits.pages:
            raise Unreadable(
                name, say(f"{limits.pages} ページを超えています", f"over {limits.pages} pages")
            )
        pages: list[list[Line]] = []
        letters = 0
        for number in range(len(document)):
            try:
                page = document[number]
                pages.append(lines_of(page, limits.characters - letters))
                page.close()
            except pypdfium2.PdfiumError as error:
                why = say(f"{number + 1} ページ目が壊れています", f"page {number + 1} is broken")
                raise Unreadable(name, why) from error
            letters += sum(len(line.text) for line in pages[-1])
            if letters >= limits.characters:
                most = f"{limits.characters:,}"
                raise Unreadable(name, say(f"{most} 文字を超えています", f"over {most} characters"))
        return pages, one_line(document.get_metadata_value("Title") or "")
    finally:
        document.close()


def _sizes(pages: list[list[Line]]) -> tuple[float, list[float]]:
    """The size of most letters, and those of headings, greatest first."""
    count: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            count[round(line.size * 2) / 2] += len(line.text)
    if not count:
        return 10.0, []
    body = count.most_common(1)[0][0]
    return body, sorted((size for size in count if size >= body * _HEADING), reverse=True)


def _margins(pages: list[list[Line]]) -> set[str]:
    """Lines at the edge of most of several pages, numbers aside: running heads."""
    if len(pages) < 2:
        return set()
    ends = Counter(
        text
        for lines in pages
        for text in {re.sub(r"\d+", "#", line.text) for line in lines if line.edge}
    )
    return {text for text, times in ends.items() if times > len(pages) / 2}


def _margin(line: Line, margins: set[str]) -> bool:
    if _PAGE_NUMBER.match(line.text) and len(line.cells) == 1:
        return line.edge
    return line.edge and re.sub(r"\d+", "#", line.text) in margins


def _page(blocks: Blocks, lines: list[Line], body: float, sizes: list[float]) -> None:
    right = max((line.right for line in lines), default=0.0)
    held: list[Line] = []

    def flush() -> None:
        blocks.text(join(held, right))
        held.clear()

    for columns, group in groupby(_columned(lines), key=lambda pair: pair[1]):
        rows = [line for line, _ in group]
        if columns:
            flush()
            blocks.table([line.cells for line in rows])
            continue
        for line in rows:
            size = round(line.size * 2) / 2
            level = outline_level(line.text)
            if size in sizes and len(line.text) <= 60:
                flush()
                blocks.heading(min(6, sizes.index(size) + 1), line.text)
            elif level is not None:
                flush()
                blocks.heading(len(sizes) + level, line.text)
            else:
                if held and held[-1].bottom - line.top > 0.9 * statistics.median((line.size, body)):
                    flush()
                held.append(line)
    flush()


def _columned(lines: list[Line]) -> list[tuple[Line, int]]:
    """Each line with the number of its table, 0 for none: a table is two or more lines that
    follow each other, of as many cells (two at least), each of whose columns line up."""
    numbers = [0] * len(lines)
    table = 0
    for i in range(1, len(lines)):
        if _alike(lines[i - 1], lines[i]):
            if not numbers[i - 1]:
                table += 1
                numbers[i - 1] = table
            numbers[i] = numbers[i - 1]
    return list(zip(lines, numbers, strict=True))


def _alike(one: Line, two: Line) -> bool:
    if len(one.cells) < 2 or len(one.cells) != len(two.cells):
        return False
    near = 0.8 * max(one.size, two.size)
    return all(
        abs(a[0] - b[0]) < near or abs(a[1] - b[1]) < near or abs(sum(a) - sum(b)) < 2 * near
        for a, b in zip(one.spans, two.spans, strict=True)
    )
