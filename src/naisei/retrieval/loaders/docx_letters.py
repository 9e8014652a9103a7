"""Letters of Word documents that are seen: not hidden, struck out, too small or of their ground's
colour, by themselves or by style."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from docx.oxml.ns import qn

PROPERTIES, OUTLINE, PSTYLE = qn("w:pPr"), qn("w:outlineLvl"), qn("w:pStyle")
STYLE, STYLE_ID, NAME = qn("w:style"), qn("w:styleId"), qn("w:name")
BASED_ON, VALUE = qn("w:basedOn"), qn("w:val")
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
RUN = qn("w:r")
RUN_PROPERTIES = qn("w:rPr")
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
LOWEST = 40
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
    own = paragraph.find(f"{PROPERTIES}/{PSTYLE}")
    font = styles.get("" if own is None else own.get(VALUE, ""), styles.get("", {}))
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
    return high.isdigit() and int(high) <= LOWEST


def _collect(element: Any, found: list[str], ground: str, styles: Fonts) -> None:
    # A paragraph inside another (a text box) ends a line.
    for child in element.iterchildren():
        tag = child.tag
        if tag in SKIPPED or not isinstance(tag, str):
            continue
        if tag == RUN and hidden(child.find(RUN_PROPERTIES), ground, styles):
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
                found["vanish"] = is_on(child)
            case tag if tag in _STRUCK:
                found["struck"] = is_on(child)
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
    for style in sheet.iterchildren(STYLE):
        number = style.get(STYLE_ID, "")
        properties = style.find(RUN_PROPERTIES)
        own[number] = {} if properties is None else _font(properties)
        if ground := shaded(style.find(_PPR)):
            own[number].setdefault("ground", ground)
        if (parent := style.find(BASED_ON)) is not None:
            base[number] = parent.get(VALUE, "")
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
    for style in sheet.iterchildren(STYLE):
        if style.get(_TYPE) == "character":
            number = style.get(STYLE_ID, "")
            whole[number] = dict(found.get(number, {}))
    whole[""] = whole.get(usual, start)
    return {**whole}


def is_on(switch: Any) -> bool:
    return switch is not None and switch.get(_VAL, "1").lower() not in ("0", "false", "off")


def shaded(properties: Any) -> str:
    """The colour of the ground that these properties (or None) give: six digits, empty if none."""
    shade = properties.find(_SHD) if properties is not None else None
    if shade is None:
        return ""
    solid = shade.get(_VAL) == "solid" and (shade.get(_COLOR) or "auto").lower()
    fill = str(solid or shade.get(_FILL) or "auto").lower()
    return fill if _HEX.fullmatch(fill) else ""
