"""PDF: turns lines into paragraphs, headings and tables, page by page; skips invisible text."""

from __future__ import annotations

import re
import statistics
import threading
from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from naisei.japanese.sentences import outline_level
from naisei.lang import say
from naisei.retrieval.loaders.blocks import Blocks, Read, one_line
from naisei.retrieval.loaders.pdf_lines import Line, Ruled, goes_on, items_of, join
from naisei.retrieval.loaders.tables import Cell
from naisei.retrieval.types import UNREAD_PAGE, Hidden, LoadLimits, Unreadable

_Page = list[Line | Ruled]

#: Only one thread at a time may use pdfium.
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
    _Body(blocks, pages).read()
    if not blocks.passages and not blocks.first:
        raise Unreadable(name, say("文字がありません(画像だけの PDF)", "no text in it (a scan?)"))
    title = (
        info if re.search(r"\w{2}", info) and not info.lower().endswith((".docx", ".doc")) else ""
    )
    empty = [Hidden(how=UNREAD_PAGE, text=str(n)) for n, page in enumerate(pages, 1) if not page]
    return Read(
        blocks.passages, blocks.first or ("" if title in _NO_TITLE else title), hidden=empty
    )


_NO_TITLE = frozenset({"untitled", "Untitled", "anonymous", "(anonymous)", "無題"})


def _pages(name: str, data: bytes, limits: LoadLimits) -> tuple[list[_Page], str]:
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
        pages: list[_Page] = []
        letters = 0
        for number in range(len(document)):
            try:
                page = _with_notes(document, number)
                pages.append(items_of(page, limits.characters - letters))
                page.close()
            except pypdfium2.PdfiumError as error:
                why = say(f"{number + 1} ページ目が壊れています", f"page {number + 1} is broken")
                raise Unreadable(name, why) from error
            letters += sum(_length(item) for item in pages[-1])
            if letters >= limits.characters:
                most = f"{limits.characters:,}"
                raise Unreadable(name, say(f"{most} 文字を超えています", f"over {most} characters"))
        return pages, one_line(document.get_metadata_value("Title") or "")
    finally:
        document.close()


def _with_notes(document: pypdfium2.PdfDocument, number: int) -> pypdfium2.PdfPage:
    """A page, with visible annotations and form fields drawn on it."""
    page = document[number]
    if not pdfium.FPDFPage_GetAnnotCount(page.raw):
        return page
    drawn = pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY)
    if drawn != pdfium.FLATTEN_SUCCESS:
        return page
    page.close()
    return document[number]


def _length(item: Line | Ruled) -> int:
    return len(item.text) if isinstance(item, Line) else item.length


def _lines(page: _Page) -> Iterator[Line]:
    return (item for item in page if isinstance(item, Line))


def _sizes(pages: list[_Page]) -> tuple[float, list[float]]:
    """The most common letter size, and heading sizes, largest first."""
    count: Counter[float] = Counter()
    for page in pages:
        for item in page:
            count[round(item.size * 2) / 2] += _length(item)
    if not count:
        return 10.0, []
    body = count.most_common(1)[0][0]
    return body, sorted((size for size in count if size >= body * _HEADING), reverse=True)


def _margins(pages: list[_Page]) -> set[str]:
    """Running heads: lines at the edge of most pages, ignoring numbers."""
    if len(pages) < 2:
        return set()
    ends = Counter(
        text
        for page in pages
        for text in {re.sub(r"\d+", "#", line.text) for line in _lines(page) if line.edge}
    )
    return {text for text, times in ends.items() if times > len(pages) / 2}


#: A table-of-contents line.
_LEADS = re.compile(r"(?:[.．・…‥]\s*){4,}\s*[0-9０-９]{1,4}$")


def _passed_over(line: Line, margins: set[str]) -> bool:
    """Whether to skip it: contents, page number, running head."""
    if _LEADS.search(line.text):
        return True
    if _PAGE_NUMBER.match(line.text) and len(line.cells) == 1:
        return line.edge
    return line.edge and re.sub(r"\d+", "#", line.text) in margins


class _Body:
    """Joins pages: paragraphs and tables continue across pages."""

    def __init__(self, blocks: Blocks, pages: list[_Page]) -> None:
        self._blocks, self._pages = blocks, pages
        self._body, self._sizes = _sizes(pages)
        self._held: list[Line] = []
        #: Columns and header of the last table, if nothing follows it.
        self._table: tuple[int, str] | None = None
        #: The last heading: level, passages before it, line.
        self._last: tuple[int, int, Line] | None = None

    def read(self) -> None:
        margins = _margins(self._pages)
        for number, page in enumerate(self._pages, start=1):
            shown = [x for x in page if isinstance(x, Ruled) or not _passed_over(x, margins)]
            if self._held and not (
                shown and isinstance(shown[0], Line) and goes_on(self._held[-1], shown[0])
            ):
                self._flush()
            joined = bool(self._held)
            if not joined:
                self._blocks.page = number
            for ruled, group in groupby(shown, key=lambda item: isinstance(item, Ruled)):
                if ruled:
                    for item in group:
                        assert isinstance(item, Ruled)
                        self._add_table(item.rows)
                else:
                    self._text([x for x in group if isinstance(x, Line)], number)
        self._flush()

    def _flush(self) -> None:
        if self._held:
            self._table = None
        self._blocks.text(join(self._held))
        self._held.clear()

    def _add_table(self, rows: list[list[Cell]]) -> None:
        self._flush()
        columns = max(map(len, rows))
        header = self._table[1] if self._table and self._table[0] == columns else None
        self._table = columns, self._blocks.table(rows, header=header or None)

    def _text(self, lines: list[Line], number: int) -> None:
        for columns, group in groupby(_columned(lines), key=lambda pair: pair[1]):
            rows = [line for line, _ in group]
            if columns and _prose(rows):
                self._flush()
                for side in (0, 1):
                    self._blocks.text("".join(line.cells[side] for line in rows))
            elif columns:
                self._add_table([[Cell(text) for text in line.cells] for line in rows])
            else:
                for line in rows:
                    self._line(line, number)

    def _line(self, line: Line, number: int) -> None:
        size = round(line.size * 2) / 2
        level = outline_level(line.text)
        if size in self._sizes and len(line.text) <= 60:
            self._heading(min(6, self._sizes.index(size) + 1), line, number)
        elif level is not None:
            self._heading(len(self._sizes) + level, line, number)
        else:
            before = self._held[-1] if self._held else None
            apart = statistics.median((line.size, self._body))
            apart *= 1.5 if before is not None and goes_on(before, line) else 0.9
            # On the next page it is higher than the previous line.
            if before is not None and before.bottom - line.top > apart:
                self._flush()
            if not self._held:
                self._blocks.page = number
            self._held.append(line)

    def _heading(self, level: int, line: Line, number: int) -> None:
        """Add a heading; join one of several lines."""
        self._flush()
        self._table = None
        self._blocks.page = number
        above, passages = self._last, len(self._blocks.passages)
        goes_on = (
            above is not None
            and above[:2] == (level, passages)
            and 0 <= above[2].bottom - line.top < 0.9 * line.size
            and above[2].size == line.size
            and outline_level(line.text) is None
        )
        text = self._blocks.headings[-1] + line.text if goes_on else line.text
        self._blocks.heading(level, text)
        if goes_on and self._blocks.first and text.startswith(self._blocks.first):
            self._blocks.first = text
        self._last = level, passages, line


#: Letters per cell above which two columns are text.
_PROSE = 14


def _prose(rows: list[Line]) -> bool:
    """Whether two-cell lines are text columns, not a table."""
    if len(rows[0].cells) != 2 or len(rows) < 3:
        return False
    return all(statistics.median(len(line.cells[n]) for line in rows) >= _PROSE for n in (0, 1))


def _columned(lines: list[Line]) -> list[tuple[Line, int]]:
    """Each line with the number of its table, 0 for none. A table is two or more consecutive
    lines with the same number of cells (at least two), whose columns align."""
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
