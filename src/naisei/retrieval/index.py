"""A searchable index."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from naisei.core import InputError, fingerprint
from naisei.files import write_atomically
from naisei.japanese.morph import is_japanese
from naisei.japanese.query_analysis import is_stopword, measured
from naisei.japanese.sentences import search_tokens, synonyms
from naisei.lang import Language, say
from naisei.models.base import Embedder
from naisei.models.embedders import check_vectors, open_embedder
from naisei.postgres import address_of, stored_in
from naisei.retrieval.generations import FolderGenerations, Generations
from naisei.retrieval.ranking import (
    RERANKED,
    best_rows,
    blend,
    demote_duplicates,
    demote_superseded,
    fuse,
    rerank,
)
from naisei.retrieval.seal import damaged, telling
from naisei.retrieval.snapshot import Gone, Snapshot
from naisei.retrieval.store import FILE
from naisei.retrieval.types import Chunk, Hit, Mode
from naisei.retrieval.vectors import is_english, off_subject
from naisei.similarity import order, unit

T = TypeVar("T")
P = ParamSpec("P")


def cached_at(path: Path, make: Callable[[], str]) -> str:
    """The result of `make()`, from this file if it is complete; else computed and written."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        digest, _, known = path.read_text(encoding="utf-8").partition("\n")
        if digest == fingerprint(known):
            return known
    made = make()
    # In another user's folder every process computes its own.
    with contextlib.suppress(InputError, OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, f"{fingerprint(made)}\n{made}")
    return made


#: Candidates fused from each search method.
DEPTH = 100
#: Chunks sampled for the language.
_SAMPLE = 50


class Index:
    """An open index; may be used by several threads. It follows new generations automatically; each
    search uses the newest one. It shows only documents visible to its groups
    (`naisei.retrieval.permissions`); `seen_by` gives the index for other groups."""

    def __init__(
        self,
        directory: Path,
        source: Generations,
        embedder: Embedder | None,
        groups: frozenset[str] | None = None,
        *,
        of: Index | None = None,
    ) -> None:
        self.directory, self.groups = directory, groups
        self._source, self._embedder = source, embedder
        self._lock: threading.Lock = of._lock if of is not None else threading.Lock()
        self._of = of
        with self._lock:
            self._number, self._snapshot = self._newest()
        made_with = self._snapshot.embedder
        if made_with is not None and (embedder is None or embedder.name != made_with):
            check_vectors(made_with, str(directory))

    @classmethod
    def open(
        cls,
        directory: Path | str,
        *,
        embedder: Embedder | None = None,
        groups: Collection[str] | None = (),
    ) -> Index:
        """directory: an index, or a folder whose `store.json` names an index in a database.
        embedder: the one that built the index; opened by its name by default. groups: the user's;
        none by default, so only public documents; `None`: all documents, for the operator.

        Raises:
            InputError: no index, no complete generation, or another embedder's index.
        """
        directory = Path(directory)
        asking = None if groups is None else frozenset(groups)
        source: Generations
        if (stored := stored_in(directory)) is not None:
            from naisei.retrieval.published import Published

            source = Published(directory, address_of(stored.store), stored.name)
        else:
            source = FolderGenerations(directory)
        try:
            with telling(directory / FILE):
                return cls(directory, source, embedder, asking)
        except BaseException:
            source.close()
            raise

    def seen_by(self, groups: Collection[str] | None) -> Index:
        """The same index for other groups; closed with this one."""
        asking = None if groups is None else frozenset(groups)
        return Index(self.directory, self._source, self._embedder, asking, of=self._of or self)

    def close(self) -> None:
        """Close after other threads' current reads, since SQLite would otherwise crash."""
        if self._of is None:
            with self._lock:
                self._source.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Number of chunks."""
        return len(self._current())

    @property
    def embedder(self) -> str | None:
        """The name of the embedder of its vectors; `None` without vectors."""
        return self._current().embedder

    @property
    def meaning(self) -> bool:
        """Whether it has vectors."""
        return self.embedder is not None

    def possible(self, query: str) -> float:
        """The word score of an ideal text with all words of a query."""
        return self._current().words.possible(search_tokens(query))

    @property
    def generation(self) -> int:
        self._current()
        return self._number

    def chunk(self, id: str) -> Chunk | None:
        """The chunk with this id in the newest generation; `None` if missing."""
        return self._answered(lambda snapshot: self._alone(snapshot.named, id))

    def outline(self) -> list[tuple[str, tuple[str, ...]]]:
        """(title, headings in order) of each document except outdated editions and copies."""
        return self._answered(lambda snapshot: self._alone(snapshot.outline))

    def cached(self, name: str, make: Callable[[], str]) -> str:
        """`make()`, computed once per generation and cached with it if writable."""
        snapshot = self._current()
        return cached_at(snapshot.folder / f"{snapshot.part}{name}", make)

    def frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """Search word (of `search_tokens`) → number of chunks that contain it."""
        snapshot = self._current()
        return {w: int(np.count_nonzero(snapshot.words.scores([w]))) for w in words}

    def vocabulary(self) -> tuple[str, ...]:
        """The search words of all chunks."""
        return self._current().words.vocabulary()

    def embed(self, texts: list[str]) -> npt.NDArray[np.float32] | None:
        """Embed texts as queries, one row each; `None` without vectors."""
        name = self.embedder
        return None if name is None else self._model(name).embed(texts, "query")

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        mode: Mode = "hybrid",
        filters: Mapping[str, Any] | None = None,
    ) -> list[Hit]:
        """The best `k` chunks, best first; fewer if fewer match.

        Word search requires a shared word. Search by meaning ranks every chunk; the first ones,
        and those found by words, are ranked by their nearest sentence. Without vectors, `hybrid`
        uses words alone. Outdated editions rank behind the newer one
        (`naisei.retrieval.ranking`), and repeated texts behind all others.

        Args:
            filters: conditions on chunks, see `naisei.retrieval.snapshot`.

        Raises:
            InputError: `k` below 1, an unknown mode, an invalid filter; `dense` without
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
        return self._answered(
            lambda snapshot: self._search(snapshot, query, k, mode, filters or {})
        )

    def _answered(self, ask: Callable[[Snapshot], T]) -> T:
        """Run a query on the newest generation. Raises `InputError` if it is damaged."""
        while True:
            with telling(self.directory / FILE):
                snapshot = self._current()
                try:
                    return ask(snapshot)
                except Gone:  # two newer generations have replaced it
                    if self._current() is snapshot:
                        raise damaged(self.directory / FILE) from None

    def _alone(self, ask: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        with self._lock:
            return ask(*args, **named)

    def _search(
        self,
        snapshot: Snapshot,
        query: str,
        k: int,
        mode: Mode,
        filters: Mapping[str, Any],
    ) -> list[Hit]:
        depth = max(DEPTH, 4 * k)
        with self._lock:
            mask = snapshot.mask(filters) if filters else None
        asked = list(dict.fromkeys(search_tokens(query)))
        named = tuple(tuple(search_tokens(noun)) for noun in measured(query))
        by_words, cosines = None, None
        words: list[int] = []
        meanings: list[int] = []
        if mode != "dense":
            by_words = snapshot.words.scores(asked, {**synonyms(asked), (): named})
            words = best_rows(by_words, depth, mask, above=0.0)
        elif snapshot.embedder is None:
            raise InputError(
                say("この索引には埋め込みがありません", "the index has no vectors"),
                remedy=say("埋め込みを使って索引を作ってください", "index with an embedder"),
            )
        if mode != "bm25" and snapshot.embedder is not None and query.strip():
            vector = self._vector(snapshot, query)
            cosines = snapshot.vectors.scores(vector)
            meanings = best_rows(cosines, depth, mask, above=-2.0)
            candidates = list(dict.fromkeys([*meanings, *words]))
            nearest = snapshot.spans.nearest(candidates, vector, cosines[candidates])
            meanings = [candidates[at] for at in order(nearest)[:depth]]
        if by_words is not None and cosines is not None:
            ground = snapshot.mean_cosine(cosines, vector)
            possible = snapshot.words.possible(asked)
            fused = blend(
                candidates, by_words[candidates], nearest, ground=ground, possible=possible
            )
        elif by_words is not None and mode == "hybrid":
            best = max((float(by_words[row]) for row in words), default=1.0)
            fused = {row: float(by_words[row]) / best for row in words}
        else:
            fused = fuse([words or meanings])
        if mode == "hybrid" and fused:
            first = list(fused)[:RERANKED]
            with self._lock:
                texts = [" ".join([c.title, *c.headings, c.text]) for c in snapshot.chunks(first)]
            solid = [word for word in asked if not is_stopword(word)]
            covered = snapshot.words.covered(solid, first)
            fused = rerank(fused, query, texts, covered, snapshot.document)
        place_w = {row: rank for rank, row in enumerate(words, start=1)}
        place_m = {row: rank for rank, row in enumerate(meanings, start=1)}
        with self._lock:
            ranked = demote_superseded(fused, snapshot.document, query)
            found = snapshot.chunks([row for row, _ in ranked[: 4 * k]])
        return [
            Hit(
                chunk=chunk,
                score=score,
                bm25=place_w.get(row),
                dense=place_m.get(row),
                words=None if by_words is None else float(by_words[row]),
                cosine=None if cosines is None else float(cosines[row]),
                spans=()
                if cosines is None
                else tuple(map(float, snapshot.spans.each(row, vector))),
            )
            for chunk, (row, score) in demote_duplicates(found, ranked)[:k]
        ]

    @property
    def language(self) -> Language:
        """The language of most chunks."""

        def made() -> str:
            some = range(0, len(self), 1 + len(self) // _SAMPLE)
            chunks = self._answered(lambda snapshot: self._alone(snapshot.chunks, some))
            return "ja" if 2 * sum(is_japanese(c.text) for c in chunks) > len(chunks) else "en"

        return "ja" if self.cached("language", made) == "ja" else "en"

    def _common(self) -> npt.NDArray[np.float32]:
        """The mean vector of English off-topic questions."""

        def made() -> str:
            vectors = self.embed(list(off_subject("en")))
            return json.dumps([] if vectors is None else vectors.mean(axis=0).round(6).tolist())

        return np.array(json.loads(self.cached("common.en.json", made)), dtype=np.float32)

    def _vector(self, snapshot: Snapshot, query: str) -> npt.NDArray[np.float32]:
        """The query's vector. For a question in another language, subtracts the common part of such
        questions, since short texts are near to all of them."""
        assert snapshot.embedder is not None
        vectors = self._model(snapshot.embedder).embed([query], "query")
        first: npt.NDArray[np.float32] = vectors[0]
        if is_english(query) and self.language == "ja":
            return unit(first - self._common())
        return first

    def _current(self) -> Snapshot:
        """The snapshot of the newest generation."""
        with self._lock:
            if self._source.generation() != self._number:
                self._number, self._snapshot = self._newest()
            return self._snapshot

    def _newest(self) -> tuple[int, Snapshot]:
        tried = 0
        while (newest := self._source.generation()) != tried:
            tried = newest
            with contextlib.suppress(Gone):  # replaced while being opened
                return newest, self._source.snapshot(newest, self.groups)
        raise InputError(
            say("索引のファイルが欠けています", "the index has lost files"),
            place=str(self.directory),
            remedy=say("もう一度索引を作ってください", "index the folder again"),
        )

    def _model(self, name: str) -> Embedder:
        if self._of is not None:
            return self._of._model(name)
        with self._lock:
            if self._embedder is None or self._embedder.name != name:
                check_vectors(name, str(self.directory))
                self._embedder = open_embedder(name)
            return self._embedder
