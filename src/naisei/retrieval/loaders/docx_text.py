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


def shown_text(paragraph: Any) -> str:
    """Its runs in order, line breaks as `\\n`. Left out: hidden text, deleted text, white
    letters on no ground, letters too small to read."""
    found: list[str] = []
    dark = _shaded(paragraph.find(qn("w:pPr"))) or any(
        _shaded(cell.find(qn("w:tcPr"))) for cell in paragraph.iterancestors(qn("w:tc"))
    )
    _collect(paragraph, found, dark, paragraph)
    return "".join(found)


def _collect(element: Any, found: list[str], dark: bool, paragraph: Any) -> None:
    # A paragraph inside another (a text box) ends a line.
    for child in element.iterchildren():
        tag = child.tag
        if tag in _SKIPPED or not isinstance(tag, str):
            continue
        if tag == qn("w:r") and _hidden(child.find(qn("w:rPr")), dark):
            continue
        if tag == qn("w:t"):
            found.append(child.text or "")
        elif tag == qn("w:tab"):
            found.append("\t")
        elif tag in _BREAKS:
            found.append("\n")
        elif tag == qn("w:noBreakHyphen"):
            found.append("-")
        else:
            _collect(child, found, dark, paragraph)
            if tag == qn("w:p"):
                found.append("\n")


def _hidden(properties: Any, dark: bool) -> bool:
    if properties is None:
        return False
    if _on(properties.find(qn("w:vanish"))) or _on(properties.find(qn("w:webHidden"))):
        return True
    size = properties.find(qn("w:sz"))
    if (
        size is not None
        and (value := size.get(qn("w:val"), "")).isdigit()
        and int(value) < _SMALLEST
    ):
        return True
    color = properties.find(qn("w:color"))
    white = color is not None and (color.get(qn("w:val")) or "").lower() in _WHITE
    marked = properties.find(qn("w:highlight"))
    lit = marked is not None and marked.get(qn("w:val")) not in (None, "none", "white")
    return white and not dark and not lit and not _shaded(properties)


def _on(switch: Any) -> bool:
    return switch is not None and switch.get(qn("w:val"), "1").lower() not in ("0", "false", "off")


def _shaded(properties: Any) -> bool:
    shade = properties.find(qn("w:shd")) if properties is not None else None
    fill = "auto" if shade is None else (shade.get(qn("w:fill")) or "auto").lower()
    return fill not in _WHITE and fill != "auto"
