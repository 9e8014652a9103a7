"""Tables on a PDF page: a cell is an area enclosed by drawn lines (rules)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

_Point = tuple[float, float]
#: Points: lines this close are one; a path this thin is a line; lines this close touch.
_ONE, _THIN, _TOUCH = 2.0, 3.0, 4.0
#: A drawing with more lines is not a table.
_MOST = 3_000


@dataclass(frozen=True, slots=True)
class Rule:
    """A line: at `at` on one axis, from `start` to `end` on the other."""

    at: float
    start: float
    end: float


@dataclass(slots=True)
class Lattice:
    """xs, ys: positions of the rules, from left and top. cells: cell number by row and column;
    merged areas share a number."""

    xs: list[float]
    ys: list[float]
    cells: list[list[int]] = field(default_factory=list)

    def cell_at(self, x: float, y: float) -> int | None:
        if not (self.xs[0] < x < self.xs[-1] and self.ys[-1] < y < self.ys[0]):
            return None
        column = sum(x > edge for edge in self.xs) - 1
        row = sum(y < edge for edge in self.ys) - 1
        return self.cells[row][column]


def lattices(page: pypdfium2.PdfPage, turn: Callable[[float, float], _Point]) -> list[Lattice]:
    """turn: maps page points to coordinates in which text runs left to right."""
    upright: list[Rule] = []
    level: list[Rule] = []
    for a, b in _lines(page):
        (x0, y0), (x1, y1) = turn(*a), turn(*b)
        if abs(x0 - x1) <= _ONE < abs(y0 - y1):
            upright.append(Rule((x0 + x1) / 2, min(y0, y1), max(y0, y1)))
        elif abs(y0 - y1) <= _ONE < abs(x0 - x1):
            level.append(Rule((y0 + y1) / 2, min(x0, x1), max(x0, x1)))
        if len(upright) + len(level) > _MOST:
            return []
    found = (_lattice(*group) for group in _touching(_merged(upright), _merged(level)))
    return [each for each in found if each is not None]


def _lines(page: pypdfium2.PdfPage) -> Iterator[tuple[_Point, _Point]]:
    """Yield both ends of each straight line drawn; a thin box is one line."""
    sides = [ctypes.c_float() for _ in range(4)]
    for n in range(pdfium.FPDFPage_CountObjects(page.raw)):
        drawn = pdfium.FPDFPage_GetObject(page.raw, n)
        if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if not pdfium.FPDFPageObj_GetBounds(drawn, *sides):
            continue
        left, bottom, right, top = (side.value for side in sides)
        x, y = (left + right) / 2, (bottom + top) / 2
        filled, stroked = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDFPath_GetDrawMode(drawn, filled, stroked)
        if right - left <= _THIN:
            yield (x, bottom), (x, top)
        elif top - bottom <= _THIN:
            yield (left, y), (right, y)
        elif stroked.value:  # a background may cover several rows
            yield from _strokes(drawn)


def _strokes(path: Any) -> Iterator[tuple[_Point, _Point]]:
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    start = at = (0.0, 0.0)
    for n in range(min(pdfium.FPDFPath_CountSegments(path), _MOST)):
        segment = pdfium.FPDFPath_GetPathSegment(path, n)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        to = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = to
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield at, to
        at = to
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield at, start


def _merged(rules: list[Rule]) -> list[Rule]:
    """Merge rules that overlap or continue each other."""
    made: list[Rule] = []
    places = _clustered(rule.at for rule in rules)
    placed = sorted((_nearest(places, r.at), r.start, r.end) for r in rules)
    for at, start, end in placed:
        last = made[-1] if made else None
        if last is not None and last.at == at and start <= last.end + _TOUCH:
            made[-1] = Rule(at, last.start, max(last.end, end))
        else:
            made.append(Rule(at, start, end))
    return made


def _clustered(values: Iterator[float]) -> list[float]:
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > _ONE:
            found.append(value)
    return found


def _nearest(places: Sequence[float], value: float) -> float:
    return min(places, key=lambda place: abs(place - value))


def _touching(upright: list[Rule], level: list[Rule]) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield groups of crossing lines."""
    left = list(upright)
    rows = list(level)
    while left:
        group, crossed = [left.pop()], []
        for rule in group:
            here = [row for row in rows if _cross(rule, row)]
            rows = [row for row in rows if row not in here]
            crossed += here
            more = [other for other in left if any(_cross(other, row) for row in here)]
            left = [other for other in left if other not in more]
            group += more
        yield group, crossed


def _cross(upright: Rule, level: Rule) -> bool:
    return (
        level.start - _TOUCH <= upright.at <= level.end + _TOUCH
        and upright.start - _TOUCH <= level.at <= upright.end + _TOUCH
    )


def _lattice(upright: list[Rule], level: list[Rule]) -> Lattice | None:
    """The table; `None` below two cells. A table may have open sides."""
    xs = _clustered(iter([r.at for r in upright] + [e for r in level for e in (r.start, r.end)]))
    ys = _clustered(iter([r.at for r in level] + [e for r in upright for e in (r.start, r.end)]))
    xs, ys = _apart(xs), _apart(ys)[::-1]
    if len(xs) < 2 or len(ys) < 2 or len(xs) + len(ys) < 5:
        return None
    table = Lattice(xs, ys)
    number = 0
    for row, (top, bottom) in enumerate(pairwise(ys)):
        cells: list[int] = []
        for column, (start, end) in enumerate(pairwise(xs)):
            middle = ((start + end) / 2, (top + bottom) / 2)
            if row and not _parted(level, top, middle[0]):
                cells.append(table.cells[row - 1][column])
            elif column and not _parted(upright, start, middle[1]):
                cells.append(cells[-1])
            else:
                cells.append(number)
                number += 1
        table.cells.append(cells)
    return table if number > 1 else None


def _apart(values: list[float]) -> list[float]:
    """Drop values too close for text in between."""
    found = values[:1]
    for value in values[1:]:
        if value - found[-1] > _TOUCH:
            found.append(value)
    return found


def _parted(rules: list[Rule], at: float, along: float) -> bool:
    return any(abs(r.at - at) <= _TOUCH and r.start - 1 <= along <= r.end + 1 for r in rules)
