"""A chunk of the index by its id: what a citation leads to."""

from __future__ import annotations

from pydantic import JsonValue

from naisei.retrieval.index import Index

__all__ = ["find_passage"]


def find_passage(index: Index, chunk: str) -> dict[str, JsonValue] | None:
    """The chunk of this id in the newest generation; `None` if it is not in it."""
    found = index.chunk(chunk)
    if found is None:
        return None
    return found.model_dump(
        mode="json", include={"id", "path", "title", "headings", "page", "date", "text"}
    )
