"""Tables as Markdown and CSV; numbers as people read them."""

from __future__ import annotations

import csv
import io
import math

from naisei.runs.task import Table
from naisei.text_files import csv_cell


def number(value: str | float | int) -> str:
    """A cell: four significant digits at most after the point, thousands apart, – for NaN."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "–"
    if math.isinf(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.4f}" if abs(value) >= 1e-4 or value == 0 else f"{value:.2e}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def short(value: str | float | int) -> str:
    """A number for a glance: three digits that count, thousands apart, – for NaN."""
    if not isinstance(value, float) or not math.isfinite(value) or abs(value) >= 100:
        return number(value)
    text = f"{value:.{3 if abs(value) < 1 else 2 if abs(value) < 10 else 1}f}"
    text = text.rstrip("0").rstrip(".")
    return number(value) if value and not float(text) else text


def to_markdown(table: Table) -> str:
    """A pipe table under its title; cells keep to their line."""

    def line(cells: list[str]) -> str:
        safe = [c.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for c in cells]
        return f"| {' | '.join(safe)} |"

    lines = [f"### {table.title}", "", line(list(table.columns))]
    lines.append(f"|{'---|' * len(table.columns)}")
    lines += [line([number(cell) for cell in row]) for row in table.rows]
    if table.note:
        lines += ["", table.note]
    return "\n".join(lines) + "\n"


def to_csv(table: Table) -> str:
    """Full precision, NaN as an empty cell, CRLF lines (RFC 4180)."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(csv_cell, table.columns))
    for row in table.rows:
        cells = ("" if isinstance(c, float) and math.isnan(c) else csv_cell(c) for c in row)
        writer.writerow(cells)
    return out.getvalue()
