"""Letters of Word documents that are seen, by themselves or by style."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from docx.oxml.ns import qn

from naisei.retrieval.loaders.letters import unseen

PROPERTIES, OUTLINE, PSTYLE = qn("w:pPr"), qn("w:outlineLvl"), qn("w:pStyle")
STYLE, STYLE_ID, NAME = qn("w:style"), qn("w:styleId"), qn("w:name")
BASED_ON, VALUE = qn("w:basedOn"), qn("w:val")
RUN, RUN_PROPERTIES = qn("w:r"), qn("w:rPr")
#: Taken out by a tracked change, moved away, a field's code, the older copy of a drawing.
SKIPPED = frozenset(
    {qn(tag) for tag in ("w:del", "w:moveFrom", "w:instrText", "w:delText", "w:pPr", "w:rPr")}
    | {qn("w:rt")}  # the reading of a word, not the word
    | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
#: What stands for letters.
_SIGNS = {
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:tab"): "\t",
    qn("w:noBreakHyphen"): "-",
}
#: Theme colours that are the paper's, in the themes that Word brings along.
_PAPER = frozenset({"background1", "bg1", "light1", "lt1"})
_THEME, _SHADE, _TINT = qn("w:themeColor"), qn("w:themeShade"), qn("w:themeTint")
#: Among styles: everything in the paragraph.
_ALL = "*"
_P, _T, _TC, _TC_PROPERTIES = qn("w:p"), qn("w:t"), qn("w:tc"), qn("w:tcPr")
_COLOR, _FILL, _HIGHLIGHT, _SHADING = (
    qn("w:color"),
    qn("w:fill"),
    qn("w:highlight"),
    qn("w:shd"),
)
_SIZE, _VANISH, _RUN_STYLE = qn("w:sz"), qn("w:vanish"), qn("w:rStyle")
_STRUCK = (qn("w:strike"), qn("w:dstrike"))
_TYPE, _DEFAULT = qn("w:type"), qn("w:default")
_DEFAULTS = "/".join(map(qn, ("w:docDefaults", "w:rPrDefault", "w:rPr")))

#: Of a style or a run: the arguments of `unseen` that it gives.
Fonts = Mapping[str, Mapping[str, Any]]
_NONE: Fonts = MappingProxyType({})


def shown_text(paragraph: Any, styles: Fonts = _NONE) -> str:
    """Its runs in order, line breaks as `\\n`, without what is deleted or not seen. styles: of
    `fonts`."""
    found: list[str] = []
    properties = paragraph.find(PROPERTIES)
    own = paragraph.find(f"{PROPERTIES}/{PSTYLE}")
    font = styles.get("" if own is None else own.get(VALUE, ""), styles.get("", {}))
    cells = (shaded(cell.find(_TC_PROPERTIES)) for cell in paragraph.iterancestors(_TC))
    ground = shaded(properties) or font.get("ground", "") or next(filter(None, cells), "")
    _collect(paragraph, found, ground, {**styles, _ALL: font})
    return "".join(found)


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
        elif tag in _SIGNS:
            found.append(_SIGNS[tag])
        else:
            _collect(child, found, ground, styles)
            if tag == _P:
                found.append("\n")


def hidden(properties: Any, ground: str, styles: Fonts = _NONE) -> bool:
    """Whether a run with these properties (or None) is not seen. ground: the colour that it is
    on, of `shaded`. styles: of `fonts`."""
    # The paragraph's own ground is in `ground`.
    font = {**styles.get(_ALL, {}), "ground": ground}
    if properties is not None:
        if (style := properties.find(_RUN_STYLE)) is not None:
            font |= styles.get(style.get(VALUE, ""), {})
        font |= _font(properties)
    return bool(font) and unseen(**font) != ""


def _font(properties: Any) -> dict[str, Any]:
    """What these properties (or None) say of how letters look."""
    found: dict[str, Any] = {}
    for child in properties.iterchildren() if properties is not None else ():
        value = child.get(VALUE) or ""
        match child.tag:
            case tag if tag == _VANISH:
                found["hidden"] = is_on(child)
            case tag if tag in _STRUCK:
                found["struck"] = is_on(child)
            case tag if tag == _SIZE and value.isdigit():
                found["points"] = int(value) / 2
            case tag if tag == _COLOR:
                found["color"] = "ffffff" if _paper(child) else value * (child.get(_THEME) is None)
            case tag if tag == _HIGHLIGHT and value:
                found["ground"] = _MARKERS.get(value.lower(), "")
            case tag if tag == _SHADING and shaded(properties):
                found.setdefault("ground", shaded(properties))
    return found


def _paper(color: Any) -> bool:
    """Whether a colour of the theme is that of the page, or near it."""
    shade = (color.get(_SHADE) or "ff").lower()
    return (color.get(_THEME) or "").lower() in _PAPER and shade >= "f0" and not color.get(_TINT)


#: Of a highlighter; others are dark enough, or light, as their names say.
_MARKERS = {
    "black": "000000",
    "white": "ffffff",
    "yellow": "ffff00",
    "cyan": "00ffff",
    "green": "00ff00",
    "magenta": "ff00ff",
    "red": "ff0000",
    "blue": "0000ff",
}


def fonts(document: Any) -> Fonts:
    """Id of a style → how its letters look, what it is based on included; \"\" for paragraphs
    without one."""
    sheet = document.part._styles_part.element
    styles = {style.get(STYLE_ID, ""): style for style in sheet.iterchildren(STYLE)}
    start = _font(sheet.find(_DEFAULTS))

    def whole(style: Any, depth: int = 0) -> dict[str, Any]:
        parent = style.find(BASED_ON)
        above = styles.get(parent.get(VALUE, "")) if parent is not None and depth < 10 else None
        # A style of characters says nothing of what the paragraph's says.
        usual = {} if style.get(_TYPE) == "character" else start
        ground = shaded(style.find(PROPERTIES))
        return {
            **(usual if above is None else whole(above, depth + 1)),
            **({"ground": ground} if ground else {}),
            **_font(style.find(RUN_PROPERTIES)),
        }

    found = {number: whole(style) for number, style in styles.items()}
    for number, style in styles.items():
        if style.get(_TYPE) == "paragraph" and style.get(_DEFAULT) in ("1", "true", "on"):
            start = found[number]
    return {**found, "": start}


def is_on(switch: Any) -> bool:
    return switch is not None and switch.get(VALUE, "1").lower() not in ("0", "false", "off")


def shaded(properties: Any) -> str:
    """The colour of the ground that these properties (or None) give: six digits, empty if none."""
    shade = properties.find(_SHADING) if properties is not None else None
    if shade is None:
        return ""
    solid = shade.get(VALUE) == "solid" and (shade.get(_COLOR) or "auto").lower()
    fill = str(solid or shade.get(_FILL) or "auto").lower()
    return "" if fill == "auto" else fill
