"""An index that is searched."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from naisei.core import Evidence, FlowError, Handler, InputError, Search, Where
from naisei.files import write_atomically
from naisei.japanese.sentences import search_tokens, synonyms
from naisei.lang import say
from naisei.models.base import Embedder
from naisei.models.embedders import open_embedder
from naisei.retrieval.ranking import blend, copies_last, fuse, newer_first
from naisei.retrieval.snapshot import Gone, Snapshot
from naisei.retrieval.store import Store, folder_of
from naisei.retrieval.types import Chunk, Hit, Mode

__all__ = ["SOURCE", "Index", "SearchHandler", "evidence"]


#: Candidates of each way of searching that are fused.
_DEPTH = 100
#: How much more what is preferred counts.
_LIKED = 1.5


class Index:
    """An open index; may be used by several threads. It follows new generations by itself:
    every search is answered from one, the newest when it began."""

    def __init__(self, directory: Path, store: Store, embedder: Embedder | None) -> None:
        self.directory = directory
        self._store, self._embedder = store, embedder
        self._lock = threading.Lock()
        self._snapshot = _newest(store, directory)

    @classmethod
    def open(cls, directory: Path | str, *, embedder: Embedder | None = None) -> Index:
        """embedder: the one that the index was built with; opened by its name by default.

        Raises:
            InputError: no index, or none that is whole yet.
        """
        directory = Path(directory)
        store = Store(directory)
        if store.generation() == 0:
            store.close()
            raise InputError(
                say("索引がまだできあがっていません", "the index is not finished"),
                place=str(directory),
                remedy=say("もう一度索引を作ってください", "index the folder again"),
            )
        return cls(directory, store, embedder)

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Chunks."""
        return len(self._current())

    @property
    def meaning(self) -> bool:
        """Whether it has vectors."""
        return self._current().embedder is not None

    def possible(self, query: str) -> float:
        """The score by words of a text that had all words of a query."""
        return self._current().words.possible(search_tokens(query))

    @property
    def generation(self) -> int:
        return self._current().generation

    def chunk(self, id: str) -> Chunk | None:
        """The chunk of this id in the newest generation; `None` if it is not in it."""
        while True:
            snapshot = self._current()
            with contextlib.suppress(Gone), self._lock:
                return snapshot.named(id)

    def outline(self) -> list[tuple[str, tuple[str, ...]]]:
        """(title, its headings in order) of each document, but outdated editions and copies."""
        with self._lock:
            return self._snapshot.outline()

    def remembered(self, name: str, make: Callable[[], str]) -> str:
        """What `make` tells of this generation, made once and kept with it, where that can be
        written."""
        path = folder_of(self.directory, self.generation) / name
        with contextlib.suppress(OSError):
            return path.read_text(encoding="utf-8")
        made = make()
        # An index may be another's: then every process makes its own.
        with contextlib.suppress(InputError, OSError):
            write_atomically(path, made)
        return made

    def frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """Search word (of `search_tokens`) → how many chunks it stands in."""
        snapshot = self._current()
        return {w: int(np.count_nonzero(snapshot.words.scores([w]))) for w in words}

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        mode: Mode = "hybrid",
        filters: Mapping[str, Any] | None = None,
        prefer: Mapping[str, Any] | None = None,
    ) -> list[Hit]:
        """The best `k` chunks, best first; fewer if fewer fit.

        By words, a chunk must share one with the query. By meaning, every chunk has a place; the
        first ones, and those found by words, are ranked by their nearest sentence. An
        index without vectors answers `hybrid` by words alone. Outdated editions rank behind the
        newer one (`naisei.retrieval.ranking`), a text that was found already behind all others.

        Args:
            filters: what a chunk must be, see `naisei.retrieval.snapshot`.
            prefer: written the same way; chunks that fit move up, nothing is left out. Keys
                that no document has do nothing.

        Raises:
            InputError: `k` below 1, an unknown mode, a filter that is none; `dense` without
                vectors.
            InstrumentFailure: the embedder cannot be reached.
        """
        if k < 1:
            raise InputError(
                say(f"k は 1 以上です（{k} が渡されました）", f"k must be at least 1, not {k}"),
                place="k",
            )
        if mode not in get_args(Mode):
            raise InputError(
                say(f"検索の方法に {mode!r} はありません", f"no way of searching is {mode!r}"),
                remedy=say("hybrid、bm25、dense のどれか", "hybrid, bm25 or dense"),
            )
        while True:
            snapshot = self._current()
            try:
                return self._search(snapshot, query, k, mode, filters or {}, prefer or {})
            except Gone:  # two newer generations came in the meantime
                continue

    def _search(
        self,
        snapshot: Snapshot,
        query: str,
        k: int,
        mode: Mode,
        filters: Mapping[str, Any],
        prefer: Mapping[str, Any],
    ) -> list[Hit]:
        depth = max(_DEPTH, 4 * k)
        with self._lock:
            mask = snapshot.mask(filters) if filters else None
            liked = snapshot.mask(known) if (known := snapshot.usable(prefer)) else None
        asked = list(dict.fromkeys(search_tokens(query)))
        by_words, cosines = None, None
        words: list[int] = []
        meanings: list[int] = []
        if mode != "dense":
            by_words = snapshot.words.scores(asked, synonyms(asked))
            words = _best(by_words, depth, mask, above=0.0)
        elif snapshot.embedder is None:
            raise InputError(
                say("この索引には埋め込みがありません", "the index has no vectors"),
                remedy=say("埋め込みを使って索引を作ってください", "index with an embedder"),
            )
        if mode != "bm25" and snapshot.embedder is not None and query.strip():
            vector = self._model(snapshot.embedder).embed([query], "query")[0]
            cosines = snapshot.vectors.scores(vector)
            meanings = _best(cosines, depth, mask, above=-2.0)
            candidates = list(dict.fromkeys([*meanings, *words]))
            nearest = snapshot.spans.nearest(candidates, vector, cosines[candidates])
            meanings = [candidates[at] for at in np.argsort(-nearest, kind="stable")[:depth]]
        if by_words is not None and cosines is not None:
            ground = float(cosines.mean()) if len(cosines) else 0.0
            possible = snapshot.words.possible(asked)
            fused = blend(
                candidates, by_words[candidates], nearest, ground=ground, possible=possible
            )
        else:
            fused = fuse([words or meanings])
        if liked is not None:
            moved = {row: s * _LIKED if liked[row] else s for row, s in fused.items()}
            fused = dict(sorted(moved.items(), key=lambda pair: -pair[1]))
        place_w = {row: rank for rank, row in enumerate(words, start=1)}
        place_m = {row: rank for rank, row in enumerate(meanings, start=1)}
        with self._lock:
            ranked = newer_first(fused, snapshot.document, query)
            found = snapshot.chunks([row for row, _ in ranked[: 4 * k]])
        return [
            Hit(
                chunk=chunk,
                score=score,
                bm25=place_w.get(row),
                dense=place_m.get(row),
                words=None if by_words is None else float(by_words[row]),
                cosine=None if cosines is None else float(cosines[row]),
                matched=None if by_words is None else snapshot.words.matched(asked, row),
                spans=()
                if cosines is None
                else tuple(map(float, snapshot.spans.each(row, vector))),
            )
            for chunk, (row, score) in copies_last(found, ranked)[:k]
        ]

    def _current(self) -> Snapshot:
        """Of the newest generation."""
        with self._lock:
            if self._store.generation() != self._snapshot.generation:
                self._snapshot = _newest(self._store, self.directory)
            return self._snapshot

    def _model(self, name: str) -> Embedder:
        with self._lock:
            if self._embedder is None or self._embedder.name != name:
                self._embedder = open_embedder(name)
            return self._embedder


def _best(
    scores: npt.NDArray[np.float32],
    depth: int,
    mask: npt.NDArray[np.bool_] | None,
    *,
    above: float,
) -> list[int]:
    """Rows of the greatest scores, best first, ties by row."""
    if mask is not None:
        scores = np.where(mask, scores, np.float32(-3.0))
    if len(scores) > depth:
        some = np.argpartition(scores, len(scores) - depth)[-depth:]
    else:
        some = np.arange(len(scores))
    some = some[scores[some] > above]
    return [int(row) for row in some[np.lexsort((some, -scores[some]))]]


def _newest(store: Store, directory: Path) -> Snapshot:
    tried = 0
    while (newest := store.generation()) != tried:
        tried = newest
        with contextlib.suppress(Gone):  # a newer one came while it was opened
            return Snapshot(store.db, directory, newest)
    raise InputError(
        say("索引のファイルが欠けています", "the index has lost files"),
        place=str(directory),
        remedy=say("もう一度索引を作ってください", "index the folder again"),
    )


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
        "bm25": hit.bm25,
        "dense": hit.dense,
        "words": hit.words,
        "cosine": hit.cosine,
        "spans": [round(cosine, 4) for cosine in hit.spans],
    }
    return Evidence(id=chunk.id, text=chunk.text, score=hit.score, meta=meta)
