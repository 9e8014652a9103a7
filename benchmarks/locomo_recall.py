"""How much of the annotated evidence the stream finds: evidence recall@k on LoCoMo."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Literal

import numpy as np
import numpy.typing as npt

from benchmarks.locomo_data import CATEGORIES, Question, Sample
from naisei.memory.stream import Entry, Scored, ScoreWeights, Stream
from naisei.memory.stream.query import QUERY, Priors, Query
from naisei.models.base import Embedder
from naisei.relationship.reflect import importance_of
from naisei.runs.statistics import mean_metric
from naisei.runs.task import Table

_NO = Priors(0.0, 0.0, 0.0, 0.0)
#: BM25 and nothing else.
_ONLY_WORDS = Query(
    words=1.0, before=0.0, after=0.0, speaker=0.0, now=_NO, time=_NO, when=_NO, fact=_NO
)

#: What is compared: how the stream finds, the document's formula, and the plain rivals: words
#: alone, meaning alone, the newest lines.
RANKINGS: dict[str, Query | ScoreWeights] = {
    "query": QUERY,
    "park": ScoreWeights(),
    "bm25": _ONLY_WORDS,
    "dense": ScoreWeights(importance=0.0, recency=0.0),
    "recency": ScoreWeights(relevance=0.0, importance=0.0),
}


#: The depth at which rankings are put beside each other, or the nearest there is.
_COMPARED = 10
#: Texts that are embedded at once: enough for an embedder to fill its cores, few enough for the
#: progress to move.
_BATCH = 128


@dataclass(slots=True)
class Recalled:
    """One value per question that has evidence.

    per_k: ranking → k → recall of each question, 0 to 1. without: questions, by category, that
    have no evidence to be found.
    """

    categories: list[str] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)
    per_k: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    without: Counter[str] = field(default_factory=Counter)
    turns: int = 0


def stream_of(sample: Sample, *, captions: bool = True) -> Stream:
    """The conversation as a stream, without vectors. captions: images count by what their caption
    says."""
    stream = Stream()
    for turn in sample.turns:
        shown = f" [shares: {turn.caption}]" if captions and turn.caption else ""
        stream.append(
            Entry(
                id=turn.id,
                time=turn.time,
                speaker=turn.speaker,
                text=turn.text + shown,
                importance=importance_of(turn.text),
                source={"session": turn.session},
            )
        )
    return stream


def embed(
    stream: Stream, embedder: Embedder, *, progress: Callable[[int], None] = lambda _: None
) -> None:
    """Give every entry its vectors. progress: is told how many more texts are embedded."""
    passages = [(entry.id, stream.passages(entry.id)) for entry in stream]
    texts = [text for _, some in passages for text in some]
    vectors = iter(_embedded(embedder, texts, "passage", progress))
    for id, some in passages:
        stream.attach(id, *islice(vectors, len(some)))


def _embedded(
    embedder: Embedder,
    texts: list[str],
    kind: Literal["query", "passage"],
    progress: Callable[[int], None],
) -> npt.NDArray[np.float32]:
    """Shape (texts, dim), by batches of texts of much the same length."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    parts = []
    for start in range(0, len(order), _BATCH):
        rows = order[start : start + _BATCH]
        parts.append(embedder.embed([texts[at] for at in rows], kind))
        progress(len(rows))
    return np.concatenate(parts)[np.argsort(order)]


def measure(
    samples: Sequence[Sample],
    embedder: Embedder,
    ks: Sequence[int],
    *,
    captions: bool = True,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Recalled:
    """Ask every question of its conversation, a minute after the last line.

    progress: is told which conversation it is in, and how many of all texts are done.

    recall@k of a question: the share of its evidence, of what exists of it, among the first k.
    """
    out = Recalled(per_k={name: {k: [] for k in ks} for name in RANKINGS})
    for sample in samples:
        out.without.update(q.category for q in sample.questions if not q.evidence)
        out.turns += len(sample.turns)
    held = [
        (sample, asked, stream_of(sample, captions=captions))
        for sample in samples
        if (asked := [q for q in sample.questions if q.evidence])
    ]
    whole = sum(
        len(asked) + sum(len(stream.passages(entry.id)) for entry in stream)
        for _, asked, stream in held
    )
    done = 0

    def more(texts: int) -> None:
        nonlocal done
        done += texts
        progress(sample.id, done, whole)

    for sample, asked, stream in held:
        embed(stream, embedder, progress=more)
        now = max(turn.time for turn in sample.turns) + timedelta(minutes=1)
        vectors = _embedded(embedder, [q.text for q in asked], "query", more)
        for question, vector in zip(asked, vectors, strict=True):
            out.categories.append(question.category)
            out.samples.append(sample.id)
            for name, how in RANKINGS.items():
                found = _found(stream, question.text, vector, now, max(ks), how)
                ranked = [one.entry.id for one in found]
                for k in ks:
                    out.per_k[name][k].append(_share(question, ranked[:k]))
    return out


def _found(
    stream: Stream,
    text: str,
    vector: npt.NDArray[np.float32],
    now: datetime,
    k: int,
    how: Query | ScoreWeights,
) -> list[Scored]:
    if isinstance(how, ScoreWeights):
        return stream.search(vector[None], now=now, k=k, weights=how)
    return stream.find([text], vector[None], now=now, k=k, how=how)


def _share(question: Question, found: list[str]) -> float:
    return float(np.mean([id in found for id in question.evidence]))


def recall_tables(found: Recalled, ks: Sequence[int]) -> list[Table]:
    """The rankings beside each other at one depth, then a table a ranking: recall@k by category
    with 95 % intervals.

    Conversations are the clusters: one alone gives no interval.
    """
    listed = [name for name in CATEGORIES.values() if name in found.categories]
    listed += sorted(set(found.categories) - set(listed))
    tables = []
    for name in found.per_k:
        rows: list[tuple[str | float | int, ...]] = []
        for category in [*listed, "all"]:
            mine = [n for n, c in enumerate(found.categories) if category in (c, "all")]
            cells: list[str | float | int] = [category, len(mine)]
            for k in ks:
                values = [found.per_k[name][k][n] for n in mine]
                samples = [found.samples[n] for n in mine]
                metric = mean_metric(f"recall@{k}", values, clusters=samples, share=True)
                cells += [metric.value, metric.low, metric.high]
            rows.append(tuple(cells))
        heads = [f"recall@{k}{end}" for k in ks for end in ("", " low", " high")]
        tables.append(Table(name, ("category", "questions", *heads), tuple(rows)))
    at = min(ks, key=lambda k: abs(k - _COMPARED))
    place = tables[0].columns.index(f"recall@{at}")
    beside = tuple(
        (*rows[0][:2], *(row[place] for row in rows))
        for rows in zip(*(table.rows for table in tables), strict=True)
    )
    head = ("category", "questions", *(table.title for table in tables))
    return [Table(f"recall@{at}", head, beside), *tables]


def as_json(tables: Sequence[Table], notes: Sequence[str], found: Recalled, embedder: str) -> str:
    """One line: rankings → rows, what was not counted, and the notes. NaN is null."""
    rankings = {
        # What the first one puts beside each other, the others say with intervals.
        table.title: [
            {
                column: None if isinstance(cell, float) and math.isnan(cell) else cell
                for column, cell in zip(table.columns, row, strict=True)
            }
            for row in table.rows
        ]
        for table in tables[1:]
    }
    out = {
        "embedder": embedder,
        "turns": found.turns,
        "questions": len(found.categories),
        "without_evidence": dict(found.without),
        "rankings": rankings,
        "notes": list(notes),
    }
    return json.dumps(out, ensure_ascii=False, allow_nan=False)
