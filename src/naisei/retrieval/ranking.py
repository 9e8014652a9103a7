"""Merges rankings; puts outdated editions behind newer ones and copies last.

Sources: reciprocal rank fusion, Cormack, Clarke & Büttcher, SIGIR 2009: an item's score is the
sum of 1 / (k + rank) over the rankings that contain it, ranks from 1, k = 60. Convex combination
of scores, Bruch, Gai & Ingber, TOIS 2023: it preserves score differences.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from naisei.japanese.dates import is_old, named_years
from naisei.retrieval.snapshot import Filed
from naisei.retrieval.types import Chunk
from naisei.similarity import DECIMALS, Floats, order

T = TypeVar("T", bound=Hashable)

K = 60


def fuse(rankings: Iterable[Sequence[T]]) -> dict[T, float]:
    """Map items to scores, best first; ties in order of first appearance.

    >>> list(fuse([[1, 2, 3], [3, 1]]))
    [1, 3, 2]
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, thing in enumerate(ranking, start=1):
            scores[thing] = scores.get(thing, 0.0) + 1 / (K + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def best_rows(
    scores: npt.NDArray[np.floating[Any]],
    depth: int,
    mask: npt.NDArray[np.bool_] | None,
    *,
    above: float,
) -> list[int]:
    """The rows with the highest scores, best first; ties by row."""
    if mask is not None:
        scores = np.where(mask, scores, -3.0)
    some = scores > above
    if len(scores) > depth:
        # Partition orders equal scores differently by processor: use only its value.
        some &= scores >= np.partition(scores, len(scores) - depth)[len(scores) - depth]
    rows = np.flatnonzero(some)
    return [int(row) for row in rows[np.argsort(-scores[rows], kind="stable")][:depth]]


def blend(
    things: Sequence[int],
    words: npt.NDArray[np.float32],
    meaning: Floats,
    *,
    ground: float,
    possible: float = 0.0,
) -> dict[int, float]:
    """Map items to scores, 0 to 1, best first: the mean of word score and cosine, each relative to
    the best. possible: the word score of a text with all words; if the best score is far below,
    words count less.

    words, meaning: scores of each item. ground: the baseline cosine, such as the mean over all
    texts.
    """
    if not things:
        return {}
    above = np.clip(meaning - ground, 0, None)
    scores = np.round((_of_best(words, _WEAK * possible) + _of_best(above)) / 2, DECIMALS)
    return {things[at]: float(scores[at]) for at in order(scores)}


#: The share of the ideal word score below which words count less.
_WEAK = 0.5


def _of_best(scores: npt.NDArray[Any], least: float = 0.0) -> npt.NDArray[Any]:
    best = max(float(scores.max()), least)
    return scores / best if best > 0 else np.zeros_like(scores)


#: Number of reranked texts, and weights added to their score: share of the question's words in the
#: text, share of its letter pairs, and the score of the document's other texts. Chosen on two
#: collections; docs/intent-eval.md has results, also for weights learnt on one.
RERANKED = 12
_COVERED, _PAIRS, _MATES = 0.3, 0.3, 0.3
_MOST_MATES, _MATES_AMONG = 3, 40


def rerank(
    scores: Mapping[int, float],
    query: str,
    texts: Sequence[str],
    covered: npt.NDArray[np.float32],
    document: Callable[[int], Filed],
) -> dict[int, float]:
    """Map items to scores, 0 to 1, best first; the first ones are reranked by their full text.

    scores: best first, 0 to 1. texts, covered: the first `RERANKED` texts, and the share of the
    question's words in each.
    """
    mates: dict[str, list[float]] = {}
    for row, score in list(scores.items())[:_MATES_AMONG]:
        mates.setdefault(document(row).path, []).append(score)
    asked = _pairs(query)
    found = dict(scores)
    for (row, score), text, share in zip(scores.items(), texts, covered, strict=False):
        others = list(mates[document(row).path])
        others.remove(score)
        pairs = len(asked & _pairs(text)) / max(1, len(asked))
        found[row] += _COVERED * float(share) + _PAIRS * pairs
        found[row] += _MATES * sum(others[:_MOST_MATES]) / _MOST_MATES
    whole = 1 + _COVERED + _PAIRS + _MATES
    return dict(sorted(((r, s / whole) for r, s in found.items()), key=lambda pair: -pair[1]))


_UNPAIRED = re.compile(r"[\s\u3041-\u3096。、？?！!・|]")


def _pairs(text: str) -> set[str]:
    """Pairs of neighbouring letters, without hiragana and punctuation."""
    plain = _UNPAIRED.sub("", unicodedata.normalize("NFKC", text)).casefold()
    return {plain[at : at + 2] for at in range(len(plain) - 1)}


_OUTDATED = 0.5


def demote_superseded(
    scores: Mapping[int, float], document: Callable[[int], Filed], query: str
) -> list[tuple[int, float]]:
    """Return (row, score), best first. If the newer edition is among the hits, a superseded
    document's rows lose half their score and rank below its best; rows of a document named as old
    (旧, archive) always lose half. Not so if the query asks for the old one by 旧 or by a year in
    which it was in force; such a year demotes the newer one.

    scores: row → score, best first.
    """
    best: dict[str, float] = {}
    filings: dict[str, Filed] = {}
    for row, score in scores.items():
        filings[document(row).path] = document(row)
        best.setdefault(document(row).path, score)
    years = named_years(query)
    wants_old = is_old(query)
    in_force = {
        path: old
        for path, old in filings.items()
        if old.newer in filings and any(_in_force(old, filings[old.newer], y) for y in years)
    }
    outdone = {old.newer: old.path for old in in_force.values()}
    ranked: list[tuple[int, float]] = []
    for row, score in scores.items():
        filed = document(row)
        asked_for = wants_old or filed.path in in_force or _dated(filed, years)
        if filed.path in outdone and not wants_old:
            score = min(score * _OUTDATED, best[outdone[filed.path]] * (1 - 1e-6))
        elif not asked_for and filed.newer is not None and filed.newer in best:
            score = min(score * _OUTDATED, best[filed.newer] * (1 - 1e-6))
        elif not asked_for and filed.old:
            score *= _OUTDATED
        ranked.append((row, score))
    return sorted(ranked, key=lambda pair: -pair[1])


def _dated(filed: Filed, years: set[int]) -> bool:
    return filed.date is not None and filed.date.year in years


def _in_force(old: Filed, new: Filed, year: int) -> bool:
    """Whether the older edition was in force in that year."""
    if old.date is None or new.date is None:
        return False
    return old.date.year <= year < new.date.year


def demote_duplicates(
    chunks: Sequence[Chunk], ranked: Sequence[tuple[int, float]]
) -> list[tuple[Chunk, tuple[int, float]]]:
    """Chunks with their (row, score); repeated texts move to the end and get the last score."""
    seen: set[str] = set()
    first: list[tuple[Chunk, tuple[int, float]]] = []
    again: list[tuple[Chunk, tuple[int, float]]] = []
    for chunk, place in zip(chunks, ranked, strict=False):
        text = "".join(chunk.text.split())
        (again if text in seen else first).append((chunk, place))
        seen.add(text)
    last = first[-1][1][1] if first else 0.0
    return first + [(chunk, (row, min(score, last))) for chunk, (row, score) in again]
