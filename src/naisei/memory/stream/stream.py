"""The stream: entries and their vectors in columns, searched exactly."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from naisei.memory.entry import Entry, Kind, Part, Scored, ScoreWeights
from naisei.memory.stream.query import QUERY, Focus, Lines, Query, Words, joined, scored
from naisei.memory.stream.search import best, search
from naisei.memory.stream.vectors import Vectors, asking
from naisei.similarity import DECIMALS, Floats

_KINDS: tuple[Kind, ...] = ("utterance", "reflection", "fact", "summary")
_EPOCH = datetime(1970, 1, 1)
_EPOCH_AWARE = _EPOCH.replace(tzinfo=UTC)
_V1 = ScoreWeights()
_LEAST = 1e-12
#: The strength below which what a summary stands for has faded.
_FADED = 0.1
Rows = npt.NDArray[np.intp]


class Stream:
    """Entries in the order they were remembered; each may have a vector, and one of what it says
    where it stands (`passages`).

    Vectors are kept in float32, of length 1: 100,000 of 384 numbers take 154 MB.
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
        """The entry of that id. Raises `KeyError`."""
        return self._entry(self._index[id])

    def append(self, entry: Entry, vector: npt.ArrayLike | None = None) -> None:
        """Remember an entry: O(1), whatever the length of the stream.

        Args:
            vector: shape (dim,), any length but 0; may come later by `attach`, or never.

        Raises:
            ValueError: the id is taken, it stands for one that is not there, its time is naive
                where the others are aware (or the other way about), or the vector does not fit.
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
        self._kinds.append(_KINDS.index(entry.kind))
        self._importance.append(entry.importance)
        for vectors in (self._vectors, self._contexts):
            if vectors is not None:
                vectors.grow(i + 1)
        self._without[i] = None
        if raw is not None:
            self._put(i, raw)

    def passages(self, id: str) -> tuple[str, ...]:
        """What an entry is embedded by: its line and, where it goes on in a talk, the line before
        it and its own together. Raises `KeyError`."""
        i = self._index[id]
        line = self._entry(i).line
        return (line, f"{self._entry(i - 1).line}\n{line}") if self._goes_on(i) else (line,)

    def attach(self, id: str, vector: npt.ArrayLike, context: npt.ArrayLike | None = None) -> None:
        """Give the entry `id` its vectors, those of its `passages`, or others. Raises `KeyError`,
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
        said = _KINDS.index("utterance")
        if not i or self._kinds[i] != said or self._kinds[i - 1] != said:
            return False
        return bool(joined(np.array([self._seconds[i - 1], self._seconds[i]]), np.ones(2, bool))[1])

    def without_vectors(self) -> list[Entry]:
        """The entries that have no vector yet, oldest first: those, and only those, are read."""
        return [self._entry(i) for i in self._without]

    def rate(self, id: str, importance: int) -> None:
        """Set an importance (1 to 10). Raises `KeyError`, `ValueError`."""
        if isinstance(importance, bool) or not 1 <= importance <= 10:
            raise ValueError(f"an importance is a whole number from 1 to 10, not {importance!r}")
        self._importance[self._index[id]] = importance

    def faded(self, *, now: datetime, half_life: float) -> list[Entry]:
        """The entries that have faded at `now`, oldest first: what a summary stands for and whose
        strength is below 0.1. The strength is a tenth of the importance at first, and half as much
        after every `half_life` (> 0) days. Nothing is lost: the summary leads to them (`of`)."""
        return [self._entry(int(i)) for i in np.flatnonzero(self._fading(now, half_life))]

    def _fading(self, now: datetime, half_life: float) -> npt.NDArray[np.bool_]:
        if half_life <= 0:
            raise ValueError("a half-life is more than 0 days")
        out = np.zeros(len(self), dtype=np.bool_)
        covered = np.fromiter(self._covered, np.intp, len(self._covered))
        days = np.maximum(self._since(now) - np.array(self._seconds)[covered], 0.0) / 86400
        strength = np.array(self._importance)[covered] / 10 * 0.5 ** (days / half_life)
        out[covered] = strength < _FADED
        return out

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

    def search(
        self,
        vectors: npt.ArrayLike | None,
        *,
        now: datetime,
        k: int | None = None,
        kinds: Collection[Kind] = (),
        weights: ScoreWeights | None = None,
    ) -> list[Scored]:
        """The `k` best entries (all if `None`) for all queries together, best first.

        score = w_r · minmax(max_q cos(q, m)) + w_i · minmax(importance)
              + w_t · minmax(decay^hours)

        Each part is normalised over the entries searched. Where a part is the same for all of
        them it is 0 for all. Without `vectors`, or where no entry has one, relevance leaves the
        sum; an entry without a vector among others with one gets relevance 0. Hours are those
        from the entry to `now`, 0 for entries of the future. Scores equal to 12 decimals are
        ties: the more recent comes first, then the lesser id.

        Args:
            vectors: shape (queries, dim), any lengths; a row of zeros asks nothing.
            now: aware or naive as the entries are.
            kinds: search only these; all if empty.
            weights: other than the stream's own.

        Raises:
            ValueError: vectors of another dimension, not finite, or `k` < 1.
        """
        if k is not None and k < 1:
            raise ValueError("k must be at least 1")
        since = self._since(now)
        cosines = self._cosines(vectors)
        rows = self._rows(kinds)
        if not len(rows):
            return []
        relevance = np.full(len(self), np.nan) if cosines is None else cosines.max(axis=0)
        seconds, importance = np.array(self._seconds), np.array(self._importance)
        if len(rows) < len(self):
            seconds, importance = seconds[rows], importance[rows]
        weigh = weights or self.weights
        hours = np.maximum((since - seconds) / 3600.0, 0.0)
        ranked = search(
            importance=importance.astype(np.float64),
            recency=np.exp(hours * math.log(weigh.decay)),
            relevance=relevance[rows],
            weights=weigh,
            k=len(rows) if k is None else k,
            tie=lambda i: (-seconds[i], self._ids[rows[i]]),
        )
        return [
            Scored(entry=self._entry(int(rows[at.position])), score=at.score, **at.parts)
            for at in ranked
        ]

    def find(
        self,
        questions: Sequence[str],
        vectors: npt.ArrayLike | None = None,
        *,
        now: datetime,
        k: int | None = None,
        kinds: Collection[Kind] = (),
        focus: Focus = "auto",
        half_life: float | None = None,
        how: Query = QUERY,
    ) -> list[Scored]:
        """The `k` best entries (all if `None`) for what is asked, best first (`query.v3`).

        An entry's score is that for the question which it serves best: standardised relevance by
        words (BM25) and by meaning (cosine), with a share of what stands beside it in the talk,
        and importance, recency and time as far as the question asks for them
        (`naisei.memory.stream.query`). `relevance.normalised` is its share of the best one's.
        The words of an entry are read once, when something is first asked.

        Args:
            questions: at least one.
            vectors: shape (questions, dim), theirs, in their order; `None`: by words alone.
            now: the day from which 先週 is read; aware or naive as the entries are.
            focus: what the questions ask about, if their words do not say it.
            half_life: in days; what has faded is not found (see `faded`). `None`: nothing fades.

        Raises:
            ValueError: no question, vectors that do not fit, or `k` < 1.
        """
        if not questions or (k is not None and k < 1):
            raise ValueError("at least one question is needed, and k must be at least 1")
        since, rows = self._since(now), self._rows(kinds)
        if half_life is not None:
            rows = rows[~self._fading(now, half_life)[rows]]
        if not len(rows):
            return []
        for i in range(len(self._words), len(self)):
            self._words.add(self._texts[i])
        line = self._cosines(vectors)
        if line is not None and len(line) != len(questions):
            line = None
        mixed = None if line is None else self._in_context(line, vectors, how.context)
        lines, plain = self._lines(rows), now.replace(tzinfo=None)
        found = scored(lines, questions, mixed, now=plain, focus=focus, how=how)
        order = best(
            found.score[rows],
            len(rows) if k is None else k,
            lambda at: (-lines.times[rows[at]], self._ids[rows[at]]),
        )
        strongest = max(float(found.relevance[rows].max()), _LEAST)
        out = []
        for i in rows[order].tolist():
            hours = max((since - lines.times[i]) / 3600.0, 0.0)
            near = None if line is None or np.isnan(line[0, i]) else float(line[:, i].max())
            part = min(max(float(found.relevance[i]) / strongest, 0.0), 1.0)
            parts = {
                "relevance": (near, part),
                "importance": (float(lines.importance[i]), (lines.importance[i] - 1) / 9),
                "recency": (self.weights.decay**hours, float(found.newer[i])),
            }
            made = {name: Part(raw=raw, normalised=x) for name, (raw, x) in parts.items()}
            score = round(float(found.score[i]), DECIMALS)
            out.append(Scored(entry=self._entry(i), score=score, **made))
        return out

    def _cosines(self, vectors: npt.ArrayLike | None) -> Floats | None:
        """Shape (q, entries), NaN without a vector; `None` if there are no vectors, or no queries
        but zeros."""
        if vectors is None or self._vectors is None:
            return None
        queries = asking(vectors, self._vectors.dim)
        return self._vectors.cosines(queries) if len(queries) else None

    def _in_context(self, line: Floats, vectors: npt.ArrayLike | None, share: float) -> Floats:
        """The cosines of lines, with a share of those in context, where there are any."""
        if self._contexts is None or vectors is None:
            return line
        mixed = (1 - share) * line
        mixed += share * self._contexts.cosines(asking(vectors, self._contexts.dim))
        return np.where(np.isnan(mixed), line, mixed)

    def _lines(self, rows: Rows) -> Lines:
        within = np.zeros(len(self), dtype=np.bool_)
        within[rows] = True
        times = np.array(self._seconds)
        return Lines(
            words=self._words,
            times=times,
            epoch=_EPOCH,
            joined=joined(times, np.array(self._kinds) == _KINDS.index("utterance")),
            importance=np.array(self._importance).astype(np.float64),
            speaker=np.array(self._speakers),
            speakers=self._people,
            within=within,
        )

    def _rows(self, kinds: Collection[Kind]) -> Rows:
        if not kinds:
            return np.arange(len(self))
        wanted = [_KINDS.index(kind) for kind in kinds]
        return np.flatnonzero(np.isin(np.array(self._kinds), wanted))

    def _entry(self, i: int) -> Entry:
        source = self._sources[i]
        return Entry.model_construct(
            id=self._ids[i],
            time=self._times[i],
            speaker=self._people[int(self._speakers[i])],
            kind=_KINDS[int(self._kinds[i])],
            text=self._texts[i],
            importance=int(self._importance[i]),
            source=None if source is None else json.loads(source),
            of=self._of.get(i, ()),
        )

    def _since(self, time: datetime) -> float:
        """Seconds since 1970. Raises `ValueError` if the stream's times are of the other sort."""
        if self._times and (self._times[0].tzinfo is None) != (time.tzinfo is None):
            raise ValueError("times with and without a time zone in one stream")
        return (time - (_EPOCH if time.tzinfo is None else _EPOCH_AWARE)).total_seconds()

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
