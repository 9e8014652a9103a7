"""The letters of a PDF page that a reader sees, with their places.

Left out: render mode 3 (neither filled nor stroked) and clipping only, transparent and
switched-off objects, sizes below 1.5 points, letters off the page, and letters that leave no
trace: where light letters stand, or anything is drawn over the page, the page is rendered and
a letter's box must show a contrast.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

_Box = tuple[float, float, float, float]
#: Points: letters that nobody can read; an area as thin as this is a line.
_SMALLEST, _THIN = 1.5, 3.0
_LIGHT = 200
#: Grey levels of 255 that the letter's box must span to be seen.
_CONTRAST = 16
_SCALE = 1.5
_LARGEST = 4_000.0
_UNSEEN = frozenset({pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP})
_OUTLINED = frozenset({pdfium.FPDF_TEXTRENDERMODE_STROKE, pdfium.FPDF_TEXTRENDERMODE_STROKE_CLIP})
#: What pdfium gives for line ends, hyphens at them, and codes that stand for no letter.
_NO_LETTERS = frozenset({0, 2, 10, 13, 0xFFFE, 0xFFFF})
_PICTURES = frozenset({pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING})


@dataclass(frozen=True, slots=True)
class Letter:
    """One character; base: its baseline. Points, origin at the page's bottom left. angle: by which
    it is turned clockwise, in quarters."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    base: float
    size: float
    angle: int = 0


def letters_of(page: pypdfium2.PdfPage, most: int) -> list[Letter]:
    """In the order of the page's text; spaces of the file included. The first `most` at
    the most."""
    text = page.get_textpage()
    try:
        found = list(_letters(page, text.raw, min(pdfium.FPDFText_CountChars(text.raw), most)))
    finally:
        text.close()
    # Where nothing at all is drawn, this machine lacks the letters of a font that the file does
    # not bring along: that says nothing about what others see.
    drawn = any(trace for _, _, trace in found)
    return [letter for letter, own, trace in found if trace or not (own or drawn)]


def _letters(
    page: pypdfium2.PdfPage, text: Any, number: int
) -> Iterator[tuple[Letter, bool, bool]]:
    """(letter, whether a missing trace counts without another's, whether it left a trace)."""
    looks: dict[int, _Look] = {}
    covers = _covers(page)
    picture: npt.NDArray[np.uint8] | None = None
    box = page.get_cropbox()
    rect = [ctypes.c_double() for _ in range(4)]
    loose = pdfium.FS_RECTF()
    angle = 0
    for i in range(number):
        code = pdfium.FPDFText_GetUnicode(text, i)
        if code in _NO_LETTERS or 0xD800 <= code <= 0xDFFF:
            continue
        sign = chr(code)
        # With the room that the letter takes: a 、 fills a quarter of its own.
        pdfium.FPDFText_GetLooseCharBox(text, i, loose)
        left, right, bottom, top = loose.left, loose.right, loose.bottom, loose.top
        if sign.isspace():
            # Not those that pdfium puts in: they part Japanese letters that are spaced out.
            if pdfium.FPDFText_IsGenerated(text, i) != 1:
                yield Letter(" ", left, left, bottom, top, bottom, 1.0, angle), False, True
            continue
        angle = round(pdfium.FPDFText_GetCharAngle(text, i) / (math.pi / 2)) % 4
        look = _look(text, i, looks, covers)
        if not look.seen or look.size < _SMALLEST or not _inside(box, left, right, bottom, top):
            continue
        trace = True
        if look.light or look.covered:
            picture = _picture(page) if picture is None else picture
            pdfium.FPDFText_GetCharBox(text, i, rect[0], rect[1], rect[2], rect[3])
            trace = _contrast(picture, box, *(value.value for value in rect))
        letter = Letter(sign, left, right, bottom, top, look.base, look.size, angle)
        yield letter, look.light or look.embedded, trace


@dataclass(frozen=True, slots=True)
class _Look:
    """Of a text object. size, base: points. embedded: its font is in the file. covered:
    something may lie over it."""

    seen: bool = True
    light: bool = False
    size: float = 0.0
    embedded: bool = False
    base: float = 0.0
    covered: bool = False


def _look(text: Any, i: int, looks: dict[int, _Look], covers: Sequence[_Box]) -> _Look:
    """How a letter looks, by the object that it belongs to."""
    owner = pdfium.FPDFText_GetTextObject(text, i)
    key = ctypes.cast(owner, ctypes.c_void_p).value if owner else None
    if key is not None and key in looks:
        return looks[key]
    matrix = pdfium.FS_MATRIX()
    size = pdfium.FPDFText_GetFontSize(text, i)
    if pdfium.FPDFText_GetMatrix(text, i, matrix):
        # Letters squeezed to a line, either way, are not seen.
        wide, high = np.hypot(matrix.a, matrix.b), np.hypot(matrix.c, matrix.d)
        size *= float(high if wide > 0.05 * high else wide)
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(text, i, x, y)
    if not owner or key is None:
        return _Look(size=size, base=y.value, covered=bool(covers))
    mode = pdfium.FPDFTextObj_GetTextRenderMode(owner)
    active = ctypes.c_int(1)
    off = pdfium.FPDFPageObj_GetIsActive(owner, active) and not active.value
    seen, light = mode not in _UNSEEN and not off, False
    color = [ctypes.c_uint() for _ in range(4)]
    ask = (
        pdfium.FPDFPageObj_GetStrokeColor if mode in _OUTLINED else pdfium.FPDFPageObj_GetFillColor
    )
    if ask(owner, *color):
        red, green, blue, alpha = (value.value for value in color)
        seen = seen and alpha >= _CONTRAST
        light = min(red, green, blue) >= _LIGHT or alpha < 80
    font = pdfium.FPDFTextObj_GetFont(owner)
    embedded = bool(font) and pdfium.FPDFFont_GetIsEmbedded(font) == 1
    around = _bounds(owner)
    covered = bool(pdfium.FPDFPageObj_HasTransparency(owner))
    covered |= any(
        around[0] < right and left < around[2] and around[1] < top and bottom < around[3]
        for left, bottom, right, top in covers
    )
    looks[key] = _Look(seen, light, size, embedded, y.value, covered)
    return looks[key]


def _covers(page: pypdfium2.PdfPage) -> list[_Box]:
    """What may lie over text or have its colour: areas, and what is drawn after the first text."""
    letters = False
    found: list[_Box] = []
    for n in range(pdfium.FPDFPage_CountObjects(page.raw)):
        drawn = pdfium.FPDFPage_GetObject(page.raw, n)
        kind = pdfium.FPDFPageObj_GetType(drawn)
        letters = letters or kind == pdfium.FPDF_PAGEOBJ_TEXT
        over = kind == pdfium.FPDF_PAGEOBJ_FORM or (letters and kind in _PICTURES)
        if over or (kind == pdfium.FPDF_PAGEOBJ_PATH and _filled(drawn)):
            found.append(_bounds(drawn))
    return found


def _bounds(drawn: Any) -> _Box:
    """Left, bottom, right, top."""
    sides = [ctypes.c_float() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetBounds(drawn, *sides):
        return (-1e9, -1e9, 1e9, 1e9)
    return (sides[0].value, sides[1].value, sides[2].value, sides[3].value)


def _filled(path: Any) -> bool:
    """Whether a path is an area; the lines of a table cover nothing."""
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    left, bottom, right, top = _bounds(path)
    if min(right - left, top - bottom) <= _THIN:
        return False
    return bool(pdfium.FPDFPath_GetDrawMode(path, mode, stroke)) and mode.value != 0


def _inside(
    box: tuple[float, float, float, float], left: float, right: float, bottom: float, top: float
) -> bool:
    x, y = (left + right) / 2, (bottom + top) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _picture(page: pypdfium2.PdfPage) -> npt.NDArray[np.uint8]:
    width, height = page.get_size()
    scale = min(_SCALE, _LARGEST / max(width, height, 1.0))
    bitmap = page.render(scale=scale, grayscale=True, rotation=-page.get_rotation() % 360)
    return np.array(bitmap.to_numpy()).reshape(bitmap.height, bitmap.width)


def _contrast(
    picture: npt.NDArray[np.uint8],
    box: tuple[float, float, float, float],
    left: float,
    right: float,
    bottom: float,
    top: float,
) -> bool:
    """Whether the letter's box shows anything but one shade."""
    height, width = picture.shape
    across = width / max(1e-6, box[2] - box[0])
    up = height / max(1e-6, box[3] - box[1])
    # One more pixel each way: the box of a 一 holds nothing but ink.
    x0, x1 = int((left - box[0]) * across) - 1, int((right - box[0]) * across) + 2
    y0, y1 = int((box[3] - top) * up) - 1, int((box[3] - bottom) * up) + 2
    part = picture[max(0, y0) : max(1, y1), max(0, x0) : max(1, x1)]
    return part.size > 0 and int(part.max()) - int(part.min()) >= _CONTRAST
