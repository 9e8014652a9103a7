"""Tables as Markdown and CSV; numbers as people read them."""

from __future__ import annotations

import csv
import io
import math

from naisei.runs.task import Table

__all__ = ["number", "to_csv", "to_markdown"]


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
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow(["" if isinstance(c, float) and math.isnan(c) else c for c in row])
    return out.getvalue()
