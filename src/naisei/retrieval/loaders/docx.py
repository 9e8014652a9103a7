"""Word documents: paragraphs, headings by style or outline level, tables; no hidden text."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Set
from typing import Any

import docx
from docx.oxml.ns import qn
from pydantic import JsonValue

from naisei.lang import say
from naisei.retrieval.loaders.blocks import Blocks, Read, TooLong
from naisei.retrieval.types import LoadLimits, Unreadable

__all__ = [
    "SKIPPED",
    "broken",
    "elements",
    "heading_level",
    "heading_styles",
    "hidden",
    "hiding_styles",
    "open_docx",
    "read_docx",
    "shaded",
    "shown_text",
]


#: Taken out by a tracked change, moved away, a field's code, the older copy of a drawing.
SKIPPED = frozenset(
    {qn(tag) for tag in ("w:del", "w:moveFrom", "w:instrText", "w:delText", "w:pPr", "w:rPr")}
    | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
_BREAKS = frozenset({qn("w:br"), qn("w:cr")})
_WHITE = frozenset({"ffffff", "fefefe", "fdfdfd", "fcfcfc"})
_HEX = re.compile("[0-9a-f]{6}")
#: Theme colours that are the paper's, in the themes that Word brings along.
_PAPER = frozenset({"background1", "bg1", "light1", "lt1"})
_THEME, _SHADE, _TINT = qn("w:themeColor"), qn("w:themeShade"), qn("w:themeTint")
_RSTYLE = qn("w:rStyle")
#: Among styles: everything in the paragraph.
_ALL = "*"
#: Half points: smaller letters than 1.5 points cannot be read.
_SMALLEST = 3
_COLOR = qn("w:color")
_FILL = qn("w:fill")
_HIGHLIGHT = qn("w:highlight")
_NOBREAKHYPHEN = qn("w:noBreakHyphen")
_P = qn("w:p")
_PPR = qn("w:pPr")
_R = qn("w:r")
_RPR = qn("w:rPr")
_SHD = qn("w:shd")
_SZ = qn("w:sz")
_T = qn("w:t")
_TAB = qn("w:tab")
_TC = qn("w:tc")
_TCPR = qn("w:tcPr")
_VAL = qn("w:val")
_VANISH = qn("w:vanish")
_WEBHIDDEN = qn("w:webHidden")


def shown_text(paragraph: Any, styles: Set[str] = frozenset()) -> str:
    """Its runs in order, line breaks as `\\n`. Left out: hidden text, deleted text, letters of
    nearly the colour of their ground, letters too small to read, by themselves or by style.
    styles: of `hiding_styles`."""
    found: list[str] = []
    dark = shaded(paragraph.find(_PPR)) or any(
        shaded(cell.find(_TCPR)) for cell in paragraph.iterancestors(_TC)
    )
    own = paragraph.find(f"{_PROPERTIES}/{_PSTYLE}")
    if own is not None and own.get(_VALUE, "") in styles and not dark:
        styles = styles | {_ALL}
    _collect(paragraph, found, dark, styles)
    return "".join(found)


def _collect(element: Any, found: list[str], dark: bool, styles: Set[str]) -> None:
    # A paragraph inside another (a text box) ends a line.
    for child in element.iterchildren():
        tag = child.tag
        if tag in SKIPPED or not isinstance(tag, str):
            continue
        if tag == _R and hidden(child.find(_RPR), dark, styles):
            continue
        if tag == _T:
            found.append(child.text or "")
        elif tag == _TAB:
            found.append("\t")
        elif tag in _BREAKS:
            found.append("\n")
        elif tag == _NOBREAKHYPHEN:
            found.append("-")
        else:
            _collect(child, found, dark, styles)
            if tag == _P:
                found.append("\n")


def hidden(properties: Any, dark: bool, styles: Set[str] = frozenset()) -> bool:
    """Whether a run with these properties (or None) is not seen. dark: the ground it is on.
    styles: of `hiding_styles`."""
    if properties is None:
        return _ALL in styles
    style = properties.find(_RSTYLE)
    by_style = _ALL in styles or (style is not None and style.get(_VAL, "") in styles)
    # What a run says of itself goes before its style.
    again = properties.find(_VANISH) is not None or properties.find(_COLOR) is not None
    if by_style and not again and properties.find(_SZ) is None:
        return True
    if _on(properties.find(_VANISH)) or _on(properties.find(_WEBHIDDEN)):
        return True
    size = properties.find(_SZ)
    if size is not None and (value := size.get(_VAL, "")).isdigit() and int(value) < _SMALLEST:
        return True
    color = properties.find(_COLOR)
    white = color is not None and _whitish(color)
    marked = properties.find(_HIGHLIGHT)
    lit = marked is not None and marked.get(_VAL) not in (None, "none", "white")
    return white and not dark and not lit and not shaded(properties)


def _whitish(color: Any) -> bool:
    """Nearly the colour of paper: #f5f5f5 and lighter, or the theme's colour of the page."""
    theme = (color.get(_THEME) or "").lower()
    if theme:
        shade, tint = color.get(_SHADE), color.get(_TINT)
        return theme in _PAPER and (shade or "ff").lower() >= "f0" and tint is None
    value = (color.get(_VAL) or "").lower()
    return _HEX.fullmatch(value) is not None and min(bytes.fromhex(value)) >= 0xF4


def hiding_styles(document: Any) -> frozenset[str]:
    """Ids of the styles whose text is not seen, those based on such a one included."""
    hides: set[str] = set()
    base: dict[str, str] = {}
    for style in document.part._styles_part.element.iterchildren(_STYLE):
        number = style.get(_STYLE_ID, "")
        if style.find(_RPR) is not None and hidden(style.find(_RPR), shaded(style.find(_PPR))):
            hides.add(number)
        parent = style.find(_BASED_ON)
        if parent is not None and style.find(f"{_RPR}/{_COLOR}") is None:
            base[number] = parent.get(_VALUE, "")
    for number in list(base):
        at, steps = number, 0
        while at not in hides and at in base and steps < 10:
            at, steps = base[at], steps + 1
        if at in hides:
            hides.add(number)
    return frozenset(hides)


def _on(switch: Any) -> bool:
    return switch is not None and switch.get(_VAL, "1").lower() not in ("0", "false", "off")


def shaded(properties: Any) -> bool:
    """Whether these properties (or None) give a ground that white letters are seen on."""
    shade = properties.find(_SHD) if properties is not None else None
    fill = "auto" if shade is None else (shade.get(_FILL) or "auto").lower()
    return fill not in _WHITE and fill != "auto"


_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADING = re.compile(r"^(?:heading|見出し)\s*([1-9])$", re.IGNORECASE)
_DEEPEST = 50
_PARAGRAPH, _TABLE, _ROW, _CELL = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_CONTROL, _CONTENT = qn("w:sdt"), qn("w:sdtContent")
_PROPERTIES, _OUTLINE, _PSTYLE = qn("w:pPr"), qn("w:outlineLvl"), qn("w:pStyle")
_NUMBERED, _CELL_PROPERTIES, _MERGE = qn("w:numPr"), qn("w:tcPr"), qn("w:vMerge")
_STYLE, _STYLE_ID, _NAME = qn("w:style"), qn("w:styleId"), qn("w:name")
_BASED_ON, _VALUE = qn("w:basedOn"), qn("w:val")


def read_docx(name: str, data: bytes, limits: LoadLimits) -> Read:
    """Raises:
    Unreadable: protected by a password, broken, larger than `limits.inflated` unpacked.
    """
    document = open_docx(name, data, inflated=limits.inflated)
    try:
        levels, styles = heading_styles(document), hiding_styles(document)
        blocks = Blocks(limits.characters)
        for kind, element in elements(document.element.body):
            if kind == "table":
                _table(blocks, element, styles)
                continue
            text = shown_text(element, styles)
            level = heading_level(element, levels)
            if level == 0 and text.strip() and not blocks.first:
                blocks.first = text.strip()  # the title stands above, not over, the rest
                blocks.heading(1, text)
            elif level:
                blocks.heading(level, text)
            else:
                blocks.text(f"- {text}" if text.strip() and _listed(element) else text)
        core = document.core_properties
        meta: dict[str, JsonValue] = {"author": core.author} if core.author else {}
    except (Unreadable, TooLong):
        raise
    # python-docx meets a damaged package with errors of zipfile, lxml and its own, KeyError …
    except Exception as error:
        raise broken(name, error) from error
    title = "" if core.title in (None, "", "Word Document") else core.title.strip()
    return Read(blocks.passages, blocks.first or title, meta)


def open_docx(name: str, data: bytes, *, inflated: int) -> Any:
    """python-docx's document. name: for messages. inflated: bytes that it may have unpacked.

    Raises:
        Unreadable: protected by a password, broken, larger.
    """
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
        raise broken(name, error) from error
    if locked:
        raise Unreadable(name, say("パスワードで保護されています", "protected by a password"))
    if size > inflated:
        most = f"{inflated:,}"
        raise Unreadable(
            name,
            say(f"展開すると {most} バイトを超えます", f"more than {most} bytes once unpacked"),
        )
    try:
        return docx.Document(io.BytesIO(data))
    except Exception as error:
        raise broken(name, error) from error


def broken(name: str, error: Exception) -> Unreadable:
    """The message for whatever a damaged package makes a reader raise."""
    why = say("壊れた Word 文書です", "a broken Word document")
    return Unreadable(name, f"{why} ({type(error).__name__})")


def elements(parent: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Paragraphs and tables in reading order, those within content controls too."""
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
    """Style id → level of heading from 1, 0 for the title, by name or by outline level."""
    own: dict[str, int] = {}
    base: dict[str, str] = {}
    for style in document.part._styles_part.element.iterchildren(_STYLE):
        number, name = style.get(_STYLE_ID, ""), style.find(_NAME)
        called = "" if name is None else name.get(_VALUE, "").strip()
        outline = style.find(f"{_PROPERTIES}/{_OUTLINE}")
        if named := _HEADING.match(called):
            own[number] = int(named[1])
        elif called.lower() in ("title", "表題"):
            own[number] = 0
        elif outline is not None and outline.get(_VALUE, "9") < "9":
            own[number] = int(outline.get(_VALUE)) + 1
        if (parent := style.find(_BASED_ON)) is not None:
            base[number] = parent.get(_VALUE, "")
    found: dict[str, int] = {}
    for number in {*own, *base}:
        at, steps = number, 0
        while at not in own and at in base and steps < 10:
            at, steps = base[at], steps + 1
        if at in own:
            found[number] = own[at]
    return found


def heading_level(paragraph: Any, levels: dict[str, int]) -> int | None:
    """From 1; 0 for the title, `None` for text. levels: of `heading_styles`."""
    own = paragraph.find(f"{_PROPERTIES}/{_OUTLINE}")
    if own is not None and own.get(_VALUE, "9") < "9":
        return int(own.get(_VALUE)) + 1
    style = paragraph.find(f"{_PROPERTIES}/{_PSTYLE}")
    return None if style is None else levels.get(style.get(_VALUE, ""))


def _listed(paragraph: Any) -> bool:
    return paragraph.find(f"{_PROPERTIES}/{_NUMBERED}") is not None


def _table(blocks: Blocks, table: Any, styles: Set[str]) -> None:
    rows: list[list[str]] = []
    for line in table.iter(_ROW):
        if line.getparent() is not table and _owner(line) is not table:
            continue
        cells: list[str] = []
        for cell in line.iter(_CELL):
            if _row_of(cell) is not line:
                continue
            if cell.find(f"{_CELL_PROPERTIES}/{_MERGE}") is not None:
                merge = cell.find(f"{_CELL_PROPERTIES}/{_MERGE}")
                if merge.get(_VALUE) != "restart" and rows and len(cells) < len(rows[-1]):
                    cells.append(rows[-1][len(cells)])
                    continue
            cells.append("\n".join(shown_text(p, styles) for p in cell.iter(_PARAGRAPH)))
        rows.append(cells)
    blocks.table(rows)


def _owner(line: Any) -> Any:
    return next(line.iterancestors(_TABLE), None)


def _row_of(cell: Any) -> Any:
    return next(cell.iterancestors(_ROW), None)
