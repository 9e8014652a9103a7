"""The lines of a PDF page: visible letters put together by where they stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pypdfium2  # type: ignore[import-untyped]

from naisei.retrieval.loaders.blocks import one_line
from naisei.retrieval.loaders.pdf_letters import Letter, letters_of

__all__ = ["Line", "join", "lines_of"]

#: In letter heights: a gap within a line that parts two cells, one that parts two words.
_CELL, _WORD = 1.05, 0.18
_ENDS = re.compile(r"[。．！？!?：:」）)]$")
_BEGINS = re.compile(
    r"^(?:[・●○■□◆◇▪•*※–-]|[(（]?[0-9０-９一二三四五六七八九十]{1,3}[)）.．、]|[①-⑳]|第[0-9０-９一二三四五六七八九十]+[条章節項])"
)
_WIDE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Line:
    """text: cells with a space between; spans: left and right of each cell; size: of its
    letters; all in points, the page's origin at the bottom left. edge: at the top or the
    bottom of its page."""

    text: str
    cells: list[str]
    spans: list[tuple[float, float]]
    size: float
    top: float
    bottom: float
    right: float
    edge: bool = False


def lines_of(page: pypdfium2.PdfPage, most: int) -> list[Line]:
    """In the file's order, which is the reading order as a rule. most: letters that are read."""
    lines: list[list[Letter]] = []
    for letter in letters_of(page, most):
        if lines and _same(lines[-1], letter):
            lines[-1].append(letter)
        elif letter.text.strip():
            lines.append([letter])
    made = [line for letters in lines if (line := _line(letters)).text]
    high, low = max((x.top for x in made), default=0.0), min((x.bottom for x in made), default=0.0)
    return [replace(x, edge=x.top > high - 2 * x.size or x.bottom < low + 2 * x.size) for x in made]


def _same(line: list[Letter], letter: Letter) -> bool:
    """Whether the letter stands on the line's base."""
    before = line[-1]
    height = max(before.size, letter.size, 1.0)
    return abs(before.base - letter.base) < 0.35 * height


def _line(letters: list[Letter]) -> Line:
    shown = sorted((x for x in letters if x.text.strip()), key=lambda x: x.left)
    if _ordered(letters):
        shown = [x for x in letters if x.text.strip()]
    spaces = _spaces(letters)
    cells: list[str] = []
    spans: list[tuple[float, float]] = []
    for letter in shown:
        gap = letter.left - spans[-1][1] if spans else 0.0
        if not spans or gap > _CELL * letter.size:
            cells.append(letter.text)
            spans.append((letter.left, letter.right))
            continue
        tight = _WIDE.match(letter.text) and _WIDE.match(cells[-1][-1])
        if id(letter) in spaces or gap > (0.4 if tight else _WORD) * letter.size:
            cells[-1] += " "
        cells[-1] += letter.text
        spans[-1] = (spans[-1][0], max(spans[-1][1], letter.right))
    sizes = sorted(x.size for x in shown)
    return Line(
        one_line(" ".join(cells)),
        [one_line(cell) for cell in cells],
        spans,
        sizes[len(sizes) // 2] if sizes else 0.0,
        max((x.top for x in shown), default=0.0),
        min((x.bottom for x in shown), default=0.0),
        max((x.right for x in shown), default=0.0),
    )


def _ordered(letters: Sequence[Letter]) -> bool:
    shown = [x for x in letters if x.text.strip()]
    return all(a.left <= b.left + 0.5 for a, b in pairwise(shown))


def _spaces(letters: Sequence[Letter]) -> set[int]:
    """Letters (by identity) right after a space that the file holds."""
    return {id(b) for a, b in pairwise(letters) if not a.text.strip()}


def join(lines: Sequence[Line], right: float) -> str:
    """A paragraph of lines: those that go on in the next are put together, without a space
    between Japanese letters. right: where the page's longest line ends."""
    text = ""
    for before, line in zip((None, *lines), lines, strict=False):
        if before is None:
            text = line.text
            continue
        full = before.right > right - 2.5 * before.size
        goes_on = full and not _ENDS.search(before.text) and not _BEGINS.match(line.text)
        if not goes_on:
            text += "\n"
        elif not (_WIDE.match(text[-1]) or _WIDE.match(line.text[0])):
            text = text[:-1] if text.endswith("-") else text + " "
        text += line.text
    return text
