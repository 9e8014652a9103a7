"""A curve that grows while something is trained: a CSV file, and a drawing."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from naisei.files import write_atomically
from naisei.text_files import csv_cell

_WIDTH, _HEIGHT, _MARGIN = 640, 360, 48


class Curve:
    """Rows of numbers in a CSV file; the first column only grows."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path, self.columns = path, tuple(columns)
        self.rows: list[tuple[float, ...]] = []

    def resume(self, last: float) -> None:
        """Read what is there, up to a value of the first column."""
        if self.path.is_file():
            with self.path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.reader(file))[1:]
            self.rows = [tuple(map(float, row)) for row in rows if float(row[0]) <= last]

    def add(self, *row: float) -> None:
        self.rows.append(tuple(float(value) for value in row))

    def write(self) -> None:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(map(csv_cell, self.columns))
        writer.writerows([f"{value:.8g}" for value in row] for row in self.rows)
        write_atomically(self.path, out.getvalue())


def svg(lines: dict[str, Sequence[tuple[float, float]]], *, title: str) -> str:
    """Lines over a common axis, each named. Points are (x, y)."""
    points = [point for line in lines.values() for point in line]
    if not points:
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"/>'
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    high = max(y for _, y in points) or 1.0

    def at(x: float, y: float) -> str:
        across = (x - left) / ((right - left) or 1) * (_WIDTH - 2 * _MARGIN) + _MARGIN
        return f"{across:.1f},{_HEIGHT - _MARGIN - y / high * (_HEIGHT - 2 * _MARGIN):.1f}"

    colours = ("#3b6ea8", "#c0563f", "#4c8a4a", "#7a5ca8")
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<text x="{_MARGIN}" y="24">{title}</text>',
        f'<path d="M{at(left, high)} L{at(left, 0)} L{at(right, 0)}" fill="none" stroke="#888"/>',
        f'<text x="4" y="{_MARGIN}">{high:.3g}</text>',
        f'<text x="4" y="{_HEIGHT - _MARGIN}">0</text>',
        f'<text x="{_WIDTH - _MARGIN}" y="{_HEIGHT - 16}" text-anchor="end">{right:g}</text>',
    ]
    for number, (name, line) in enumerate(lines.items()):
        colour = colours[number % len(colours)]
        path = " ".join(at(*point) for point in line)
        rows.append(f'<polyline points="{path}" fill="none" stroke="{colour}"/>')
        rows.append(
            f'<text x="{_WIDTH - 150}" y="{40 + 16 * number}" fill="{colour}">{name}</text>'
        )
    return "\n".join([*rows, "</svg>\n"])
