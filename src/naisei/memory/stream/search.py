"""The search: every entry scored nearly, those within reach of the best scored exactly.

Relevance comes from float32 products with a known bound on their error. Its least and greatest
value, and every entry that could be among the `k` best by that bound, are computed again in
float64; so the result is that of the plain formula in float64 over all entries.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from naisei.memory.entry import Part, ScoreWeights
from naisei.memory.stream.vectors import Vectors

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

#: Scores that agree to so many decimals are ties: what rounding leaves is no difference.
DECIMALS = 12
_NOTHING = 10.0**-DECIMALS
#: So many times `k` scores are sorted first.
_SAMPLED = 40


def minmax(raw: Floats) -> tuple[float, float] | None:
    """The least and the greatest; `None` if they are equal or there are none. NaN: no value."""
    # fmin and fmax pass over NaN, unless there is nothing else.
    low, high = float(np.fmin.reduce(raw)), float(np.fmax.reduce(raw))
    return (low, high) if high - low > _NOTHING else None


def normalised(raw: Floats, between: tuple[float, float] | None) -> Floats:
    """(x − min) / (max − min), 0 to 1; 0 for all if they are equal, and for NaN."""
    if between is None:
        return np.zeros_like(raw)
    low, high = between
    out: Floats = (raw - low) / (high - low)
    out[np.isnan(out)] = 0.0
    return out


def reach(scores: Floats, k: int, error: float) -> Rows:
    """The positions of those that may be among the `k` greatest, if each may be off by `error`."""
    if k >= len(scores):
        return np.arange(len(scores))
    # The k-th of some is no more than the k-th of all: most are out before they are sorted.
    some = scores[:: max(1, len(scores) // (_SAMPLED * k))]
    among = scores[scores >= np.partition(some, len(some) - k)[len(some) - k]]
    least = np.partition(among, len(among) - k)[len(among) - k]
    return np.flatnonzero(scores >= least - 2 * error - 2 * _NOTHING)


def best(scores: Floats, k: int, tie: Callable[[int], Any]) -> list[int]:
    """The positions of the `k` greatest scores, best first; ties in the order of `tie`."""
    return heapq.nsmallest(k, range(len(scores)), key=lambda i: (-scores[i], tie(i)))


@dataclass(frozen=True, slots=True)
class Ranked:
    """One of the best: its position among the entries searched, its score and the parts."""

    position: int
    score: float
    parts: dict[str, Part]


@dataclass(frozen=True, slots=True)
class Relevance:
    """Max over the queries of the cosine, for some rows of the vectors.

    queries: shape (q ≥ 1, dim), rows of length 1.
    """

    vectors: Vectors
    queries: Floats
    rows: Rows

    def near(self) -> Floats:
        """For every row, within `vectors.error`; NaN without a vector."""
        return self.vectors.near(self.queries, self.rows)

    def exact(self, positions: Rows) -> Floats:
        """For the rows at these positions."""
        return self.vectors.exact(self.queries, self.rows[positions])

    def between(self, near: Floats) -> tuple[float, float] | None:
        """The exact least and greatest value; `None` if they are equal or there are none."""
        if np.isnan(near).all():
            return None
        error = 2 * self.vectors.error
        ends = (near <= np.nanmin(near) + error) | (near >= np.nanmax(near) - error)
        return minmax(self.exact(np.flatnonzero(ends)))


def search(
    *,
    importance: Floats,
    recency: Floats,
    relevance: Relevance | None,
    weights: ScoreWeights,
    k: int,
    tie: Callable[[int], Any],
) -> list[Ranked]:
    """The `k` ≥ 1 best of the entries, best first; ties in the order of `tie(position)`.

    importance, recency: shape (n ≥ 1,), raw values.
    """
    ranges = {"importance": minmax(importance), "recency": minmax(recency), "relevance": None}
    rest = weights.importance * normalised(importance, ranges["importance"])
    rest += weights.recency * normalised(recency, ranges["recency"])
    between = near = cosines = None
    if relevance is not None and weights.relevance > 0:
        near = relevance.near()
        ranges["relevance"] = between = relevance.between(near)
    if relevance is None or near is None or between is None:
        within = reach(rest, k, 0.0)
        scores = rest[within]
    else:
        error = weights.relevance * relevance.vectors.error / (between[1] - between[0])
        within = reach(rest + weights.relevance * normalised(near, between), k, error)
        cosines = relevance.exact(within)
        scores = rest[within] + weights.relevance * normalised(cosines, between)
    scores = np.round(scores, DECIMALS)
    order = np.array(best(scores, k, lambda at: tie(int(within[at]))))
    chosen = within[order]
    if cosines is not None:
        cosines = cosines[order]
    elif relevance is not None:
        cosines = relevance.exact(chosen)
    raw = {
        "relevance": np.full(len(chosen), np.nan) if cosines is None else cosines,
        "importance": importance[chosen],
        "recency": recency[chosen],
    }
    scaled = {name: normalised(values, ranges[name]) for name, values in raw.items()}

    def part(name: str, i: int) -> Part:
        value = float(raw[name][i])
        return Part(raw=None if np.isnan(value) else value, normalised=float(scaled[name][i]))

    return [
        Ranked(int(chosen[i]), float(scores[at]), {name: part(name, i) for name in raw})
        for i, at in enumerate(order)
    ]
