"""Spreadsheets: each block of filled cells is a table of displayed values."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

import openpyxl  # type: ignore[import-untyped]

from naisei.retrieval.loaders.blocks import Blocks, Read, leave_out, one_line
from naisei.retrieval.loaders.packages import unpacked
from naisei.retrieval.loaders.tables import Cell, grid
from naisei.retrieval.types import Hidden, LoadLimits

_QUOTED = re.compile(r'"([^"]*)"|\\(.)')


def read_csv(text: str, most: int) -> Read:
    """The separator is the most frequent of comma, tab and semicolon in line 1."""
    first = text.split("\n", 1)[0]
    delimiter = max(",\t;", key=first.count)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    blocks = Blocks(most)
    _block(blocks, [[Cell(cell) for cell in row] for row in rows if any(map(str.strip, row))])
    return Read(blocks.passages)


def read_xlsx(name: str, data: bytes, limits: LoadLimits) -> Read:
    """Read a workbook, without hidden sheets, rows and columns.

    Raises:
        Unreadable: password-protected, or over `limits.inflated` unpacked.
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
    """Add a block; one-cell lines above the table are text."""
    start = 0
    for row in rows:
        filled = [cell for cell in row if cell.text.strip()]
        if len(filled) != 1 or (len(row) > 1 and filled[0].rows > 1):
            break
        blocks.text(filled[0].text)
        start += 1
    above, table = _with_header(grid(rows[start:]))
    for line in above:
        blocks.text(" ".join(dict.fromkeys(cell.text for cell in line if cell.text.strip())))
    blocks.table(table)


#: A cell with a number as displayed, but not a year.
_COUNT = re.compile(r"\W{0,3}(?!(?:19|20)\d\d\W*$)\d[\d,.]*\s?[%％円)]?")


def _counts(line: Sequence[Cell | None]) -> bool:
    """Whether a row contains numbers and so is no header row."""
    return any(_COUNT.fullmatch(cell.text.strip()) for cell in line if cell)


def _names(line: Sequence[Cell]) -> int:
    return len({id(cell) for cell in line if cell.text.strip()})


def _with_header(table: list[list[Cell]]) -> tuple[list[list[Cell]], list[list[Cell]]]:
    """The lines above the header, and the table with only its header cells marked."""
    first = next((n for n, line in enumerate(table) if _names(line) > 1), 0)
    body = next((n for n, line in enumerate(table) if _counts(line)), 0)
    fullest = max(range(body), key=lambda n: _names(table[n]), default=first)
    if table and 2 * _names(table[first]) <= _names(table[fullest]):
        first = fullest  # lines above the column names are text
    end = first + 1
    while 0 < first < body and _goes_down(table[first - 1], table[first], counted=True):
        first -= 1
    while end < len(table) and _goes_down(table[end - 1], table[end], counted=end < body):
        end += 1
    named = [cell for line in table[first : first + 1] for cell in line if cell.text.strip()]
    plain = not any(re.search(r"\d", cell.text) for cell in named)
    wide = len({*map(id, named)}) > 2 or all(cell.head for cell in named)
    marked = (end == body and len(table[first]) > 2) or (plain and wide)
    table = [[cell._replace(head=False) if cell.head else cell for cell in line] for line in table]
    if not marked:
        return [], table
    return table[:first], [*_spread(table[first:end]), *table[end:]]


def _goes_down(above: Sequence[Cell], line: Sequence[Cell], *, counted: bool) -> bool:
    """Whether another header row follows. counted: whether numbers follow further down."""
    blank = not line[0].text.strip() or not above[0].text.strip()
    gap = any(one is two or not two.text.strip() for one, two in pairwise(above))
    down = line[0] is above[0] and above[0].text.strip() != ""
    return _names(line) > 1 and (down or (counted and blank and gap and _names(above) > 1))


def _spread(header: list[list[Cell]]) -> list[list[Cell]]:
    """Repeat a name written once above several columns: to the right, or to the left if each name
    is above the last of its columns. A name for all columns stays with the first."""
    made = [[cell.text.strip() for cell in line] for line in header]
    for line in made[:-1]:
        told = [text for text in line[1:] if text]
        if len(told) == 1 or (len({*told}) == 1 and len(told) == len(line) - 1):
            line[:] = [f"{line[0]} {max(line[1:])}".strip(), *("" for _ in line[1:])]
            continue
        led = all(not one for one, two in pairwise(line) if two and one is not line[0])
        step = -1 if led and line[-1] and not line[1] else 1
        above = ""
        for n in range(1, len(line))[::step]:
            line[n] = above = line[n] or above
    return [[Cell(text, head=True) for text in line] for line in made]


def _rows(sheet: Any, hidden: list[Hidden]) -> Iterator[list[Cell | None]]:
    """Yield rows; `None`: part of a merged cell."""
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


def _regions(rows: Iterable[list[Cell | None]]) -> Iterator[list[list[Cell]]]:
    """Yield runs of non-empty rows, without columns empty in all of them. A run that starts with
    numbers continues the table above."""
    held: list[list[list[Cell | None]]] = []
    for any_, run in groupby(rows, lambda line: bool(_filled(line))):
        lines = list(run)
        if any_ and held and _counts(lines[0]) and _filled(lines[0]) <= _columns(held[-1]):
            held[-1] += lines
        elif any_:
            held.append(lines)
    for lines in held:
        columns = _columns(lines)
        yield [[c for n, c in enumerate(line) if n in columns and c is not None] for line in lines]


def _filled(line: Sequence[Cell | None]) -> set[int]:
    return {n for n, cell in enumerate(line) if cell is None or cell.text.strip()}


def _columns(lines: Iterable[Sequence[Cell | None]]) -> set[int]:
    return set[int]().union(*map(_filled, lines))


def _display_value(cell: Any) -> str:
    """A value as displayed in the sheet: 1,200円, 9:00, 50%."""
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
