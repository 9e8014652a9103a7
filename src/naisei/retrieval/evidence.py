"""Hits as evidence of a flow, and the handler of its searches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote

from pydantic import JsonValue

from naisei.core import Evidence, FlowError, Handler, Search, Where
from naisei.retrieval.index import Index
from naisei.retrieval.types import Chunk, Hit, Mode

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


def link(chunk: Chunk) -> str:
    """Where a reader finds a chunk: the document's address, else its path, at the page or under the
    heading: `#page=3` of a PDF, the heading's anchor of Markdown (as GitHub and most others make
    them), a text fragment of HTML."""
    plain = chunk.meta.get("url")
    address = str(plain) if plain else quote(chunk.path)
    heading = chunk.headings[-1] if chunk.headings else ""
    if chunk.page is not None:
        return f"{address}#page={chunk.page}"
    if heading and chunk.format == "md":
        slug = _NO_ANCHOR.sub("", heading.strip().lower()).replace(" ", "-")
        return f"{address}#{quote(slug)}"
    if heading and chunk.format == "html":
        return f"{address}#:~:text={quote(heading, safe='').replace('-', '%2D')}"
    return address


#: Characters that GitHub drops from a heading's anchor.
_NO_ANCHOR = re.compile(r"[^\w\- ]")


def evidence(hit: Hit) -> Evidence:
    """A hit as the core's evidence; meta: path, title, headings, page, date (ISO), format, link,
    bm25, dense, words, cosine, spans (as in `Hit`), and the document's own."""
    chunk = hit.chunk
    meta: dict[str, JsonValue] = {
        **chunk.meta,
        "path": chunk.path,
        "title": chunk.title,
        "headings": list(chunk.headings),
        "page": chunk.page,
        "date": chunk.date.isoformat() if chunk.date else None,
        "format": chunk.format,
        "link": link(chunk),
        "bm25": hit.bm25,
        "dense": hit.dense,
        "words": hit.words,
        "cosine": hit.cosine,
        "spans": [round(cosine, 4) for cosine in hit.spans],
    }
    return Evidence(id=chunk.id, text=chunk.text, score=hit.score, meta=meta)
