"""The search: the weighted sum of relevance, importance and recency over all entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from naisei.memory.entry import Part, ScoreWeights
from naisei.similarity import DECIMALS, Floats

Rows = npt.NDArray[np.intp]

_NOTHING = 10.0**-DECIMALS


def normalised(raw: Floats) -> Floats:
    """(x − min) / (max − min), 0 to 1; 0 for all if they are equal, and for NaN (no value)."""
    # fmin and fmax pass over NaN, unless there is nothing else.
    low, high = float(np.fmin.reduce(raw)), float(np.fmax.reduce(raw))
    if not high - low > _NOTHING:
        return np.zeros_like(raw)
    return np.nan_to_num((raw - low) / (high - low), copy=False, nan=0.0)


def best(scores: Floats, k: int, tie: Callable[[int], Any]) -> Rows:
    """The positions of the `k` greatest scores, best first; ties in the order of `tie`.

    Scores that agree to 12 decimals are ties.
    """
    scores = np.round(scores, DECIMALS)
    least = np.partition(scores, len(scores) - k)[len(scores) - k] if k < len(scores) else -np.inf
    among = np.flatnonzero(scores >= least).tolist()
    return np.array(sorted(among, key=lambda i: (-scores[i], tie(i)))[:k], dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Ranked:
    """One of the best: its position among the entries searched, its score and the parts."""

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
    """The `k` ≥ 1 best of the entries, best first; ties in the order of `tie(position)`.

    importance, recency, relevance: shape (n ≥ 1,), raw values; NaN where there is none.
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
