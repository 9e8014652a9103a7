"""Word documents: paragraphs, headings by style or outline level, tables; no hidden text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import takewhile
from typing import Any

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from pydantic import JsonValue

from naisei.lang import say
from naisei.retrieval.loaders.blocks import Read
from naisei.retrieval.loaders.docx_runs import (
    BASED_ON,
    NAME,
    OUTLINE,
    PROPERTIES,
    PSTYLE,
    RUN,
    RUN_PROPERTIES,
    STYLE,
    STYLE_ID,
    VALUE,
    Numbers,
    is_on,
    shown_text,
    unseen_styles,
)
from naisei.retrieval.loaders.html import read_html
from naisei.retrieval.loaders.packages import unpacked
from naisei.retrieval.types import LoadLimits, Unreadable

_HEADING = re.compile(r"^(?:heading|見出し)\s*([1-9])$", re.IGNORECASE)
_DEEPEST = 50
_PARAGRAPH, _TABLE, _ROW, _CELL = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_CONTROL, _CONTENT = qn("w:sdt"), qn("w:sdtContent")
_CELL_PROPERTIES, _MERGE, _SPAN = qn("w:tcPr"), qn("w:vMerge"), qn("w:gridSpan")


def read_docx(name: str, data: bytes, limits: LoadLimits) -> Read:
    """Convert to HTML and read that.

    Raises:
        Unreadable: protected by a password, broken, larger than `limits.inflated` unpacked.
    """
    document = open_docx(name, data, inflated=limits.inflated)
    try:
        page = "".join(_Page(document).html())
        core = document.core_properties
        meta: dict[str, JsonValue] = {"author": core.author} if core.author else {}
        named = "" if core.title in (None, "Word Document") else core.title.strip()
    except Unreadable:
        raise
    # On damaged files python-docx raises errors of zipfile and lxml, its own, KeyError …
    except Exception as error:
        raise broken(name, error) from error
    read = read_html(page, limits.characters)
    return Read(read.passages, read.title or named, meta)


class _Page:
    """A document as HTML: headings, paragraphs with list numbers, tables."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._levels, self._styles = heading_styles(document), unseen_styles(document)
        self._numbers = Numbers(document)
        self._notes = dict(_footnotes(document))

    def html(self) -> Iterator[str]:
        titled = begun = False
        depth = 0
        for kind, element in elements(self._document.element.body):
            text = "" if kind == "table" else self._text(element)
            level = heading_level(element, self._levels)
            mark, deep = self._numbers.next(element) if text.strip() else ("", 0)
            listed = deep if kind != "table" and level is None else 0
            yield "<ul><li>" * (listed - depth) + "</li></ul>" * (depth - listed)
            if listed and depth >= listed:
                yield "</li><li>"
            depth = listed
            if kind == "table":
                yield self._table(element)
            elif not titled and (level == 0 or (_titles(text) and not begun)) and not listed:
                titled = True  # the title is no heading of the rest
                yield f"<title>{escape(text)}</title><h1>{escape(text)}</h1>"
            elif level:
                yield f"<h{min(level, 6)}>{escape(mark + text)}</h{min(level, 6)}>"
            elif listed:
                yield _lines(mark + text)
            elif _bold(element):
                yield f"<p><b>{_lines(mark + text)}</b></p>"
            elif not _leads(element):
                yield f"<p>{_lines(mark + text)}</p>"
            begun = begun or kind == "table" or bool(text.strip())
        yield "</li></ul>" * depth
        for element in _ends(self._document):
            yield f"<p>{_lines(shown_text(element, self._styles))}</p>"

    def _text(self, paragraph: Any) -> str:
        """The paragraph with footnotes inserted at their references."""
        text = shown_text(paragraph, self._styles)
        for tag in _NOTE_REFERENCES:
            for each in paragraph.iter(tag):
                if note := self._notes.get((tag, each.get(_NUMBER))):
                    text += f"（注：{shown_text(note, self._styles).strip()}）"
        return text

    def _table(self, table: Any) -> str:
        made = ["<table>"]
        lines = [
            line
            for line in table.iter(_ROW)
            if _owner(line) is table and not is_on(line.find(_HIDDEN_ROW))
        ]
        rows = [_cells(line) for line in lines]
        heads = [line.find(_HEADER_ROW) is not None for line in lines]
        for n, cells in enumerate(rows):
            made.append("<tr>")
            for at, (cell, wide, merge) in cells.items():
                if merge == "continue":
                    continue
                below = [row.get(at, (None, 0, ""))[2] for row in rows[n + 1 :]] if merge else []
                high = 1 + sum(1 for _ in takewhile("continue".__eq__, below))
                text = "\n".join(self._text(p) for p in cell.iter(_PARAGRAPH))
                tag = "th" if heads[n] else "td"
                made.append(f"<{tag} colspan={wide} rowspan={high}>{_lines(text)}</{tag}>")
            made.append("</tr>")
        return "".join([*made, "</table>"])


#: A first paragraph that is a title; form numbers and dates are not.
_TITLE = re.compile(r"(?!第|様式|別[紙記表]|.*\d年)[^。、：:\n]{2,40}(?<![）)])")


def _bold(paragraph: Any) -> bool:
    """Whether all of its text is set in bold directly."""
    runs = [run for run in paragraph.iter(RUN) if "".join(run.itertext()).strip()]
    return bool(runs) and all(is_on(run.find(_BOLD)) for run in runs)


def _leads(paragraph: Any) -> bool:
    """Whether it is a table-of-contents line."""
    return any("PAGEREF" in (code.text or "") for code in paragraph.iter(_CODE))


def _titles(text: str) -> bool:
    return _TITLE.fullmatch(text.strip()) is not None


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _cells(line: Any) -> dict[int, tuple[Any, int, str]]:
    """Map a row's columns to (cell, column span, `restart`, `continue` or nothing)."""
    found: dict[int, tuple[Any, int, str]] = {}
    before = line.find(_SKIPPED_COLUMNS)
    at = 0 if before is None else int(before.get(VALUE, "0"))
    for cell in line.iter(_CELL):
        if _row_of(cell) is not line:
            continue
        span, merge = (cell.find(f"{_CELL_PROPERTIES}/{tag}") for tag in (_SPAN, _MERGE))
        wide = 1 if span is None else max(1, int(span.get(VALUE, "1")))
        found[at] = cell, wide, "" if merge is None else merge.get(VALUE, "continue")
        at += wide
    return found


_PAGE_NUMBER = re.compile(r"[-–—\s]*(?:page\s*)?\d{0,4}(?:\s*(?:/|of)\s*\d{0,4})?[-–—\s]*", re.I)
_NOTES = tuple(f"{kind}notes" for kind in ("foot", "end"))
_NUMBER, _NOTE_TYPE = qn("w:id"), qn("w:type")
_BOLD, _CODE = f"{RUN_PROPERTIES}/{qn('w:b')}", qn("w:instrText")


_NOTE_REFERENCES = (qn("w:footnoteReference"), qn("w:endnoteReference"))


def _footnotes(document: Any) -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield ((reference tag, id), note)."""
    for part in document.part.rels.values():
        kind = part.reltype.rpartition("/")[2]
        if kind in _NOTES and not part.is_external:
            for note in parse_xml(part.target_part.blob).iterchildren():
                if note.get(_NOTE_TYPE) is None:
                    yield (qn(f"w:{kind[:-1]}Reference"), note.get(_NUMBER)), note


def _ends(document: Any) -> Iterator[Any]:
    """Yield the paragraphs of page headers and footers once."""
    told: set[str] = set()
    for section in document.sections:
        ends = [section.header, section.footer]
        if section.different_first_page_header_footer:
            ends += [section.first_page_header, section.first_page_footer]
        for end in ends:
            if end.is_linked_to_previous:
                continue
            for paragraph in end._element.iter(_PARAGRAPH):
                text = "".join(paragraph.itertext()).strip()
                if text not in told and not _PAGE_NUMBER.fullmatch(text):
                    yield paragraph
                told.add(text)


def open_docx(name: str, data: bytes, *, inflated: int) -> Any:
    """Open with python-docx. name: for messages. inflated: most bytes when unpacked.

    Raises:
        Unreadable: password-protected, broken or too large.
    """
    try:
        return docx.Document(unpacked(name, data, inflated))
    except Unreadable:
        raise
    except Exception as error:
        raise broken(name, error) from error


def broken(name: str, error: Exception) -> Unreadable:
    """The error for any exception raised on a damaged file."""
    why = say("壊れた Word 文書です", "a broken Word document")
    return Unreadable(name, f"{why} ({type(error).__name__})")


def elements(parent: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield paragraphs and tables in reading order, also in content controls."""
    for element in parent.iterchildren():
        if element.tag == _PARAGRAPH:
            yield "paragraph", element
        elif element.tag == _TABLE:
            yield "table", element
        elif element.tag == _CONTROL and depth < _DEEPEST:
            content = element.find(_CONTENT)
            if content is not None:
                yield from elements(content, depth + 1)


def heading_styles(document: Any) -> dict[str, int]:
    """Map style ids to heading levels from 1 (0: title), by name or outline level."""
    own: dict[str, int] = {}
    base: dict[str, str] = {}
    for style in document.part._styles_part.element.iterchildren(STYLE):
        number, name = style.get(STYLE_ID, ""), style.find(NAME)
        called = "" if name is None else name.get(VALUE, "").strip()
        outline = style.find(f"{PROPERTIES}/{OUTLINE}")
        if named := _HEADING.match(called):
            own[number] = int(named[1])
        elif called.lower() in ("title", "表題"):
            own[number] = 0
        elif outline is not None and outline.get(VALUE, "9") < "9":
            own[number] = int(outline.get(VALUE)) + 1
        if (parent := style.find(BASED_ON)) is not None:
            base[number] = parent.get(VALUE, "")
    found: dict[str, int] = {}
    for number in {*own, *base}:
        at, steps = number, 0
        while at not in own and at in base and steps < 10:
            at, steps = base[at], steps + 1
        if at in own:
            found[number] = own[at]
    return found


def heading_level(paragraph: Any, levels: dict[str, int]) -> int | None:
    """Heading level from 1; 0: title; `None`: text. levels: see `heading_styles`."""
    own = paragraph.find(f"{PROPERTIES}/{OUTLINE}")
    if own is not None and own.get(VALUE, "9") < "9":
        return int(own.get(VALUE)) + 1
    style = paragraph.find(f"{PROPERTIES}/{PSTYLE}")
    return None if style is None else levels.get(style.get(VALUE, ""))


_HIDDEN_ROW = f"{qn('w:trPr')}/{qn('w:hidden')}"
_HEADER_ROW = f"{qn('w:trPr')}/{qn('w:tblHeader')}"
_SKIPPED_COLUMNS = f"{qn('w:trPr')}/{qn('w:gridBefore')}"


def _owner(line: Any) -> Any:
    return next(line.iterancestors(_TABLE), None)


def _row_of(cell: Any) -> Any:
    return next(cell.iterancestors(_ROW), None)
