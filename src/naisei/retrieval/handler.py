"""Performs `Search` effects on an index of documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import JsonValue

from naisei.core import Evidence, FlowError, Handler, Search, Where
from naisei.retrieval.index import Index
from naisei.retrieval.types import Hit, Mode

__all__ = ["SOURCE", "SearchHandler", "evidence"]

SOURCE = "documents"


class SearchHandler(Handler):
    """Searches of the source `documents` (or none named). mode, filters: as `Index.search`."""

    def __init__(
        self,
        index: Index,
        *,
        mode: Mode = "hybrid",
        filters: Mapping[str, Any] | None = None,
    ) -> None:
        self.index, self._mode, self._filters = index, mode, filters

    def perform(self, effect: Any, where: Where) -> list[Evidence]:
        """Raises:
        FlowError: another source.
        InputError, InstrumentFailure: as `Index.search`.
        """
        search = cast(Search, effect)
        if search.source not in ("", SOURCE):
            raise FlowError(f"no source {search.source!r} is searched here, only {SOURCE!r}")
        hits = self.index.search(search.query, k=search.k, mode=self._mode, filters=self._filters)
        return [evidence(hit) for hit in hits]


def evidence(hit: Hit) -> Evidence:
    """A hit as the core's evidence; meta: path, title, headings, page, date (ISO), format,
    bm25, dense, and the document's own."""
    chunk = hit.chunk
    meta: dict[str, JsonValue] = {
        **chunk.meta,
        "path": chunk.path,
        "title": chunk.title,
        "headings": list(chunk.headings),
        "page": chunk.page,
        "date": chunk.date.isoformat() if chunk.date else None,
        "format": chunk.format,
        "bm25": hit.bm25,
        "dense": hit.dense,
    }
    return Evidence(id=chunk.id, text=chunk.text, score=hit.score, meta=meta)
