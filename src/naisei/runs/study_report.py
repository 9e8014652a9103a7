"""Tables over several runs as one HTML page, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from naisei.files import write_atomically
from naisei.lang import language
from naisei.runs.report import templates
from naisei.runs.tables import to_csv, to_markdown
from naisei.runs.task import Table

__all__ = ["write_study"]


def write_study(
    directory: Path,
    title: str,
    tables: Sequence[Table],
    *,
    runs: Mapping[str, str],
    notes: Sequence[str] = (),
) -> Path:
    """Write `study.html`, `study.md` and one CSV a table; returns the page's path.

    Args:
        runs: label → link to that run's report, relative to `directory`.
    """
    for number, table in enumerate(tables, start=1):
        write_atomically(directory / f"table-{number}.csv", to_csv(table))
    heads = [f"# {title}", "", *(f"- {note}" for note in notes), ""]
    write_atomically(directory / "study.md", "\n".join([*heads, *map(to_markdown, tables)]))
    page = (
        templates()
        .get_template("study.html")
        .render(page_language=language(), title=title, tables=tables, runs=runs, notes=notes)
    )
    write_atomically(directory / "study.html", page)
    return directory / "study.html"
