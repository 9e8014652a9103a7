"""A curve that grows while something is trained, in a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from naisei.files import write_atomically
from naisei.text_files import csv_cell


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
