"""A generation of a published index: its documents in memory, of its chunks what a search needs."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from naisei.core import InputError, fingerprint
from naisei.japanese.sentences import related, search_tokens, synonyms
from naisei.lang import say
from naisei.postgres import Database
from naisei.retrieval.permissions import may_find
from naisei.retrieval.publishing import vector_text
from naisei.retrieval.snapshot import Filed, Snapshot, document_tests, fold, heading_words
from naisei.retrieval.types import Chunk, Mode
from naisei.retrieval.vectors import SpanIndex, VectorIndex, WordIndex, idf

if TYPE_CHECKING:
    from psycopg import Connection

Floats = npt.NDArray[np.float32]
#: Bytes before the numbers of a vector as pgvector sends it.
_HEADER = 4
#: What HNSW looks at: more finds more of the nearest, and takes longer.
_EF = 400


def newest_number(there: Database, name: str) -> int:
    query = "SELECT coalesce(max(id), 0) FROM indexes WHERE name = %s"
    found = there.again(lambda db: db.execute(query, (name,)).fetchone())
    return int(found[0]) if found else 0


class PublishedSnapshot(Snapshot):
    """A generation in the database, as somebody in certain groups finds it. Of the documents all
    is in memory, of the chunks nothing."""

    def __init__(
        self, there: Database, name: str, directory: Path, groups: frozenset[str] | None
    ) -> None:
        number = newest_number(there, name)
        if number == 0:
            raise InputError(
                say(f"データベースに索引 {name} がありません", f"no index {name} is there"),
                place=there.shown,
                remedy="naisei intent index DIR --store URL",
            )
        self.generation, self.folder = number, directory
        self._there, self._groups = there, groups
        query = "SELECT embedder, size, mean FROM indexes WHERE id = %s"
        ((self.embedder, self._size, mean),) = self._rows(query, (number,))
        self._mean = None if mean is None else np.array(json.loads(mean), dtype=np.float32)
        documents = "SELECT * FROM index_documents WHERE index = %s ORDER BY id"
        every = [Filed(row[1:]) for row in self._rows(documents, (number,))]
        seen = {f.id: f for f in every if may_find(groups, f.groups, f.meta)}
        paths = {f.path for f in seen.values()}
        for filed in seen.values():
            filed.newer = filed.newer if filed.newer in paths else None
            filed.twin = filed.twin if filed.twin in paths else None
        self.filed = seen
        self._condition, self._values = self._may()
        self._view = "" if len(seen) == len(every) else fingerprint(sorted(groups or ()))
        self._count = self._size if not self._view else self._counted()

    def _may(self) -> tuple[str, tuple[object, ...]]:
        """The condition by which a chunk may be found."""
        if self._groups is None:
            return "true", ()
        groups = sorted(self._groups)
        return (
            "(listed IS NULL OR listed && %s::text[]) AND (own IS NULL OR own && %s::text[])",
            (groups, groups),
        )

    def _counted(self) -> int:
        """Count what may be found, and its words, once for all who may find the same."""

        def make(db: Connection[Any]) -> None:
            with db.transaction():
                lock = "SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))"
                db.execute(lock, (self._view, self.generation))
                there = "SELECT 1 FROM index_views WHERE index = %s AND view = %s LIMIT 1"
                if db.execute(there, (self.generation, self._view)).fetchone() is None:
                    insert = (
                        "INSERT INTO index_views SELECT %s, %s, word, count(*), max(weight::real)"
                        f" FROM {self._table}, jsonb_each(weights) AS each(word, weight)"
                        f" WHERE {self._condition} GROUP BY word"
                    )
                    values = (self.generation, self._view, *self._values)
                    db.execute(insert.encode(), values)

        self._there.again(make)
        query = f"SELECT count(*), avg(embedding) FROM {self._table} WHERE {self._condition}"
        ((count, mean),) = self._rows(query, self._values)
        if mean is not None:
            self._mean = np.array(json.loads(mean), dtype=np.float32)
        return int(count)

    @property
    def _table(self) -> str:
        return f"index_chunks_{self.generation}"

    def _rows(
        self, query: str, values: Sequence[object] = (), *, settings: Sequence[str] = ()
    ) -> list[tuple[Any, ...]]:
        def work(db: Connection[Any]) -> list[tuple[Any, ...]]:
            found: list[tuple[Any, ...]]
            if not settings:
                found = db.execute(query.encode(), values).fetchall()
                return found
            with db.transaction():
                for each in settings:
                    db.execute(f"SET LOCAL {each}".encode())
                found = db.execute(query.encode(), values).fetchall()
                return found

        return self._there.again(work)

    def __len__(self) -> int:
        return self._count

    def note(self, name: str) -> str | None:
        """What was kept of this generation, for who may find the same."""
        query = "SELECT text FROM index_notes WHERE index = %s AND name = %s"
        found = self._rows(query, (self.generation, f"{self._view}/{name}"))
        return bytes(found[0][0]).decode() if found else None

    def keep_note(self, name: str, text: str) -> None:
        query = "INSERT INTO index_notes VALUES (%s, %s, %s) ON CONFLICT DO NOTHING RETURNING 1"
        self._rows(query, (self.generation, f"{self._view}/{name}", text.encode()))

    def statistics(self, words: Iterable[str]) -> dict[str, _Told]:
        asked = list(dict.fromkeys(words))
        query = "SELECT word, df, most FROM index_words WHERE index = %s AND word = ANY(%s)"
        every = {w: (n, most) for w, n, most in self._rows(query, (self.generation, asked))}
        if not self._view:
            return {word: _Told(n, most, 1.0) for word, (n, most) in every.items()}
        query = (
            "SELECT word, df, most FROM index_views"
            " WHERE index = %s AND view = %s AND word = ANY(%s)"
        )
        told = {}
        for word, count, most in self._rows(query, (self.generation, self._view, asked)):
            factor = idf(count, self._count) / idf(every[word][0], self._size)
            told[word] = _Told(count, most * factor, factor)
        return told

    def words_of(self, words: Iterable[str], kept: Sequence[Mapping[str, float]]) -> _Words:
        asked = dict.fromkeys(words)
        wanted = [*asked, *related(asked)]
        for others in synonyms(list(asked)).values():
            wanted += [word for other in others for word in other]
        return _Words(self.statistics(wanted), self._count, kept)

    def outline(self) -> list[tuple[str, tuple[str, ...]]]:
        found: dict[int, dict[str, None]] = {}
        query = f"SELECT document, headings FROM {self._table} WHERE {self._condition} ORDER BY id"
        for number, headings in self._rows(query, self._values):
            filed = self.filed.get(number)
            if filed is not None and not (filed.newer or filed.twin or filed.old):
                names = (h for h in json.loads(headings) if h != filed.title)
                found.setdefault(number, {}).update(dict.fromkeys(names))
        return [(self.filed[number].title, tuple(names)) for number, names in found.items()]

    def named(self, name: str) -> Chunk | None:
        filed = self._paths.get(name.rpartition("#")[0])
        if filed is None:
            return None
        columns = "name, headings, page, text"
        query = f"SELECT {columns} FROM {self._table} WHERE document = %s AND name = %s"
        found = self._rows(query, (filed.id, name))
        return self._made(filed, *found[0]) if found else None

    def _made(self, filed: Filed, name: str, headings: str, page: int | None, text: bytes) -> Chunk:
        return self.as_chunk(filed, name, headings, page, text.decode())

    def part(
        self, query: str, depth: int, mode: Mode, filters: Mapping[str, Any], vector: Floats | None
    ) -> PartOfSnapshot:
        """What may be among the best."""
        condition, values = self._condition, list(self._values)
        if filters:
            more, also = self._fitting(filters)
            condition, values = f"{condition} AND {more}", [*values, *also]
        asked = list(dict.fromkeys(search_tokens(query)))
        rows: set[int] = set()
        if mode != "dense":
            rows |= self._by_words(asked, depth, condition, values)
        if vector is not None:
            rows |= self._by_meaning(vector, depth, condition, values)
        return PartOfSnapshot(self, sorted(rows), asked, vector)

    def _fitting(self, filters: Mapping[str, Any]) -> tuple[str, list[object]]:
        """The condition that filters amount to. Raises `InputError`."""
        self.check_filters(filters)
        tests = document_tests(filters)
        fitting = [
            n
            for n, f in self.filed.items()
            if all(test(f.path, f.format, f.date, f.meta) for test in tests)
        ]
        condition, values = "document = ANY(%s)", [fitting]
        if words := heading_words(filters):
            likes = [f"%{w.replace('%', chr(92) + '%')}%" for w in words]
            return f"{condition} AND place LIKE ANY(%s)", [*values, likes]
        return condition, [*values]

    def _by_words(
        self, asked: list[str], depth: int, condition: str, values: Sequence[object]
    ) -> set[int]:
        """Rows among which are the `depth` best by words."""
        wanted = dict.fromkeys(asked)
        for others in synonyms(asked).values():
            wanted |= dict.fromkeys(word for other in others for word in other)
        if not wanted:
            return set()
        told = self.statistics(wanted)
        # The rarest first: of what has none of them, no score is above what the others can give
        # (MaxScore: Turtle & Flood, 1995).
        order = sorted(told, key=lambda word: told[word].df)
        reach = list(accumulate(told[word].df for word in order))
        taken, most = bisect_left(reach, 4 * depth) + 1, 4 * depth
        while True:
            some, rest = order[:taken], order[taken:]
            found = self._with_words(some, told, most, condition, values)
            held = _Words(told, self._count, [weights for *_, weights in found])
            scores = np.sort(held.scores(asked, synonyms(asked)))[::-1]
            least = float(scores[depth - 1]) if len(scores) >= depth else 0.0
            cut = len(found) == most and least <= float(found[-1][1])
            if cut and most < self._size:
                most *= 4
            elif rest and least <= sum(told[word].most for word in rest):
                taken = bisect_left(reach, 2 * reach[taken - 1]) + 1
            else:
                return {row for row, *_ in found}

    def _with_words(
        self,
        some: Sequence[str],
        told: Mapping[str, _Told],
        most: int,
        condition: str,
        values: Sequence[object],
    ) -> list[tuple[Any, ...]]:
        """(row, a bound on its score, the weights of its words) of chunks that have any of some
        words, the greatest bounds first. told: all words that count."""
        # No score is above the sum of the weights of all these words.
        bound = " + ".join(["coalesce((weights->%s)::real, 0) * %s"] * len(told)) or "0"
        factors = [value for word in told for value in (word, told[word].factor)]
        return self._rows(
            f"SELECT row, {bound} AS bound, weights FROM {self._table}"
            f" WHERE words && %s::text[] AND {condition} ORDER BY bound DESC, row LIMIT %s",
            (*factors, list(some), *values, most),
        )

    def _by_meaning(
        self, vector: Floats, depth: int, condition: str, values: Sequence[object]
    ) -> set[int]:
        settings = (f"hnsw.ef_search = {_EF}", "hnsw.iterative_scan = strict_order")
        found = self._rows(
            f"SELECT row FROM {self._table} WHERE {condition}"
            " ORDER BY embedding <#> %s::vector LIMIT %s",
            (*values, vector_text(vector), depth),
            settings=settings,
        )
        return {row for (row,) in found}

    def mean_cosine(self, vector: Floats) -> float:
        return 0.0 if self._mean is None else float((self._mean * vector).sum())

    def fetched(self, rows: Sequence[int], *, vectors: bool) -> list[tuple[Any, ...]]:
        query = (
            "SELECT row, id, document, name, headings, page, text, weights,"
            f" {'vector_send(embedding), spans' if vectors else 'NULL, NULL'}"
            f" FROM {self._table} WHERE row = ANY(%s) ORDER BY row"
        )
        return self._rows(query, (list(rows),))


class _Told(NamedTuple):
    """Of a word, as far as somebody may find it. df: chunks that have it. most: the best score that
    it gives any. factor: of its score in the whole index."""

    df: int = 0
    most: float = 0.0
    factor: float = 0.0


class _Words(WordIndex):
    """Of some chunks, with the statistics of all. kept: of each chunk, word → its score."""

    def __init__(
        self,
        told: Mapping[str, _Told],
        whole: int,
        kept: Sequence[Mapping[str, float]],
    ) -> None:
        self.size, self._whole, self._told = len(kept), whole, told
        self._found: dict[str, tuple[list[int], list[float]]] = {}
        for row, words in enumerate(kept):
            for word, known in told.items():
                if (score := words.get(word)) is not None:
                    rows, scores = self._found.setdefault(word, ([], []))
                    rows.append(row)
                    scores.append(score * known.factor)

    def _postings(self, word: str) -> tuple[npt.NDArray[np.int32], Floats]:
        rows, scores = self._found.get(word, ([], []))
        return np.array(rows, dtype=np.int32), np.array(scores, dtype=np.float32)

    def _most(self, word: str) -> float:
        return self._told.get(word, _Told()).most

    def _count(self, word: str) -> int:
        return self._told.get(word, _Told()).df

    def _texts(self) -> int:
        return self._whole


class _Vectors(VectorIndex):
    def __init__(self, rows: Floats | None) -> None:
        self._rows, self._only = rows, None


class _Spans(SpanIndex):
    def __init__(self, stored: Sequence[bytes | None], width: int) -> None:
        self.take(stored, width)


class PartOfSnapshot(Snapshot):
    """Some rows of a published generation, numbered anew in their order, as a generation of their
    own; what is told of all (statistics, the mean) is still told of all."""

    def __init__(
        self,
        whole: PublishedSnapshot,
        rows: Sequence[int],
        asked: Sequence[str],
        vector: Floats | None,
    ) -> None:
        self.generation, self.embedder, self.folder = whole.generation, whole.embedder, whole.folder
        self.filed, self._whole = whole.filed, whole
        found = whole.fetched(rows, vectors=vector is not None)
        self.vector = vector
        self._chunks = np.array([(r[1], r[2]) for r in found], dtype=np.int64).reshape(-1, 2)
        self._held: list[Any] = [r[3:7] for r in found]
        self.words = whole.words_of(asked, [r[7] for r in found])
        rows_: Floats | None = None
        if vector is not None:
            sent = b"".join(bytes(r[8])[_HEADER:] for r in found)
            rows_ = np.frombuffer(sent, dtype=">f4").astype(np.float32)
            rows_ = rows_.reshape(-1, len(vector))
        self.vectors = _Vectors(rows_)
        self.spans = _Spans([r[9] for r in found], 0 if vector is None else len(vector))

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        return [self._whole._made(self.document(row), *self._held[row]) for row in rows]

    def ground(self, cosines: npt.NDArray[np.float64], vector: Floats) -> float:
        return self._whole.mean_cosine(vector)

    @cached_property
    def keys(self) -> frozenset[str]:
        return self._whole.keys

    @cached_property
    def _places(self) -> list[str]:
        return [
            fold("\n".join([self.document(row).title, *json.loads(kept[1])]))
            for row, kept in enumerate(self._held)
        ]
