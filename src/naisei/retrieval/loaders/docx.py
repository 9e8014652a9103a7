"""Word documents: paragraphs, headings by style or outline level, tables; no hidden text."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import docx
from docx.oxml.ns import qn
from pydantic import JsonValue

from naisei.lang import say
from naisei.retrieval.limits import LoadLimits
from naisei.retrieval.loaders.blocks import Blocks, Read
from naisei.retrieval.loaders.docx_text import shown_text
from naisei.retrieval.unreadable import Unreadable

__all__ = ["read_docx"]

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADING = re.compile(r"^(?:heading|見出し)\s*([1-9])$", re.IGNORECASE)
_DEEPEST = 50


def read_docx(name: str, data: bytes, limits: LoadLimits) -> Read:
    """Raises:
    Unreadable: protected by a password, broken, larger than `limits.inflated` unpacked.
    """
    _check(name, data, limits)
    try:
        document = docx.Document(io.BytesIO(data))
        levels = _levels(document)
        blocks = Blocks()
        for kind, element in _elements(document.element.body):
            if kind == "table":
                _table(blocks, element)
                continue
            text = shown_text(element)
            level = _outline(element, levels)
            if level == 0 and text.strip() and not blocks.first:
                blocks.first = text.strip()  # the title stands above, not over, the rest
                blocks.heading(1, text)
            elif level:
                blocks.heading(level, text)
            else:
                blocks.text(f"- {text}" if text.strip() and _listed(element) else text)
        core = document.core_properties
        meta: dict[str, JsonValue] = {"author": core.author} if core.author else {}
    except Unreadable:
        raise
    # python-docx meets a damaged package with errors of zipfile, lxml and its own, KeyError …
    except Exception as error:
        why = say("壊れた Word 文書です", "a broken Word document")
        raise Unreadable(name, f"{why} ({type(error).__name__})") from error
    title = "" if core.title in (None, "", "Word Document") else core.title.strip()
    return Read(blocks.passages, blocks.first or title, meta)


def _check(name: str, data: bytes, limits: LoadLimits) -> None:
    if data.startswith(_OLE):
        raise Unreadable(
            name,
            say(
                "パスワードで保護されているか、旧形式(.doc)です",
                "protected by a password, or of the old .doc format",
            ),
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # What is declared is also the most that zipfile unpacks.
            size = sum(part.file_size for part in archive.infolist())
            locked = any(part.flag_bits & 1 for part in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        why = say("壊れた Word 文書です", "a broken Word document")
        raise Unreadable(name, f"{why} ({type(error).__name__})") from error
    if locked:
        raise Unreadable(name, say("パスワードで保護されています", "protected by a password"))
    if size > limits.inflated:
        most = f"{limits.inflated:,}"
        raise Unreadable(
            name,
            say(f"展開すると {most} バイトを超えます", f"more than {most} bytes once unpacked"),
        )


def _elements(parent: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Paragraphs and tables in reading order, those within content controls too."""
    for element in parent:
        if element.tag == qn("w:p"):
            yield "paragraph", element
        elif element.tag == qn("w:tbl"):
            yield "table", element
        elif element.tag == qn("w:sdt") and depth < _DEEPEST:
            content = element.find(qn("w:sdtContent"))
            if content is not None:
                yield from _elements(content, depth + 1)


def _levels(document: Any) -> dict[str, int]:
    """Style id → level of heading from 1, 0 for the title, by name or by outline level."""
    found: dict[str, int] = {}
    for style in document.styles:
        if style.element.tag != qn("w:style"):
            continue
        at, steps = style, 0
        while at is not None and steps < 10:
            named = _HEADING.match(at.name or "")
            outline = at.element.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}")
            if (at.name or "").lower() in ("title", "表題"):
                found[style.style_id] = 0
                break
            if named or (outline is not None and outline.get(qn("w:val"), "9") < "9"):
                level = int(named[1]) if named else int(outline.get(qn("w:val"))) + 1
                found[style.style_id] = level
                break
            at, steps = getattr(at, "base_style", None), steps + 1
    return found


def _outline(paragraph: Any, levels: dict[str, int]) -> int | None:
    own = paragraph.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}")
    if own is not None and own.get(qn("w:val"), "9") < "9":
        return int(own.get(qn("w:val"))) + 1
    style = paragraph.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
    return None if style is None else levels.get(style.get(qn("w:val"), ""))


def _listed(paragraph: Any) -> bool:
    return paragraph.find(f"{qn('w:pPr')}/{qn('w:numPr')}") is not None


def _table(blocks: Blocks, table: Any) -> None:
    rows: list[list[str]] = []
    for line in table.iter(qn("w:tr")):
        if line.getparent() is not table and _owner(line) is not table:
            continue
        cells: list[str] = []
        for cell in line.iter(qn("w:tc")):
            if _row_of(cell) is not line:
                continue
            if cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}") is not None:
                merge = cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
                if merge.get(qn("w:val")) != "restart" and rows and len(cells) < len(rows[-1]):
                    cells.append(rows[-1][len(cells)])
                    continue
            cells.append("\n".join(shown_text(p) for p in cell.iter(qn("w:p"))))
        rows.append(cells)
    blocks.table(rows)


def _owner(line: Any) -> Any:
    return next(line.iterancestors(qn("w:tbl")), None)


def _row_of(cell: Any) -> Any:
    return next(cell.iterancestors(qn("w:tr")), None)
