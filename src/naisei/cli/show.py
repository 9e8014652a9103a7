"""Tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table as Grid
from rich.text import Text

from naisei.runs.tables import number
from naisei.runs.task import Metric, Table
from naisei.runs.words import worded
from naisei.terminal import Console, breaks

__all__ = ["metrics_table", "print_tables", "print_wrapped"]


def print_tables(tables: Sequence[Table], console: Console) -> None:
    """Print tables; an interval's bounds are put into one cell with their value."""
    for table in tables:
        grid = Grid(title=worded(table.title), title_justify="left", caption=table.note or None)
        folded = _folded(table)
        for at, column in enumerate(folded.columns):
            grid.add_column(worded(column), justify="left" if at == 0 else "right", overflow="fold")
        for row in folded.rows:
            grid.add_row(*(Text(number(cell)) for cell in row))
        console.print(grid)


def metrics_table(metrics: Sequence[Metric]) -> Table:
    """The metrics that are defined, for the terminal; the report names the others."""
    return Table(
        "",
        ("metric", "value", "low", "high", "n"),
        tuple((m.name, m.value, m.low, m.high, m.n) for m in metrics if m.value == m.value),
    )


def _folded(table: Table) -> Table:
    """`x`, `x low`, `x high` (or `value`, `low`, `high`) become one column `x [95 %]`."""
    columns = list(table.columns)
    keep: list[tuple[str, tuple[int, ...]]] = []
    at = 0
    while at < len(columns):
        bounds = [c.removeprefix(f"{columns[at]} ") for c in columns[at + 1 : at + 3]]
        if [b.removeprefix("95 % ") for b in bounds] == ["low", "high"]:
            keep.append((f"{columns[at]} [95 %]", (at, at + 1, at + 2)))
            at += 3
        else:
            keep.append((columns[at], (at,)))
            at += 1
    rows = []
    for row in table.rows:
        cells: list[str | float | int] = []
        for _, places in keep:
            if len(places) == 1:
                cells.append(row[places[0]])
            else:
                value, low, high = (number(row[p]) for p in places)
                cells.append(
                    value if row[places[1]] != row[places[1]] else f"{value} [{low}, {high}]"
                )
        rows.append(tuple(cells))
    return Table(table.title, tuple(c for c, _ in keep), tuple(rows), table.note)


def print_wrapped(console: Console, text: str | Text, *, style: str = "", indent: int = 0) -> None:
    """Print a paragraph. indent: columns by which lines after the first are set in."""
    line = Text(text, style=style) if isinstance(text, str) else text
    for at, row in enumerate(line.divide(breaks(line.plain, console.width - indent))):
        row.rstrip()
        console.print(Text(" " * indent if at else "") + row)
