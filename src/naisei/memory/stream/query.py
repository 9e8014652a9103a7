"""Retrieval for a question by words and meaning, with neighbouring lines, importance and time.

Sources: BM25, Robertson & Zaragoza, 2009, with Lucene's idf. Scores are standardised over all
entries (z-scores) before they are added, so that neither dominates; a convex combination as in
Bruch, Gai & Ingber, TOIS 2023.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from naisei.bm25 import idf, saturated
from naisei.japanese.sentences import search_tokens
from naisei.memory.stream.periods import About, Period, about, periods_in, tells_time
from naisei.similarity import Floats

Rows = npt.NDArray[np.intp]
#: What a question asks about; `auto`: inferred from its words.
Focus = Literal["auto", "now", "time", "when", "fact"]


@dataclass(frozen=True, slots=True)
class Priors:
    """Weights added to relevance, in its standard deviations.

    importance: from least to most important. recency: from oldest to newest. period: within a named
    time. told: for a line that states a time.
    """

    importance: float
    recency: float
    period: float
    told: float


@dataclass(frozen=True, slots=True)
class Query:
    """The ranking `query.v3`. Chosen on separate conversations (docs/relationship.md).

    words: share of word search in relevance, 0 to 1; the rest is meaning. At one half, as in
    `query.v1`, one rare word outweighs the meaning. context: share, in meaning, of a line joined
    with the previous one: 「それ、いいね」 alone has no clear meaning. before, after: share of the
    relevance of the previous and the next line. speaker: for lines by a speaker named in the
    question; the name is then not searched as a word. k1, b: BM25 parameters. lag: days for which
    people still talk about a named time.
    """

    words: float = 0.2
    context: float = 2 / 3
    before: float = 0.25
    after: float = 0.15
    speaker: float = 0.6
    k1: float = 1.2
    b: float = 0.4
    lag: float = 7.0
    now: Priors = Priors(importance=0.3, recency=1.0, period=0.0, told=0.0)
    time: Priors = Priors(importance=0.3, recency=0.0, period=2.0, told=0.0)
    when: Priors = Priors(importance=0.3, recency=0.0, period=1.0, told=0.6)
    fact: Priors = Priors(importance=0.3, recency=0.1, period=0.0, told=0.0)

    def priors(self, about: About) -> Priors:
        found: Priors = getattr(self, about)
        return found


QUERY = Query()
#: Smaller score differences count as ties.
_EVEN = 1e-12
#: Most seconds between two lines of a conversation.
_TALK = 3600.0


@dataclass(frozen=True, slots=True)
class _ParsedQuestion:
    """A parsed question: words, focus, and named times."""

    words: tuple[str, ...]
    about: About
    periods: tuple[Period, ...]


def _parse_question(text: str, now: datetime, focus: Focus = "auto") -> _ParsedQuestion:
    """Parse a question. now: its date, for words such as 先週."""
    found = tuple(periods_in(text, now.date()))
    what: About = about(text) if focus == "auto" else focus
    return _ParsedQuestion(tuple(dict.fromkeys(search_tokens(text))), what, found)


class Words:
    """BM25 over the words of texts, in insertion order."""

    def __init__(self) -> None:
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        self._lengths = array("q")
        self._told = array("b")

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, text: str) -> None:
        """Append a text."""
        counts = Counter(search_tokens(text))
        row = len(self._lengths)
        for word, count in counts.items():
            rows, many = self._postings.setdefault(word, (array("q"), array("q")))
            rows.append(row)
            many.append(count)
        self._lengths.append(sum(counts.values()))
        self._told.append(tells_time(text))

    def scores(self, words: Sequence[str], *, k1: float, b: float) -> Floats:
        """Shape (texts,): ≥ 0, 0 for a text without any of the words."""
        size = len(self._lengths)
        out = np.zeros(size)
        if not size:
            return out
        # Copies, since an array with a view cannot grow.
        lengths = np.array(self._lengths, dtype=np.float64)
        mean = max(float(lengths.mean()), 1.0)
        for word in words:
            if word in self._postings:
                rows, many = (np.array(part) for part in self._postings[word])
                share = saturated(many, lengths[rows], mean, k1=k1, b=b)
                out[rows] += idf(len(rows), size) * share
        return out

    @property
    def date_mentions(self) -> Floats:
        """Shape (texts,): 1 for a text that states a time, else 0."""
        return np.array(self._told, dtype=np.float64)


def named(text: str, speakers: Sequence[str]) -> list[int]:
    """Indices of the speakers that a question names, by full or partial name."""
    words = set(re.findall(r"\w+", text.casefold()))
    found = []
    for n, speaker in enumerate(speakers):
        parts = [part for part in re.split(r"[\s・　]+", speaker.casefold()) if len(part) > 1]
        if any(part in words if part.isascii() else part in text.casefold() for part in parts):
            found.append(n)
    return found


def _at_periods(times: Floats, periods: Sequence[Period], epoch: datetime, lag: float) -> Floats:
    """Shape (entries,), 0 to 1: how well times (seconds since `epoch`) match the named periods. 1
    within one; decreasing by the day for lines after it, half as much for lines before it.
    """
    out = np.zeros(len(times))
    for period in periods:
        first = (datetime.combine(period.first, epoch.time()) - epoch).total_seconds()
        last = (datetime.combine(period.last, epoch.time()) - epoch).total_seconds() + 86400
        after = np.maximum(times - last, 0) / 86400 / lag
        before = np.maximum(first - times, 0) / 86400 / lag
        out = np.maximum(out, np.exp(-after) * np.where(before > 0, 0.5 * np.exp(-before), 1.0))
    return out


def joined(times: Floats, said: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether each entry continues a conversation: it and the previous one said within the hour."""
    out = np.zeros(len(times), dtype=np.bool_)
    out[1:] = (np.abs(np.diff(times)) <= _TALK) & said[1:] & said[:-1]
    return out


def beside(
    relevance: Floats, joined: npt.NDArray[np.bool_], *, before: float, after: float
) -> Floats:
    """Relevance plus a share of the neighbours' relevance above the mean.

    joined[i]: whether line i continues line i − 1.
    """
    out = relevance.copy()
    lift = np.maximum(relevance, 0.0)
    out[1:] += before * np.where(joined[1:], lift[:-1], 0.0)
    out[:-1] += after * np.where(joined[1:], lift[1:], 0.0)
    return out


@dataclass(frozen=True, slots=True)
class Lines:
    """The searched entries in order; arrays of shape (entries,).

    times: seconds since `epoch`. joined: whether a line continues the previous one.
    importance: 1 to 10. speaker: index into `speakers`. within: 1 for eligible entries.
    """

    words: Words
    times: Floats
    epoch: datetime
    joined: npt.NDArray[np.bool_]
    importance: Floats
    speaker: Rows
    speakers: Sequence[str]
    within: npt.NDArray[np.bool_]


class QueryScores(NamedTuple):
    """Arrays of shape (entries,): the score, in standard deviations of relevance; its relevance
    part; 0 for the oldest to 1 for the newest."""

    score: Floats
    relevance: Floats
    newer: Floats


def scored(
    lines: Lines,
    texts: Sequence[str],
    cosines: Floats | None,
    *,
    now: datetime,
    focus: Focus,
    how: Query,
) -> QueryScores:
    """The score of each entry for the question that it matches best.

    texts: at least one. cosines: of shape (texts, entries), NaN without a vector; `None`: words
    only.
    """
    score = relevance = np.full(len(lines.times), -np.inf)
    for n, text in enumerate(texts):
        one = _wanted(lines, text, now, focus, how)
        near = one.words
        if cosines is not None:
            meaning = _standing(cosines[n], lines.within)
            near = how.words * near + (1 - how.words) * meaning
        near = beside(near, lines.joined, before=how.before, after=how.after) + one.speaker
        whole = near + one.priors
        better = whole > score
        score, relevance = np.where(better, whole, score), np.where(better, near, relevance)
    return QueryScores(score, relevance, _placed(lines.times, lines.within))


class _ScoredQuestion(NamedTuple):
    """Scores of the lines for one question: by words, by speaker, and by the other weights. Arrays
    of shape (entries,)."""

    words: Floats
    speaker: Floats
    priors: Floats


def _wanted(lines: Lines, text: str, now: datetime, focus: Focus, how: Query) -> _ScoredQuestion:
    what = _parse_question(text, now, focus)
    speakers = named(text, lines.speakers)
    names = {word for speaker in speakers for word in search_tokens(lines.speakers[speaker])}
    words = [word for word in what.words if word not in names] if how.speaker else what.words
    weigh = how.priors(what.about)
    rest = weigh.importance * (lines.importance - 1) / 9
    if weigh.recency:
        rest += weigh.recency * _placed(lines.times, lines.within)
    if weigh.told:
        rest += weigh.told * lines.words.date_mentions
    if weigh.period and what.periods:
        rest += weigh.period * _at_periods(lines.times, what.periods, lines.epoch, how.lag)
    return _ScoredQuestion(
        words=_standing(lines.words.scores(words, k1=how.k1, b=how.b), lines.within),
        speaker=how.speaker * np.isin(lines.speaker, speakers).astype(np.float64),
        priors=rest,
    )


def _standing(raw: Floats, within: npt.NDArray[np.bool_]) -> Floats:
    """z-scores over the eligible entries; NaN (no vector) becomes 0."""
    known = raw[within & ~np.isnan(raw)]
    spread = float(known.std()) if len(known) else 0.0
    if spread < _EVEN:
        return np.zeros_like(raw)
    out: Floats = (raw - known.mean()) / spread
    out[np.isnan(out)] = 0.0
    return out


def _placed(times: Floats, within: npt.NDArray[np.bool_]) -> Floats:
    """Time rank of the eligible entries: 0 (oldest) to 1 (newest)."""
    known = np.sort(times[within])
    if len(known) < 2:
        return np.zeros(len(times))
    place = np.searchsorted(known, times, side="right").clip(1, len(known))
    return (place - 1.0) / (len(known) - 1)
