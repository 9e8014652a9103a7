"""Tables as Markdown, CSV and LaTeX; human-readable numbers."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from pydantic import JsonValue

from naisei.runs.task import Table
from naisei.text_files import csv_cell


def number(value: str | float | int) -> str:
    """Format a cell: at most four decimal places, thousands separated, – for NaN."""
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
    """Format a number briefly: three significant digits, thousands separated, – for NaN."""
    if not isinstance(value, float) or not math.isfinite(value) or abs(value) >= 100:
        return number(value)
    text = f"{value:.{3 if abs(value) < 1 else 2 if abs(value) < 10 else 1}f}"
    text = text.rstrip("0").rstrip(".")
    return number(value) if value and not float(text) else text


def folded(table: Table) -> Table:
    """Merge `x`, `x low`, `x high` (or `value`, `low`, `high`) into one column `x [95 %]`."""
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


def to_markdown(table: Table) -> str:
    """Return a Markdown table below its title; each cell stays on one line."""

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
    """Return CSV (RFC 4180): full precision, NaN as an empty cell, CRLF line ends."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(csv_cell, table.columns))
    for row in table.rows:
        cells = ("" if isinstance(c, float) and math.isnan(c) else csv_cell(c) for c in row)
        writer.writerow(cells)
    return out.getvalue()


def records(table: Table) -> list[dict[str, JsonValue]]:
    """Return one object per row, keyed by column; NaN becomes null."""
    rows = [[None if c != c else c for c in row] for row in table.rows]
    return [dict(zip(table.columns, row, strict=True)) for row in rows]


#: Characters that LaTeX would interpret as markup.
_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"−": "$-$", "Δ": r"$\Delta$", "–": "--", "→": r"$\to$", "×": r"$\times$", "✓": r"$\surd$"}
    | {"α": r"$\alpha$", "β": r"$\beta$", "±": r"$\pm$"}
)


def latex(text: str) -> str:
    """Escape a text for LaTeX."""
    return text.translate(_LATEX)


def to_latex(table: Table, *, caption: str, label: str, left: int = 1) -> str:
    """Return a booktabs table, with the first columns left-aligned and the others right-aligned,
    and its note below. Needs the package booktabs and, for Japanese, an engine that supports it
    (LuaLaTeX, upLaTeX)."""

    def line(cells: Sequence[str]) -> str:
        return f"{' & '.join(map(latex, cells))} \\\\"

    lines = [
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{latex(caption)}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{'l' * left}{'r' * (len(table.columns) - left)}}}",
        r"\toprule",
        line(table.columns),
        r"\midrule",
        *(line([number(cell) for cell in row]) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if table.note:
        lines += [r"\par\smallskip", rf"{{\footnotesize {latex(table.note)}}}"]
    return "\n".join([*lines, r"\end{table}"]) + "\n"
