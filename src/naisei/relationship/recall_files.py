"""What `recall` measured, as files and as one line of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from naisei.files import write_atomically
from naisei.relationship.recall import Recalled
from naisei.runs.tables import to_csv
from naisei.runs.task import Table

__all__ = ["as_json", "write_csv"]


def write_csv(tables: Sequence[Table], notes: Sequence[str], to: Path) -> list[Path]:
    """`recall-1.csv`, … in the order of the tables, and `notes.txt`.

    Raises:
        InputError: the folder cannot be written.
    """
    files = {f"recall-{number}.csv": to_csv(table) for number, table in enumerate(tables, 1)}
    files["notes.txt"] = "".join(f"{note}\n" for note in notes)
    for name, text in files.items():
        write_atomically(to / name, text)
    return [to / name for name in files]


def as_json(tables: Sequence[Table], notes: Sequence[str], found: Recalled, embedder: str) -> str:
    """One line: rankings → rows, what was not counted, and the notes. NaN is null."""
    rankings = {
        table.title: [
            {
                column: None if isinstance(cell, float) and math.isnan(cell) else cell
                for column, cell in zip(table.columns, row, strict=True)
            }
            for row in table.rows
        ]
        for table in tables
    }
    out = {
        "embedder": embedder,
        "turns": found.turns,
        "questions": len(found.categories),
        "without_evidence": dict(found.without),
        "rankings": rankings,
        "notes": list(notes),
    }
    return json.dumps(out, ensure_ascii=False, allow_nan=False)
