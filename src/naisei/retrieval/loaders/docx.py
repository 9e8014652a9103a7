"""Word documents: paragraphs, headings by style or outline level, tables; no hidden text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import takewhile
from types import MappingProxyType
from typing import Any

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from pydantic import JsonValue

from naisei.lang import say
from naisei.retrieval.loaders.blocks import Read
from naisei.retrieval.loaders.docx_numbers import Numbers
from naisei.retrieval.loaders.html import read_html
from naisei.retrieval.loaders.packages import unpacked
from naisei.retrieval.types import LoadLimits, Unreadable

#: Taken out by a tracked change, moved away, a field's code, the older copy of a drawing.
SKIPPED = frozenset(
    {qn(tag) for tag in ("w:del", "w:moveFrom", "w:instrText", "w:delText", "w:pPr", "w:rPr")}
    | {qn("w:rt")}  # the reading of a word, not the word
    | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
_BREAKS = frozenset({qn("w:br"), qn("w:cr")})
_WHITE = frozenset({"", "ffffff", "fefefe", "fdfdfd", "fcfcfc"})
#: Of 255: letters of #f4f4f4 are not seen on white.
_NEAR = 12
_NONE: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
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
_STRUCK = (qn("w:strike"), qn("w:dstrike"))
_SPACING, _LINE, _LINE_RULE = qn("w:spacing"), qn("w:line"), qn("w:lineRule")
#: Twentieths of a point: lines of 2 points.
_LOWEST = 40
_TYPE, _DEFAULT = qn("w:type"), qn("w:default")
_DEFAULTS = "/".join(map(qn, ("w:docDefaults", "w:rPrDefault", "w:rPr")))
_WORD_2010 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_TEXT_FILL, _NO_FILL = f"{_WORD_2010}textFill", f"{_WORD_2010}noFill"


_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_ART = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SHAPE = "{http://schemas.microsoft.com/office/word/2010/wordprocessingShape}"
_ANCHOR, _BOX, _ALPHA = f"{_DRAWING}anchor", qn("w:txbxContent"), f"{_ART}alpha"
_FILLED = f".//{_SHAPE}spPr/{_ART}solidFill"
#: A shape's opacity in thousandths of a per cent; height of a line and a width that leaves little
#: beside it, in English Metric Units (914,400 an inch).
_OPAQUE, _LINE_HIGH, _WIDE = 90_000, 180_000, 3_000_000


Fonts = Mapping[str, Mapping[str, Any]]


def shown_text(paragraph: Any, styles: Fonts = _NONE) -> str:
    """Its runs in order, line breaks as `\\n`. Left out: hidden text, deleted text, letters of
    nearly the colour of their ground, letters or lines too small to read, by themselves or by
    style. styles: of `fonts`."""
    found: list[str] = []
    properties = paragraph.find(_PPR)
    if _flat(properties):
        return ""
    if any(_covers(anchor) for anchor in paragraph.iter(_ANCHOR)):
        # What stands in the shape is seen; the paragraph under it is not.
        inner = [shown_text(p, styles) for box in paragraph.iter(_BOX) for p in box.iter(_P)]
        return "\n".join(inner)
    own = paragraph.find(f"{_PROPERTIES}/{_PSTYLE}")
    font = styles.get("" if own is None else own.get(_VALUE, ""), styles.get("", {}))
    cells = (shaded(cell.find(_TCPR)) for cell in paragraph.iterancestors(_TC))
    ground = shaded(properties) or font.get("ground", "") or next(filter(None, cells), "")
    _collect(paragraph, found, ground, {**styles, _ALL: font})
    return "".join(found)


def _covers(anchor: Any) -> bool:
    """Whether a drawing lies over the whole paragraph that it is anchored in, and hides it."""
    down, across = (anchor.find(f"{_DRAWING}position{axis}") for axis in "VH")
    extent, filled = anchor.find(f"{_DRAWING}extent"), anchor.find(_FILLED)
    if down is None or across is None or extent is None or filled is None:
        return False
    if anchor.get("behindDoc") in ("1", "true") or anchor.find(f"{_DRAWING}wrapNone") is None:
        return False
    near = down.get("relativeFrom") in ("paragraph", "line") and across.get("relativeFrom") in (
        "column",
        "margin",
        "character",
    )
    opaque = all(int(a.get("val", "0")) >= _OPAQUE for a in filled.iter(_ALPHA))
    places = [int(p.findtext(f"{_DRAWING}posOffset") or "0") for p in (down, across)]
    wide, high = (int(extent.get(side, "0")) for side in ("cx", "cy"))
    return (
        near
        and opaque
        and max(places) <= _LINE_HIGH // 2
        and wide >= _WIDE
        and (high + places[0] >= _LINE_HIGH)
    )


def _flat(properties: Any) -> bool:
    """Whether lines are as low as a hair."""
    lines = properties.find(_SPACING) if properties is not None else None
    if lines is None or lines.get(_LINE_RULE) != "exact":
        return False
    high = lines.get(_LINE, "")
    return high.isdigit() and int(high) <= _LOWEST


def _collect(element: Any, found: list[str], ground: str, styles: Fonts) -> None:
    # A paragraph inside another (a text box) ends a line.
    for child in element.iterchildren():
        tag = child.tag
        if tag in SKIPPED or not isinstance(tag, str):
            continue
        if tag == _R and hidden(child.find(_RPR), ground, styles):
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
            _collect(child, found, ground, styles)
            if tag == _P:
                found.append("\n")


def hidden(properties: Any, ground: str, styles: Fonts = _NONE) -> bool:
    """Whether a run with these properties (or None) is not seen. ground: the colour that it is
    on, of `shaded`. styles: of `fonts`."""
    font = dict(styles.get(_ALL, {}))
    font.pop("ground", None)  # the paragraph's, which is in `ground`
    if properties is not None:
        style = properties.find(_RSTYLE)
        if style is not None:
            font |= styles.get(style.get(_VAL, ""), {})
        font |= _font(properties)
    if font.get("vanish") or font.get("struck"):
        return True
    if 0 <= font.get("size", _SMALLEST) < _SMALLEST or font.get("unfilled"):
        return True
    color = font.get("color")
    return color is not None and _alike(color, font.get("ground") or ground or "ffffff")


def _font(properties: Any) -> dict[str, Any]:
    """What decides whether letters are seen, as far as it is said here."""
    found: dict[str, Any] = {}
    for child in properties.iterchildren():
        value = child.get(_VAL)
        match child.tag:
            case tag if tag == _VANISH:
                found["vanish"] = _on(child)
            case tag if tag in _STRUCK:
                found["struck"] = _on(child)
            case tag if tag == _SZ and (value or "").isdigit():
                found["size"] = int(value)
            case tag if tag == _COLOR:
                found["color"] = child
            case tag if tag == _HIGHLIGHT and value:
                found["ground"] = _MARKERS.get(value.lower(), "")
            case tag if tag == _SHD:
                found.setdefault("ground", shaded(properties))
            case tag if tag == _TEXT_FILL:
                found["unfilled"] = child.find(_NO_FILL) is not None
    return found


#: Of a highlighter.
_MARKERS = {
    "black": "000000",
    "blue": "0000ff",
    "cyan": "00ffff",
    "green": "00ff00",
    "magenta": "ff00ff",
    "red": "ff0000",
    "yellow": "ffff00",
    "white": "ffffff",
    "darkblue": "000080",
    "darkcyan": "008080",
    "darkgreen": "008000",
    "darkmagenta": "800080",
    "darkred": "800000",
    "darkyellow": "808000",
    "darkgray": "808080",
    "lightgray": "c0c0c0",
}


def _alike(color: Any, ground: str) -> bool:
    """Whether letters of a colour are not seen on a ground: #f5f5f5 is not on white, nor the
    theme's colour of the page. Automatic letters always are."""
    theme = (color.get(_THEME) or "").lower()
    if theme:
        shade, tint = color.get(_SHADE), color.get(_TINT)
        white = theme in _PAPER and (shade or "ff").lower() >= "f0" and tint is None
        return white and ground in _WHITE
    value = (color.get(_VAL) or "").lower()
    if _HEX.fullmatch(value) is None or _HEX.fullmatch(ground) is None:
        return False
    pairs = zip(bytes.fromhex(value), bytes.fromhex(ground), strict=True)
    return max(abs(one - other) for one, other in pairs) < _NEAR


def fonts(document: Any) -> dict[str, Mapping[str, Any]]:
    """Id of a style → what decides whether its letters are seen, what it is based on included;
    \"\" for paragraphs without one."""
    sheet = document.part._styles_part.element
    rest = sheet.find(_DEFAULTS)
    own: dict[str, dict[str, Any]] = {}
    base: dict[str, str] = {}
    usual = ""
    for style in sheet.iterchildren(_STYLE):
        number = style.get(_STYLE_ID, "")
        properties = style.find(_RPR)
        own[number] = {} if properties is None else _font(properties)
        if ground := shaded(style.find(_PPR)):
            own[number].setdefault("ground", ground)
        if (parent := style.find(_BASED_ON)) is not None:
            base[number] = parent.get(_VALUE, "")
        if style.get(_TYPE) == "paragraph" and style.get(_DEFAULT) in ("1", "true", "on"):
            usual = number
    found: dict[str, Mapping[str, Any]] = {}
    for number in own:
        at, chain = number, [own[number]]
        while at in base and len(chain) < 10:
            at = base[at]
            chain.append(own.get(at, {}))
        font: dict[str, Any] = {}
        for each in reversed(chain):
            font |= each
        found[number] = font
    start = {} if rest is None else _font(rest)
    whole = {number: {**start, **font} for number, font in found.items()}
    # A style of characters says nothing of what the paragraph's says.
    for style in sheet.iterchildren(_STYLE):
        if style.get(_TYPE) == "character":
            number = style.get(_STYLE_ID, "")
            whole[number] = dict(found.get(number, {}))
    whole[""] = whole.get(usual, start)
    return {**whole}


def _on(switch: Any) -> bool:
    return switch is not None and switch.get(_VAL, "1").lower() not in ("0", "false", "off")


def shaded(properties: Any) -> str:
    """The colour of the ground that these properties (or None) give: six digits, empty if none."""
    shade = properties.find(_SHD) if properties is not None else None
    if shade is None:
        return ""
    solid = shade.get(_VAL) == "solid" and (shade.get(_COLOR) or "auto").lower()
    fill = str(solid or shade.get(_FILL) or "auto").lower()
    return fill if _HEX.fullmatch(fill) else ""


_HEADING = re.compile(r"^(?:heading|見出し)\s*([1-9])$", re.IGNORECASE)
_DEEPEST = 50
_PARAGRAPH, _TABLE, _ROW, _CELL = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_CONTROL, _CONTENT = qn("w:sdt"), qn("w:sdtContent")
_PROPERTIES, _OUTLINE, _PSTYLE = qn("w:pPr"), qn("w:outlineLvl"), qn("w:pStyle")
_CELL_PROPERTIES, _MERGE, _SPAN = qn("w:tcPr"), qn("w:vMerge"), qn("w:gridSpan")
_STYLE, _STYLE_ID, _NAME = qn("w:style"), qn("w:styleId"), qn("w:name")
_BASED_ON, _VALUE = qn("w:basedOn"), qn("w:val")


def read_docx(name: str, data: bytes, limits: LoadLimits) -> Read:
    """Read as the page that it makes.

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
    # python-docx meets a damaged package with errors of zipfile, lxml and its own, KeyError …
    except Exception as error:
        raise broken(name, error) from error
    read = read_html(page, limits.characters)
    return Read(read.passages, read.title or named, meta)


class _Page:
    """A document as HTML: headings, paragraphs with the numbers of their lists, tables."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._levels, self._styles = heading_styles(document), fonts(document)
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
                titled = True  # the title stands above, not over, the rest
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
        """With the footnotes where they are referred to: they narrow what is said there."""
        text = shown_text(paragraph, self._styles)
        for tag in _NOTE_REFERENCES:
            for each in paragraph.iter(tag):
                if note := self._notes.get((tag, each.get(_NUMBER))):
                    text += f"（注：{shown_text(note, self._styles).strip()}）"
        return text

    def _table(self, table: Any) -> str:
        made = ["<table>"]
        lines = [line for line in table.iter(_ROW) if _owner(line) is table]
        rows = [_cells(line) for line in lines if not _unseen_row(line)]
        heads = [line.find(_HEADER_ROW) is not None for line in lines if not _unseen_row(line)]
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


#: A first paragraph that is one; forms and dates stand above it, and keep it from being one.
_TITLE = re.compile(r"(?!第|様式|別[紙記表]|.*\d年)[^。、：:\n]{2,40}(?<![）)])")


def _bold(paragraph: Any) -> bool:
    """Whether all of its letters are set in bold by themselves."""
    runs = [run for run in paragraph.iter(_R) if "".join(run.itertext()).strip()]
    return bool(runs) and all(_on(run.find(_BOLD)) for run in runs)


def _leads(paragraph: Any) -> bool:
    """Whether it is a line of a table of contents."""
    return any("PAGEREF" in (code.text or "") for code in paragraph.iter(_CODE))


def _titles(text: str) -> bool:
    return _TITLE.fullmatch(text.strip()) is not None


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _cells(line: Any) -> dict[int, tuple[Any, int, str]]:
    """Column → (cell, columns that it spans, `restart`, `continue` or nothing) of a row."""
    found: dict[int, tuple[Any, int, str]] = {}
    before = line.find(_SKIPPED_COLUMNS)
    at = 0 if before is None else int(before.get(_VALUE, "0"))
    for cell in line.iter(_CELL):
        if _row_of(cell) is not line:
            continue
        span, merge = (cell.find(f"{_CELL_PROPERTIES}/{tag}") for tag in (_SPAN, _MERGE))
        wide = 1 if span is None else max(1, int(span.get(_VALUE, "1")))
        found[at] = cell, wide, "" if merge is None else merge.get(_VALUE, "continue")
        at += wide
    return found


_PAGE_NUMBER = re.compile(r"[-–—\s]*(?:page\s*)?\d{0,4}(?:\s*(?:/|of)\s*\d{0,4})?[-–—\s]*", re.I)
_NOTES = tuple(f"{kind}notes" for kind in ("foot", "end"))
_NUMBER, _NOTE_TYPE = qn("w:id"), qn("w:type")
_BOLD, _CODE = f"{_RPR}/{qn('w:b')}", qn("w:instrText")


_NOTE_REFERENCES = (qn("w:footnoteReference"), qn("w:endnoteReference"))


def _footnotes(document: Any) -> Iterator[tuple[tuple[str, str], Any]]:
    """((tag of its reference, id), the note)."""
    for part in document.part.rels.values():
        kind = part.reltype.rpartition("/")[2]
        if kind in _NOTES and not part.is_external:
            for note in parse_xml(part.target_part.blob).iterchildren():
                if note.get(_NOTE_TYPE) is None:
                    yield (qn(f"w:{kind[:-1]}Reference"), note.get(_NUMBER)), note


def _ends(document: Any) -> Iterator[Any]:
    """Paragraphs of the heads and feet of pages, each once."""
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
    """python-docx's document. name: for messages. inflated: bytes that it may have unpacked.

    Raises:
        Unreadable: protected by a password, broken, larger.
    """
    try:
        return docx.Document(unpacked(name, data, inflated))
    except Unreadable:
        raise
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


def _unseen_row(line: Any) -> bool:
    """Whether a row of a table is hidden, or as low as a hair."""
    properties = line.find(_ROW_PROPERTIES)
    if properties is None:
        return False
    high = properties.find(_ROW_HEIGHT)
    low = high is not None and high.get(_RULE) == "exact" and high.get(_VALUE, "").isdigit()
    return _on(properties.find(_HIDDEN_ROW)) or (low and int(high.get(_VALUE)) <= _LOWEST)


_ROW_PROPERTIES, _ROW_HEIGHT = qn("w:trPr"), qn("w:trHeight")
_HEADER_ROW = f"{_ROW_PROPERTIES}/{qn('w:tblHeader')}"
_SKIPPED_COLUMNS = f"{_ROW_PROPERTIES}/{qn('w:gridBefore')}"
_RULE, _HIDDEN_ROW = qn("w:hRule"), qn("w:hidden")


def _owner(line: Any) -> Any:
    return next(line.iterancestors(_TABLE), None)


def _row_of(cell: Any) -> Any:
    return next(cell.iterancestors(_ROW), None)
