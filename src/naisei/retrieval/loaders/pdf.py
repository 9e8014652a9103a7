"""PDF: lines into paragraphs, headings and tables, page by page; invisible text is left out."""

from __future__ import annotations

import re
import statistics
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]
from pydantic import JsonValue

from naisei.japanese.sentences import outline_level
from naisei.lang import say
from naisei.retrieval.loaders.blocks import Blocks, Read, one_line
from naisei.retrieval.loaders.pdf_letters import Letter, letters_of
from naisei.retrieval.types import LoadLimits, Unreadable

#: In letter heights: a gap within a line that parts two cells, one that parts two words.
_CELL, _WORD = 1.05, 0.18
_ENDS = re.compile(r"[。．！？!?：:」）)]$")
_BEGINS = re.compile(
    r"^(?:[・●○■□◆◇▪•*※–-]|[(（]?[0-9０-９一二三四五六七八九十]{1,3}[)）.．、]|[①-⑳]|第[0-9０-９一二三四五六七八九十]+[条章節項])"
)
_WIDE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Line:
    """text: cells with a space between; spans: left and right of each cell; size: of its
    letters; all in points, the page's origin at the bottom left. edge: at the top or the
    bottom of its page."""

    text: str
    cells: list[str]
    spans: list[tuple[float, float]]
    size: float
    top: float
    bottom: float
    right: float
    edge: bool = False


def lines_of(page: pypdfium2.PdfPage, most: int) -> list[Line]:
    """In the file's order, which is the reading order as a rule. most: letters that are read."""
    lines: list[list[Letter]] = []
    for letter in letters_of(page, most):
        if lines and _same(lines[-1], letter):
            lines[-1].append(letter)
        elif letter.text.strip():
            lines.append([letter])
    made = [line for letters in lines if (line := _line(letters)).text]
    high, low = max((x.top for x in made), default=0.0), min((x.bottom for x in made), default=0.0)
    return [replace(x, edge=x.top > high - 2 * x.size or x.bottom < low + 2 * x.size) for x in made]


def _same(line: list[Letter], letter: Letter) -> bool:
    """Whether the letter stands on the line's base."""
    before = line[-1]
    height = max(before.size, letter.size, 1.0)
    return abs(before.base - letter.base) < 0.35 * height


def _line(letters: list[Letter]) -> Line:
    shown = sorted((x for x in letters if x.text.strip()), key=lambda x: x.left)
    if _ordered(letters):
        shown = [x for x in letters if x.text.strip()]
    spaces = _spaces(letters)
    cells: list[str] = []
    spans: list[tuple[float, float]] = []
    for letter in shown:
        gap = letter.left - spans[-1][1] if spans else 0.0
        if not spans or gap > _CELL * letter.size:
            cells.append(letter.text)
            spans.append((letter.left, letter.right))
            continue
        tight = _WIDE.match(letter.text) and _WIDE.match(cells[-1][-1])
        if id(letter) in spaces or gap > (0.4 if tight else _WORD) * letter.size:
            cells[-1] += " "
        cells[-1] += letter.text
        spans[-1] = (spans[-1][0], max(spans[-1][1], letter.right))
    sizes = sorted(x.size for x in shown)
    return Line(
        one_line(" ".join(cells)),
        [one_line(cell) for cell in cells],
        spans,
        sizes[len(sizes) // 2] if sizes else 0.0,
        max((x.top for x in shown), default=0.0),
        min((x.bottom for x in shown), default=0.0),
        max((x.right for x in shown), default=0.0),
    )


def _ordered(letters: Sequence[Letter]) -> bool:
    shown = [x for x in letters if x.text.strip()]
    return all(a.left <= b.left + 0.5 for a, b in pairwise(shown))


def _spaces(letters: Sequence[Letter]) -> set[int]:
    """Letters (by identity) right after a space that the file holds."""
    return {id(b) for a, b in pairwise(letters) if not a.text.strip()}


def join(lines: Sequence[Line], right: float) -> str:
    """A paragraph of lines: those that go on in the next are put together, without a space
    between Japanese letters. right: where the page's longest line ends."""
    text = ""
    for before, line in zip((None, *lines), lines, strict=False):
        if before is None:
            text = line.text
            continue
        full = before.right > right - 2.5 * before.size
        goes_on = full and not _ENDS.search(before.text) and not _BEGINS.match(line.text)
        if not goes_on:
            text += "\n"
        elif not (_WIDE.match(text[-1]) or _WIDE.match(line.text[0])):
            text = text[:-1] if text.endswith("-") else text + " "
        text += line.text
    return text


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
                page = _with_notes(document, number)
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


def _with_notes(document: pypdfium2.PdfDocument, number: int) -> pypdfium2.PdfPage:
    """A page; what its annotations and fields show is drawn on it, hidden ones are not."""
    page = document[number]
    if not pdfium.FPDFPage_GetAnnotCount(page.raw):
        return page
    drawn = pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY)
    if drawn != pdfium.FLATTEN_SUCCESS:
        return page
    page.close()
    return document[number]


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
