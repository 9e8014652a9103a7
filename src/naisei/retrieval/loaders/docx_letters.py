"""Letters of Word documents that the file does not hide, by themselves or by style."""

from __future__ import annotations

from typing import Any

from docx.oxml.ns import qn

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
#: Elements with text.
_SIGNS = {
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:tab"): "\t",
    qn("w:noBreakHyphen"): "-",
}
_P, _T = qn("w:p"), qn("w:t")
#: Properties of hidden and struck-out text.
_UNSEEN = frozenset(map(qn, ("w:vanish", "w:webHidden", "w:strike", "w:dstrike")))
_RUN_STYLE, _SIZE = qn("w:rStyle"), qn("w:sz")

#: Ids of hidden styles.
Styles = frozenset[str]


def shown_text(paragraph: Any, styles: Styles = frozenset()) -> str:
    """Its runs in order, line breaks as `\\n`, without deleted or hidden text. styles: of
    `unseen_styles`."""
    found: list[str] = []
    own = paragraph.find(f"{PROPERTIES}/{PSTYLE}")
    outer = own is not None and own.get(VALUE, "") in styles
    _collect(paragraph, found, styles, outer)
    return "".join(found)


def _collect(element: Any, found: list[str], styles: Styles, outer: bool) -> None:
    # A paragraph inside another (a text box) ends a line.
    for child in element.iterchildren():
        tag = child.tag
        if tag in SKIPPED or not isinstance(tag, str):
            continue
        if tag == RUN and hidden(child.find(RUN_PROPERTIES), styles, outer):
            continue
        if tag == _T:
            found.append(child.text or "")
        elif tag in _SIGNS:
            found.append(_SIGNS[tag])
        else:
            _collect(child, found, styles, outer)
            if tag == _P:
                found.append("\n")


def hidden(properties: Any, styles: Styles = frozenset(), outer: bool = False) -> bool:
    """Whether a run with these properties (or None) is not seen. outer: whether its paragraph's
    style hides it."""
    said = None
    if properties is not None:
        style = properties.find(_RUN_STYLE)
        outer |= style is not None and style.get(VALUE, "") in styles
        said = _said(properties)
    return outer if said is None else said


def _said(properties: Any) -> bool | None:
    """Whether these properties hide text, sizes below one point included; `None` if unset."""
    switches = [is_on(child) for child in properties.iterchildren() if child.tag in _UNSEEN]
    size = properties.find(_SIZE)
    tiny = size is not None and size.get(VALUE, "") in ("0", "1")
    return any(switches) or tiny if switches or tiny else None


def unseen_styles(document: Any) -> Styles:
    """Styles that hide text, directly or by inheritance."""
    sheet = document.part._styles_part.element
    styles = {style.get(STYLE_ID, ""): style for style in sheet.iterchildren(STYLE)}

    def hides(style: Any, depth: int = 0) -> bool:
        properties, parent = style.find(RUN_PROPERTIES), style.find(BASED_ON)
        said = None if properties is None else _said(properties)
        above = styles.get(parent.get(VALUE, "")) if parent is not None and depth < 10 else None
        return said if said is not None else above is not None and hides(above, depth + 1)

    return frozenset(number for number, style in styles.items() if hides(style))


def is_on(switch: Any) -> bool:
    return switch is not None and switch.get(VALUE, "1").lower() not in ("0", "false", "off")
