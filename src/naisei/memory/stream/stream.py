"""The stream: entries, searched exactly."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import datetime

import numpy as np
import numpy.typing as npt

from naisei.memory.entry import Entry, Kind, Part, Scored, ScoreWeights
from naisei.memory.stream.query import QUERY, Focus, Lines, Query, joined, scored
from naisei.memory.stream.search import EPOCH, KINDS, Columns, Rows, asking, best, search
from naisei.similarity import DECIMALS, Floats

_LEAST = 1e-12
#: Entries covered by a summary have faded below this strength.
_FADED = 0.1


class Stream(Columns):
    """Entries with two searches: `search` by Park's score, `find` by the question."""

    def faded(self, *, now: datetime, half_life: float) -> list[Entry]:
        """The entries faded at `now`, oldest first: covered by a summary, with a strength below
        0.1. The strength starts at a tenth of the importance and halves every `half_life` (> 0)
        days. The summary still links to them (`of`)."""
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

        Each part is normalised over the entries searched, and is 0 for all if equal for all.
        Without `vectors`, or if no entry has one, relevance is left out of the sum; otherwise
        an entry without a vector gets relevance 0. Hours count from the entry to `now`, 0 for
        future entries. Scores equal to 12 decimals are ties: the more recent entry comes first,
        then the smaller id.

        Args:
            vectors: shape (queries, dim), any norms; rows of zeros are ignored.
            now: aware or naive like the entries.
            kinds: search only these; all if empty.
            weights: override the stream's own.

        Raises:
            ValueError: vectors of wrong dimension or not finite, or `k` < 1.
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
        """The `k` best entries (all if `None`) for the questions, best first (`query.v3`).

        An entry's score is its best over the questions: standardised relevance by words (BM25) and
        meaning (cosine), a share of its neighbours' relevance, and importance, recency and time
        according to the question (`naisei.memory.stream.query`). `relevance.normalised` is relative
        to the best entry's. Entries are tokenised once, at the first search.

        Args:
            questions: at least one.
            vectors: shape (questions, dim), in the order of the questions; `None`: words only.
            now: for words such as 先週; aware or naive like the entries.
            focus: overrides the focus inferred from the questions.
            half_life: in days; excludes faded entries (see `faded`). `None`: nothing fades.

        Raises:
            ValueError: no question, invalid vectors, or `k` < 1.
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
        """Shape (q, entries), NaN without a vector; `None` if there are no vectors or all queries
        are zero."""
        if vectors is None or self._vectors is None:
            return None
        queries = asking(vectors, self._vectors.dim)
        return self._vectors.cosines(queries) if len(queries) else None

    def _in_context(self, line: Floats, vectors: npt.ArrayLike | None, share: float) -> Floats:
        """The cosines of lines, mixed with a share of those in context, if any."""
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
            epoch=EPOCH,
            joined=joined(times, np.array(self._kinds) == KINDS.index("utterance")),
            importance=np.array(self._importance).astype(np.float64),
            speaker=np.array(self._speakers),
            speakers=self._people,
            within=within,
        )
