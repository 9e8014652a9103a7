"""The text of a Word paragraph that a reader sees."""

from __future__ import annotations

from typing import Any

from docx.oxml.ns import qn

__all__ = ["shown_text"]

#: Taken out by a tracked change, moved away, a field's code, the older copy of a drawing.
_SKIPPED = frozenset(
    {qn(tag) for tag in ("w:del", "w:moveFrom", "w:instrText", "w:delText", "w:pPr", "w:rPr")}
    | {"{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
)
_BREAKS = frozenset({qn("w:br"), qn("w:cr")})
_WHITE = frozenset({"ffffff", "fefefe", "fdfdfd", "fcfcfc"})
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


def shown_text(paragraph: Any) -> str:
    """Its runs in order, line breaks as `\\n`. Left out: hidden text, deleted text, white
    letters on no ground, letters too small to read."""
    found: list[str] = []
    dark = _shaded(paragraph.find(_PPR)) or any(
        _shaded(cell.find(_TCPR)) for cell in paragraph.iterancestors(_TC)
    )
    _collect(paragraph, found, dark, paragraph)
    return "".join(found)


def _collect(element: Any, found: list[str], dark: bool, paragraph: Any) -> None:
    # A paragraph inside another (a text box) ends a line.
    for child in element.iterchildren():
        tag = child.tag
        if tag in _SKIPPED or not isinstance(tag, str):
            continue
        if tag == _R and _hidden(child.find(_RPR), dark):
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
            _collect(child, found, dark, paragraph)
            if tag == _P:
                found.append("\n")


def _hidden(properties: Any, dark: bool) -> bool:
    if properties is None:
        return False
    if _on(properties.find(_VANISH)) or _on(properties.find(_WEBHIDDEN)):
        return True
    size = properties.find(_SZ)
    if size is not None and (value := size.get(_VAL, "")).isdigit() and int(value) < _SMALLEST:
        return True
    color = properties.find(_COLOR)
    white = color is not None and (color.get(_VAL) or "").lower() in _WHITE
    marked = properties.find(_HIGHLIGHT)
    lit = marked is not None and marked.get(_VAL) not in (None, "none", "white")
    return white and not dark and not lit and not _shaded(properties)


def _on(switch: Any) -> bool:
    return switch is not None and switch.get(_VAL, "1").lower() not in ("0", "false", "off")


def _shaded(properties: Any) -> bool:
    shade = properties.find(_SHD) if properties is not None else None
    fill = "auto" if shade is None else (shade.get(_FILL) or "auto").lower()
    return fill not in _WHITE and fill != "auto"
