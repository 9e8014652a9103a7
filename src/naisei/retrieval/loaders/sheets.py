"""Spreadsheets: each block of filled cells is a table, with displayed values."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Iterator
from typing import Any

import openpyxl  # type: ignore[import-untyped]

from naisei.retrieval.loaders.blocks import Blocks, Read, leave_out, one_line
from naisei.retrieval.loaders.packages import unpacked
from naisei.retrieval.loaders.tables import Cell, grid
from naisei.retrieval.types import Hidden, LoadLimits

_QUOTED = re.compile(r'"([^"]*)"|\\(.)')


def read_csv(text: str, most: int) -> Read:
    """Comma, tab or semicolon, whichever the first line has most."""
    first = text.split("\n", 1)[0]
    delimiter = max(",\t;", key=first.count)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    blocks = Blocks(most)
    _block(blocks, [[Cell(cell) for cell in row] for row in rows if any(map(str.strip, row))])
    return Read(blocks.passages)


def read_xlsx(name: str, data: bytes, limits: LoadLimits) -> Read:
    """Sheets, rows and columns that are hidden are left out.

    Raises:
        Unreadable: protected by a password, larger than `limits.inflated` unpacked.
    """
    book = openpyxl.load_workbook(unpacked(name, data, limits.inflated), data_only=True)
    blocks = Blocks(limits.characters)
    hidden: list[Hidden] = []
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            leave_out(hidden, "hidden sheet", sheet.title)
            continue
        blocks.heading(1, sheet.title)
        for rows in _regions(_rows(sheet, hidden)):
            _block(blocks, rows)
    return Read(blocks.passages, (book.properties.title or "").strip(), hidden=hidden)


def _block(blocks: Blocks, rows: list[list[Cell]]) -> None:
    """Lines above a table that fill one cell are text."""
    start = 0
    for row in rows:
        filled = [cell for cell in row if cell.text.strip()]
        if len(filled) != 1 or (len(row) > 1 and filled[0].rows > 1):
            break
        blocks.text(filled[0].text)
        start += 1
    rows = rows[start:]
    if rows and not any(re.search(r"\d", cell.text) for cell in rows[0]):
        wide = sum(bool(cell.text.strip()) for cell in rows[0]) > 2
        bold = all(cell.head for cell in rows[0] if cell.text.strip())
        rows[0] = [cell._replace(head=wide or bold) for cell in rows[0]]
    blocks.table(
        grid(
            [cell._replace(head=n == 0 and cell.head) for cell in row] for n, row in enumerate(rows)
        )
    )


def _rows(sheet: Any, hidden: list[Hidden]) -> Iterator[list[Cell | None]]:
    """`None`: covered by a merged cell."""
    spans = {(r.min_row, r.min_col): r for r in sheet.merged_cells.ranges}
    out = {column for column, d in sheet.column_dimensions.items() if d.hidden}
    for line in sheet.iter_rows():
        if sheet.row_dimensions[line[0].row].hidden:
            leave_out(hidden, "hidden row", " ".join(map(_display_value, line)))
            continue
        made: list[Cell | None] = []
        for cell in line:
            if getattr(cell, "column_letter", None) in out:
                continue
            if type(cell).__name__ == "MergedCell":
                made.append(None)
                continue
            span = spans.get((cell.row, cell.column))
            rows = span.max_row - span.min_row + 1 if span else 1
            columns = span.max_col - span.min_col + 1 if span else 1
            text = _display_value(cell)
            if text and cell.font and cell.font.strike:
                leave_out(hidden, "struck out", text)
                text = ""
            made.append(Cell(text, bool(cell.font and cell.font.b), rows, columns))
        yield made


def _regions(rows: Iterator[list[Cell | None]]) -> Iterator[list[list[Cell]]]:
    """Runs of rows that hold anything, without the columns that are empty in all of them."""
    held: list[list[Cell | None]] = []
    for line in [*rows, []]:
        if any(cell is None or cell.text.strip() for cell in line):
            held.append(line)
        elif held:
            width = max(map(len, held))
            filled = [
                n
                for n in range(width)
                if any(n < len(row) and (row[n] is None or row[n].text.strip()) for row in held)  # type: ignore[union-attr]
            ]
            yield [
                [c for n in filled if n < len(row) and (c := row[n]) is not None] for row in held
            ]
            held = []


def _display_value(cell: Any) -> str:
    """A value as the sheet shows it: 1,200円, 9:00, 50%."""
    value, how = cell.value, str(getattr(cell, "number_format", "") or "General").split(";")[0]
    if value is None:
        return ""
    if isinstance(value, dt.datetime):
        return f"{value:%Y-%m-%d}" + (f" {value:%H:%M}" if value.time() != dt.time() else "")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, dt.time):
        return f"{value.hour}:{value.minute:02}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return one_line(str(value))
    share = "%" in how
    number = value * 100 if share else value
    text = f"{number:,.10g}" if "," in how else f"{number:.10g}"
    around = [
        "".join(a or b for a, b in _QUOTED.findall(part))
        for part in re.split(r"[#0?.,]+", how, maxsplit=1)
    ]
    yen = "￥" if re.match(r'["\[]?[¥￥]', how) and not around[0] else ""
    return yen + around[0] + text + ("%" if share else "") + "".join(around[1:])
