"""The letters of a PDF page with their positions.

Skips letters in render mode 3 (neither filled nor stroked) or for clipping only, sizes below one
point, and letters off the page.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

#: In points; smaller letters are unreadable.
_SMALLEST = 1.0
_UNSEEN = frozenset({pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP})
#: pdfium's codes for line ends, hyphens and unmapped characters.
_NO_LETTERS = frozenset({0, 2, 10, 13, 0xFFFE, 0xFFFF})


@dataclass(frozen=True, slots=True)
class Letter:
    """One character; base: its baseline. Points, origin at the page's bottom left. angle: clockwise
    rotation in quarter turns."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    base: float
    size: float
    angle: int = 0


def letters_of(page: pypdfium2.PdfPage, most: int) -> list[Letter]:
    """The letters in text order, including the file's own spaces; at most the first
    `most`."""
    text = page.get_textpage()
    try:
        return list(_letters(page, text.raw, min(pdfium.FPDFText_CountChars(text.raw), most)))
    finally:
        text.close()


def _letters(page: pypdfium2.PdfPage, text: Any, number: int) -> Iterator[Letter]:
    box = page.get_cropbox()
    loose = pdfium.FS_RECTF()
    x, y = ctypes.c_double(), ctypes.c_double()
    angle = 0
    for i in range(number):
        code = pdfium.FPDFText_GetUnicode(text, i)
        if code in _NO_LETTERS or 0xD800 <= code <= 0xDFFF:
            continue
        sign = chr(code)
        # The letter's full advance width: 、 fills only a quarter of it.
        pdfium.FPDFText_GetLooseCharBox(text, i, loose)
        left, right, bottom, top = loose.left, loose.right, loose.bottom, loose.top
        if sign.isspace():
            # Not spaces that pdfium inserts: they separate widely spaced Japanese letters.
            if pdfium.FPDFText_IsGenerated(text, i) != 1:
                yield Letter(" ", left, left, bottom, top, bottom, 1.0, angle)
            continue
        angle = round(pdfium.FPDFText_GetCharAngle(text, i) / (math.pi / 2)) % 4
        size = _size(text, i)
        if size >= _SMALLEST and _inside(box, left, right, bottom, top):
            pdfium.FPDFText_GetCharOrigin(text, i, x, y)
            yield Letter(sign, left, right, bottom, top, y.value, size, angle)


def _size(text: Any, i: int) -> float:
    """Size in points; 0 for an invisible letter."""
    owner = pdfium.FPDFText_GetTextObject(text, i)
    if owner and pdfium.FPDFTextObj_GetTextRenderMode(owner) in _UNSEEN:
        return 0.0
    matrix = pdfium.FS_MATRIX()
    size = float(pdfium.FPDFText_GetFontSize(text, i))
    if pdfium.FPDFText_GetMatrix(text, i, matrix):
        size *= math.hypot(matrix.c, matrix.d)
    return size


def _inside(
    box: tuple[float, float, float, float], left: float, right: float, bottom: float, top: float
) -> bool:
    x, y = (left + right) / 2, (bottom + top) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]
