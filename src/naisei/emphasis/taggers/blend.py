"""Two taggers' probabilities made one: logistic regression on their log-odds (Wolpert 1992)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naisei.emphasis.crf.lbfgs import minimise

__all__ = ["Blend", "blended", "in_the_middle"]

Floats = NDArray[np.float64]
_EDGE = 1e-6


@dataclass(frozen=True, slots=True)
class Blend:
    """p, q → σ(first × logit p + second × logit q + shift)."""

    first: float = 0.5
    second: float = 0.5
    shift: float = 0.0

    def apply(self, p: ArrayLike, q: ArrayLike) -> Floats:
        odds = self.first * _logit(p) + self.second * _logit(q) + self.shift
        out: Floats = 1 / (1 + np.exp(-odds))
        return out


def blended(p: ArrayLike, q: ArrayLike, labels: ArrayLike) -> Blend:
    """The likeliest blend, of what both say of words that they had not seen; halves where all
    labels are alike."""
    table = np.stack([_logit(p), _logit(q), np.ones(len(np.asarray(labels)))], 1)
    gold = np.asarray(labels, np.float64)
    if not 0 < gold.sum() < len(gold):
        return Blend()

    def objective(at: Floats) -> tuple[float, Floats]:
        odds = table @ at
        error = 1 / (1 + np.exp(-np.clip(odds, -500, 500))) - gold
        loss = float((np.logaddexp(0, odds) - gold * odds).mean())
        # A light pull towards halves, for a corpus of a few sentences.
        off = at - start
        return loss + 1e-4 * float(off @ off), table.T @ error / len(gold) + 2e-4 * off

    start = np.array([0.5, 0.5, 0.0])
    return Blend(*minimise(objective, start, tolerance=1e-9).at.tolist())


def in_the_middle(said: Sequence[Sequence[Floats]]) -> list[Floats]:
    """Several taggers' probabilities of the same sentences: the mean of their log-odds. What one
    training got by chance, the others seldom say (Breiman 1996)."""
    if len(said) == 1:
        return list(said[0])
    return [
        1 / (1 + np.exp(-np.mean([_logit(p) for p in row], axis=0)))
        for row in zip(*said, strict=True)
    ]


def _logit(probabilities: ArrayLike) -> Floats:
    p = np.clip(np.asarray(probabilities, np.float64), _EDGE, 1 - _EDGE)
    out: Floats = np.log(p) - np.log1p(-p)
    return out
