"""A chunk of the index by its id: what a citation leads to."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from pydantic import JsonValue

from naisei.retrieval.store import Store

__all__ = ["find_passage"]

_QUERY = (
    "SELECT c.headings, c.page, c.text, d.path, d.title, d.date FROM chunks c "
    "JOIN documents d ON d.id = c.document JOIN members m ON m.document = d.id "
    "WHERE c.name = ? AND m.generation = ?"
)


def find_passage(directory: Path, chunk: str) -> dict[str, JsonValue] | None:
    """The chunk of this id in the newest generation; `None` if it is not in it."""
    with closing(Store(directory)) as store:
        row = store.db.execute(_QUERY, (chunk, store.generation())).fetchone()
    if row is None:
        return None
    headings, page, text, path, title, date = row
    return {
        "id": chunk,
        "path": path,
        "title": title,
        "headings": json.loads(headings),
        "page": page,
        "date": date,
        "text": text,
    }
