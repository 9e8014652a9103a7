"""Slides: titles, texts and tables, top to bottom; each slide is a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pptx

from naisei.retrieval.loaders.blocks import Blocks, Read, leave_out
from naisei.retrieval.loaders.packages import unpacked
from naisei.retrieval.loaders.tables import Cell, grid
from naisei.retrieval.types import Hidden, LoadLimits

_DEEP = 8
#: A tenth of an inch: shapes whose tops differ by less are side by side.
_LINE = 91_440


def read_pptx(name: str, data: bytes, limits: LoadLimits) -> Read:
    """Read slides, without hidden slides and speaker notes.

    Raises:
        Unreadable: password-protected, or over `limits.inflated` unpacked.
    """
    deck = pptx.Presentation(unpacked(name, data, limits.inflated))
    blocks = Blocks(limits.characters)
    hidden: list[Hidden] = []
    for number, slide in enumerate(deck.slides, start=1):
        title = slide.shapes.title
        named = title.text_frame.text if title is not None else ""
        if slide._element.get("show") in ("0", "false"):
            leave_out(hidden, "hidden slide", named or str(number))
            continue
        blocks.page = number
        blocks.close(1)
        blocks.heading(1, named)
        for shape in _shapes(slide.shapes):
            if title is not None and shape.shape_id == title.shape_id:
                continue
            if shape.has_table:
                blocks.table(_table(shape.table))
            elif shape.has_text_frame:
                blocks.text("\n".join(_lines(shape.text_frame)))
    return Read(blocks.passages, blocks.first or deck.core_properties.title or "", hidden=hidden)


def _shapes(shapes: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    for shape in sorted(shapes, key=lambda s: ((s.top or 0) // _LINE, s.left or 0)):
        if hasattr(shape, "shapes") and depth < _DEEP:
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _lines(frame: Any) -> Iterator[str]:
    for paragraph in frame.paragraphs:
        runs = [run for run in paragraph.runs if not _unseen(run)]
        if text := "".join(run.text for run in runs).strip():
            yield f"{'  ' * paragraph.level}{'- ' if paragraph.level else ''}{text}"


def _unseen(run: Any) -> bool:
    """Whether the text is struck out or below one point."""
    size, struck = run.font.size, run._r.find("{*}rPr[@strike]")
    tiny = size is not None and size.pt < 1
    return tiny or (struck is not None and struck.get("strike") != "noStrike")


def _table(table: Any) -> list[list[Cell]]:
    head = bool(table.first_row)
    return grid(
        [
            Cell(
                " ".join(_lines(cell.text_frame)),
                head and n == 0,
                cell.span_height,
                cell.span_width,
            )
            for cell in row.cells
            if not cell.is_spanned
        ]
        for n, row in enumerate(table.rows)
    )
