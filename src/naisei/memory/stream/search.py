"""Column storage of a stream's entries and vectors, and search by the weighted sum of relevance,
importance and recency over all entries."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from naisei.memory.entry import Entry, Kind, Part, ScoreWeights
from naisei.memory.stream.query import Words, joined
from naisei.similarity import DECIMALS, Floats, cosines, unit

_ROWS = 4096


class Vectors:
    """A growing array of unit rows (`naisei.similarity.unit`), one per entry; zeros if none."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._blocks: list[npt.NDArray[np.float32]] = []
        self._known = array("b")

    def grow(self, n: int) -> None:
        """Add empty rows up to `n`; amortised O(1) per row."""
        while len(self._known) < n:
            if len(self._known) == len(self._blocks) * _ROWS:
                self._blocks.append(np.zeros((_ROWS, self.dim), dtype=np.float32))
            self._known.append(0)

    def put(self, i: int, vector: npt.NDArray[np.float32]) -> None:
        """Set row `i`. vector: shape (dim,), finite, not zero."""
        self._blocks[i // _ROWS][i % _ROWS] = unit(vector)
        self._known[i] = 1

    def cosines(self, queries: Floats) -> Floats:
        """Shape (q, entries); NaN without a vector. queries: shape (q ≥ 1, dim), not zero."""
        known = np.array(self._known, np.bool_)
        found = np.concatenate([cosines(block, queries) for block in self._blocks], axis=1)
        return np.where(known, found[:, : len(known)], np.nan)


def asking(vectors: npt.ArrayLike, dim: int) -> Floats:
    """The non-zero queries; shape (queries, dim).

    Raises:
        ValueError: wrong dimension, or a number is not finite.
    """
    queries = np.asarray(vectors, dtype=np.float64)
    if queries.ndim != 2 or queries.shape[1] != dim:
        raise ValueError(f"the queries have shape {queries.shape}, the memories {dim} dimensions")
    if not np.isfinite(queries).all():
        raise ValueError("a query's vector is not finite")
    return queries[queries.any(axis=1)]


KINDS: tuple[Kind, ...] = ("utterance", "reflection", "fact", "summary")
EPOCH = datetime(1970, 1, 1)
_EPOCH_AWARE = EPOCH.replace(tzinfo=UTC)
_V1 = ScoreWeights()
Rows = npt.NDArray[np.intp]


class Columns:
    """Entries in the order they were added; each may have a vector, and a second one in context
    (`passages`).

    Vectors are float32, of length 1: 100,000 of 384 numbers take 154 MB.
    """

    def __init__(self, *, weights: ScoreWeights = _V1) -> None:
        self.weights = weights
        self._index: dict[str, int] = {}
        self._ids: list[str] = []
        self._times: list[datetime] = []
        self._texts: list[str] = []
        self._sources: list[str | None] = []
        self._seconds = array("d")
        self._speakers = array("q")
        self._kinds = array("B")
        self._importance = array("B")
        self._vectors: Vectors | None = None
        self._contexts: Vectors | None = None
        self._without: dict[int, None] = {}
        self._people: list[str] = []
        self._named: dict[str, int] = {}
        self._words = Words()
        self._of: dict[int, tuple[str, ...]] = {}
        self._covered: set[int] = set()

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[Entry]:
        return (self._entry(i) for i in range(len(self)))

    def __contains__(self, id: str) -> bool:
        return id in self._index

    def __getitem__(self, id: str) -> Entry:
        """The entry with that id. Raises `KeyError`."""
        return self._entry(self._index[id])

    def append(self, entry: Entry, vector: npt.ArrayLike | None = None) -> None:
        """Append an entry in O(1).

        Args:
            vector: shape (dim,), any norm except 0; may be set later with `attach`, or never.

        Raises:
            ValueError: the id exists, `of` names a missing entry, naive and aware times are
            mixed, or the vector is invalid.
        """
        if entry.id in self._index:
            raise ValueError(f"the stream already has an entry {entry.id!r}")
        seconds = self._since(entry.time)
        raw = None if vector is None else self._checked(vector)
        i = len(self._ids)
        if entry.of:
            if unknown := [id for id in entry.of if id not in self._index]:
                raise ValueError(f"{entry.id!r} stands for {unknown[0]!r}, which is not there")
            self._of[i] = entry.of
            self._covered.update(self._index[id] for id in entry.of)
        self._index[entry.id] = i
        self._ids.append(entry.id)
        self._times.append(entry.time)
        if entry.speaker not in self._named:
            self._named[entry.speaker] = len(self._people)
            self._people.append(entry.speaker)
        self._speakers.append(self._named[entry.speaker])
        self._texts.append(entry.text)
        source = entry.source
        self._sources.append(None if source is None else json.dumps(source, ensure_ascii=False))
        self._seconds.append(seconds)
        self._kinds.append(KINDS.index(entry.kind))
        self._importance.append(entry.importance)
        for vectors in (self._vectors, self._contexts):
            if vectors is not None:
                vectors.grow(i + 1)
        self._without[i] = None
        if raw is not None:
            self._put(i, raw)

    def passages(self, id: str) -> tuple[str, ...]:
        """The texts to embed for an entry: its line, and in a conversation also the previous line
        joined with it. Raises `KeyError`."""
        i = self._index[id]
        line = self._entry(i).line
        return (line, f"{self._entry(i - 1).line}\n{line}") if self._goes_on(i) else (line,)

    def attach(self, id: str, vector: npt.ArrayLike, context: npt.ArrayLike | None = None) -> None:
        """Set the vectors of entry `id`, one per text in `passages`. Raises `KeyError`,
        `ValueError`."""
        i, raw = self._index[id], self._checked(vector)
        beside = None if context is None else self._checked(context)
        self._put(i, raw)
        if beside is not None:
            if self._contexts is None:
                self._contexts = Vectors(len(beside))
                self._contexts.grow(len(self))
            self._contexts.put(i, beside)

    def _goes_on(self, i: int) -> bool:
        said = KINDS.index("utterance")
        if not i or self._kinds[i] != said or self._kinds[i - 1] != said:
            return False
        return bool(joined(np.array([self._seconds[i - 1], self._seconds[i]]), np.ones(2, bool))[1])

    def without_vectors(self) -> list[Entry]:
        """The entries without a vector, oldest first."""
        return [self._entry(i) for i in self._without]

    def rate(self, id: str, importance: int) -> None:
        """Set an importance (1 to 10). Raises `KeyError`, `ValueError`."""
        if isinstance(importance, bool) or not 1 <= importance <= 10:
            raise ValueError(f"an importance is a whole number from 1 to 10, not {importance!r}")
        self._importance[self._index[id]] = importance

    def recent(self, n: int = 10, *, kinds: Collection[Kind] = ()) -> list[Entry]:
        """The last `n` (≥ 0) entries of these kinds (all if empty), oldest first."""
        if n < 0:
            raise ValueError("n must not be negative")
        found: list[Entry] = []
        for i in range(len(self) - 1, -1, -1):
            if len(found) == n:
                break
            entry = self._entry(i)
            if not kinds or entry.kind in kinds:
                found.append(entry)
        return found[::-1]

    def _rows(self, kinds: Collection[Kind]) -> Rows:
        if not kinds:
            return np.arange(len(self))
        wanted = [KINDS.index(kind) for kind in kinds]
        return np.flatnonzero(np.isin(np.array(self._kinds), wanted))

    def _entry(self, i: int) -> Entry:
        source = self._sources[i]
        return Entry.model_construct(
            id=self._ids[i],
            time=self._times[i],
            speaker=self._people[int(self._speakers[i])],
            kind=KINDS[int(self._kinds[i])],
            text=self._texts[i],
            importance=int(self._importance[i]),
            source=None if source is None else json.loads(source),
            of=self._of.get(i, ()),
        )

    def _since(self, time: datetime) -> float:
        """Seconds since 1970. Raises `ValueError` if naive and aware times are mixed."""
        if self._times and (self._times[0].tzinfo is None) != (time.tzinfo is None):
            raise ValueError("times with and without a time zone in one stream")
        return (time - (EPOCH if time.tzinfo is None else _EPOCH_AWARE)).total_seconds()

    def _checked(self, vector: npt.ArrayLike) -> npt.NDArray[np.float32]:
        raw = np.asarray(vector, dtype=np.float32)
        width = None if self._vectors is None else self._vectors.dim
        if raw.ndim != 1 or (width is not None and len(raw) != width) or not len(raw):
            raise ValueError(f"a vector of shape {raw.shape} in a stream of {width} dimensions")
        if not np.isfinite(raw).all() or not raw.any():
            raise ValueError("a vector must be finite and have a length")
        return raw

    def _put(self, i: int, raw: npt.NDArray[np.float32]) -> None:
        if self._vectors is None:
            self._vectors = Vectors(len(raw))
            self._vectors.grow(len(self))
        self._vectors.put(i, raw)
        self._without.pop(i, None)


_NOTHING = 10.0**-DECIMALS


def normalised(raw: Floats) -> Floats:
    """(x − min) / (max − min), 0 to 1; 0 for all if they are equal, and for NaN (no value)."""
    # fmin and fmax ignore NaN unless all values are NaN.
    low, high = float(np.fmin.reduce(raw)), float(np.fmax.reduce(raw))
    if not high - low > _NOTHING:
        return np.zeros_like(raw)
    return np.nan_to_num((raw - low) / (high - low), copy=False, nan=0.0)


def best(scores: Floats, k: int, tie: Callable[[int], Any]) -> Rows:
    """The positions of the `k` highest scores, best first; ties ordered by `tie`.

    Scores that agree to 12 decimals are ties.
    """
    scores = np.round(scores, DECIMALS)
    least = np.partition(scores, len(scores) - k)[len(scores) - k] if k < len(scores) else -np.inf
    among = np.flatnonzero(scores >= least).tolist()
    return np.array(sorted(among, key=lambda i: (-scores[i], tie(i)))[:k], dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A search result: its position among the entries searched, its score and the parts."""

    position: int
    score: float
    parts: dict[str, Part]


def search(
    *,
    importance: Floats,
    recency: Floats,
    relevance: Floats,
    weights: ScoreWeights,
    k: int,
    tie: Callable[[int], Any],
) -> list[Ranked]:
    """The `k` ≥ 1 best entries, best first; ties ordered by `tie(position)`.

    importance, recency, relevance: shape (n ≥ 1,), raw values; NaN if missing.
    """
    raw = {"relevance": relevance, "importance": importance, "recency": recency}
    scaled = {name: normalised(values) for name, values in raw.items()}
    scores: Floats = weights.importance * scaled["importance"]
    scores = scores + weights.recency * scaled["recency"]
    scores = np.round(scores + weights.relevance * scaled["relevance"], DECIMALS)

    def part(name: str, i: int) -> Part:
        value = float(raw[name][i])
        return Part(raw=None if np.isnan(value) else value, normalised=float(scaled[name][i]))

    return [
        Ranked(i, float(scores[i]), {name: part(name, i) for name in raw})
        for i in best(scores, k, tie).tolist()
    ]
