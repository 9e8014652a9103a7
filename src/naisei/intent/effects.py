"""The assistant's effects and their handlers: index search, word weights, and a person's
thresholds.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core import (
    Chat,
    Effect,
    Evidence,
    FlowError,
    Handler,
    HandlerWrapper,
    Search,
    Where,
    World,
)
from naisei.intent.schemas import Thresholds
from naisei.intent.spelling import Respell, RespellHandler
from naisei.intent.worries import Worry, WorryHandler
from naisei.japanese.morph import is_japanese
from naisei.japanese.sentences import search_tokens
from naisei.lang import Language
from naisei.retrieval.index import Index
from naisei.retrieval.types import Chunk, Hit, Mode
from naisei.retrieval.vectors import off_subject

SOURCE = "documents"


class SearchHandler(Handler):
    """Searches the source `documents` (or an unnamed one). mode: as in `Index.search`."""

    def __init__(self, index: Index, *, mode: Mode = "hybrid") -> None:
        self.index, self._mode = index, mode

    def perform(self, effect: Any, where: Where) -> list[Evidence]:
        """Raises:
        FlowError: another source.
        InputError, InstrumentFailure: as `Index.search`.
        """
        search = cast(Search, effect)
        if search.source not in ("", SOURCE):
            raise FlowError(f"no source {search.source!r} is searched here, only {SOURCE!r}")
        hits = self.index.search(search.query, k=search.k, mode=self._mode)
        return [evidence(hit) for hit in hits]


def link(chunk: Chunk) -> str:
    """Return where a reader finds a chunk: the document's address or path, at the page or heading:
    `#page=3` for PDF, the heading's anchor for Markdown (as on GitHub), a text fragment for HTML.
    """
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
    bm25, dense, words, cosine, spans (as in `Hit`), and the document's own metadata."""
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


class Weights(BaseModel):
    """Word weights of a query in an index.

    idf: search word → inverse document frequency over the chunks, ln(1 + (N − n + ½)/(n + ½)),
    above 0; a missing word has the greatest. ground, reach: the best score that questions off the
    subject find in the index, and that questions made of its headings find, on average
    (`naisei.intent.evidence`). meaning: whether these are cosines; else scores by words. chunks: N.
    foreign: the documents' language, where it is not the query's and most of its words are in none
    of them.
    """

    model_config = ConfigDict(frozen=True)

    idf: dict[str, float] = {}
    ground: float = 0.0
    reach: float = 0.0
    meaning: bool = False
    chunks: int = 0
    foreign: Language | None = None


@dataclass(frozen=True)
class Weigh(Effect[Weights]):
    """Requests the `Weights` of a query."""

    kind: ClassVar[str] = "weigh"
    query: str

    def request(self) -> JsonValue:
        return {"query": self.query}

    def encode(self, result: Weights) -> JsonValue:
        return result.model_dump(mode="json")

    def decode(self, data: JsonValue) -> Weights:
        return Weights.model_validate(data)


@dataclass(frozen=True)
class Cuts(Effect[Thresholds]):
    """Requests the person's thresholds, adjusted by feedback."""

    kind: ClassVar[str] = "cuts"
    user: str

    def request(self) -> JsonValue:
        return {"user": self.user}

    def encode(self, result: Thresholds) -> JsonValue:
        return result.model_dump(mode="json")

    def decode(self, data: JsonValue) -> Thresholds:
        return Thresholds.model_validate(data)


class WeighHandler(Handler):
    """Weighs queries against one index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def perform(self, effect: object, where: Where) -> Weights:
        query = cast(Weigh, effect).query
        size = len(self._index)
        counts = self._index.frequencies(dict.fromkeys(search_tokens(query)))
        meaning = self._index.meaning
        asked: Language = "ja" if is_japanese(query) else "en"
        ground, reach = self._calibrated(asked)
        written = self._index.language
        absent = 2 * sum(not n for n in counts.values()) >= len(counts)
        if not meaning:
            whole = self._index.possible(query)
            ground, reach = ground * whole, reach * whole
        return Weights(
            idf={word: math.log1p((size - n + 0.5) / (n + 0.5)) for word, n in counts.items()},
            ground=ground,
            reach=reach,
            meaning=meaning,
            chunks=size,
            foreign=written if absent and written != asked else None,
        )

    def _calibrated(self, language: Language) -> tuple[float, float]:
        """(ground, reach) of the index, cached per generation."""

        def made() -> str:
            about = "{}について教えてください" if language == "ja" else "Please tell me about {}."
            named = [
                title if not heads else f"{title} {heads[len(heads) // 2]}"
                for title, heads in self._index.outline()
            ]
            step = max(1, len(named) // _PSEUDO)
            ours = [about.format(name) for name in named[::step][:_PSEUDO]]
            ground, reach = (
                statistics.fmean(map(self._best, questions)) if questions else 0.0
                for questions in (off_subject(language), ours)
            )
            return json.dumps({"ground": ground, "reach": reach})

        kept = json.loads(self._index.cached(f"calibration.{language}.json", made))
        return float(kept["ground"]), float(kept["reach"])

    def _best(self, query: str) -> float:
        """The greatest cosine of the hits and their sentences; without vectors the greatest share
        of the score that all words would have; 0 without hits."""
        hits = self._index.search(query, k=_LOOKED_AT)
        if not self._index.meaning:
            whole = self._index.possible(query) or 1.0
            return max((hit.words or 0.0 for hit in hits), default=0.0) / whole
        found = [max([*hit.spans, hit.cosine or 0.0]) for hit in hits]
        return max(found, default=0.0)


#: Words and newer editions outrank nearness in meaning, but only among this many hits.
_LOOKED_AT = 10
#: Number of questions generated from headings.
_PSEUDO = 24


class ShowingHandler(HandlerWrapper):
    """Performs `Chat`, and shows the visible part of a reply while it is written, from the start on
    a retry."""

    def __init__(self, inner: Handler, show: Callable[[str], None]) -> None:
        super().__init__(inner)
        self._show = show

    def perform(self, effect: Chat[Any], where: Where) -> Any:
        if (preview := effect.preview) is None:
            return super().perform(effect, where)

        def on_text(text: str) -> None:
            if shown := preview(text):
                self._show(shown)

        return super().perform(replace(effect, on_text=on_text), where)


class CutsHandler(Handler):
    """Looks up a person's thresholds at the start of a request; the log records them."""

    def __init__(self, of: Callable[[str], Thresholds]) -> None:
        self._of = of

    def perform(self, effect: object, where: Where) -> Thresholds:
        return self._of(cast(Cuts, effect).user)


def document_world(
    base: World,
    index: Index,
    *,
    mode: Mode = "hybrid",
    cuts: Callable[[str], Thresholds] | None = None,
    threads: bool = False,
) -> World:
    """Add the documents to `base` (with Chat if a model is used). cuts: user → thresholds; by
    default the article's. threads: for an event loop that must not block on the index."""
    handlers: dict[type[Effect[Any]], Handler] = {
        Search: SearchHandler(index, mode=mode),
        Weigh: WeighHandler(index),
        Worry: WorryHandler(index),
        Respell: RespellHandler(index),
    }
    if threads:
        from naisei.http import ThreadHandler

        handlers = {kind: ThreadHandler(handler) for kind, handler in handlers.items()}
    return base.having({**handlers, Cuts: CutsHandler(cuts or (lambda user: Thresholds()))})
