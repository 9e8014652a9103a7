"""Several taggers' probabilities made one: logistic regression on their log-odds (Wolpert 1992)."""

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
    """p, q, … → σ(Σ weight × logit + shift), a weight for each tagger."""

    weights: tuple[float, ...]
    shift: float = 0.0

    @classmethod
    def even(cls, taggers: int) -> Blend:
        """The mean of their log-odds."""
        return cls((1 / taggers,) * taggers)

    def apply(self, *said: ArrayLike) -> Floats:
        """Each argument is what one tagger says of the same words."""
        odds = self.shift + sum(
            (w * _logit(p) for w, p in zip(self.weights, said, strict=True)), np.zeros(())
        )
        out: Floats = 1 / (1 + np.exp(-odds))
        return out


def blended(said: Sequence[ArrayLike], labels: ArrayLike) -> Blend:
    """The likeliest blend, of what each says of words that none had seen; equal weights where all
    labels are alike."""
    table = np.stack([*map(_logit, said), np.ones(len(np.asarray(labels)))], 1)
    gold = np.asarray(labels, np.float64)
    even = Blend.even(len(said))
    if not 0 < gold.sum() < len(gold):
        return even

    def objective(at: Floats) -> tuple[float, Floats]:
        odds = table @ at
        error = 1 / (1 + np.exp(-np.clip(odds, -500, 500))) - gold
        loss = float((np.logaddexp(0, odds) - gold * odds).mean())
        # A light pull towards equal weights, for a corpus of a few sentences.
        off = at - start
        return loss + 1e-4 * float(off @ off), table.T @ error / len(gold) + 2e-4 * off

    start = np.array([*even.weights, 0.0])
    *weights, shift = minimise(objective, start, tolerance=1e-9).at.tolist()
    return Blend(tuple(weights), shift)


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
