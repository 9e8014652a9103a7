"""An index in PostgreSQL: vectors by pgvector, words by a GIN index, permissions as a condition.

An index is built in a folder (`naisei.retrieval.build`) and then published: its newest generation
is copied into the database, and readers follow it. A search asks the database for what may be
among the best (by words, by meaning) of what the asker may find, and ranks that as the index in
the folder does (`Index._search`): the same chunks, scores and order, as far as the candidates are
the same. By words they are, by proof: more are fetched until none that was left out can be among
the first. By meaning they are where vectors are compared one by one; a large index
(`EXACT` chunks) is walked by HNSW instead, which may miss some.

Of what somebody may not find nothing is told, nor in statistics of words: those of a part are
counted once, and scores go by them. Only the mean length of chunks is that of all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from naisei.japanese.sentences import search_tokens
from naisei.models.base import Embedder
from naisei.postgres import database
from naisei.retrieval.index import DEPTH, Index
from naisei.retrieval.published_snapshot import PublishedSnapshot, newest_number
from naisei.retrieval.publishing import SCHEMA
from naisei.retrieval.types import Hit, Mode

if TYPE_CHECKING:
    pass

Floats = npt.NDArray[np.float32]


class PublishedIndex(Index):
    """An `Index` in a database. directory: the folder in which it is named, for what is kept
    beside it. Made by `Index.open`."""

    def __init__(
        self,
        directory: Path,
        address: str,
        name: str,
        embedder: Embedder | None,
        groups: frozenset[str] | None,
        *,
        of: PublishedIndex | None = None,
    ) -> None:
        self._there, self._name, self._address = database(address), name, address
        self._there.prepare("indexes", SCHEMA)
        super().__init__(directory, _NoStore(), embedder, groups, of=of)  # type: ignore[arg-type]

    def seen_by(self, groups: Collection[str] | None) -> Index:
        asking = None if groups is None else frozenset(groups)
        of: Any = self._of or self
        return PublishedIndex(
            self.directory, self._address, self._name, self._embedder, asking, of=of
        )

    def _newest(self) -> Any:
        return PublishedSnapshot(self._there, self._name, self.directory, self.groups)

    def _is_newest(self, snapshot: Any) -> bool:
        return bool(snapshot.generation == newest_number(self._there, self._name))

    def remembered(self, name: str, make: Callable[[], str]) -> str:
        current: Any = self._current()
        if (known := current.note(name)) is not None:
            return str(known)
        made: str = make()
        current.keep_note(name, made)
        return made

    def frequencies(self, words: Iterable[str]) -> dict[str, int]:
        asked = list(dict.fromkeys(words))
        current: Any = self._current()
        told = current.statistics(asked)
        return {word: told[word].df if word in told else 0 for word in asked}

    def possible(self, query: str) -> float:
        current: Any = self._current()
        asked = search_tokens(query)
        return float(current.words_of(asked, ()).possible(asked))

    def _search(
        self,
        snapshot: Any,
        query: str,
        k: int,
        mode: Mode,
        filters: Mapping[str, Any],
        prefer: Mapping[str, Any],
    ) -> list[Hit]:
        vector = None
        if mode != "bm25" and snapshot.embedder is not None and query.strip():
            vector = super()._vector(snapshot, query)
        part = snapshot.part(query, max(DEPTH, 4 * k), mode, filters, vector)
        # The filters have been asked of the database.
        return super()._search(part, query, k, mode, {}, prefer)

    def _vector(self, snapshot: Any, query: str) -> Floats:
        vector: Floats = snapshot.vector
        return vector


class _NoStore:
    def close(self) -> None:
        pass
