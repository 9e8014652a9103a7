"""From taggers' probabilities to labels: calibration and choice of spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naisei.emphasis.crf import dot, minimise
from naisei.emphasis.schemas import Sentence

Floats = NDArray[np.float64]
_EDGE = 1e-6


@dataclass(frozen=True, slots=True)
class Calibration:
    """p → σ(scale × logit p + shift). scale > 0, so the order is preserved."""

    scale: float = 1.0
    shift: float = 0.0

    def apply(self, probabilities: ArrayLike) -> Floats:
        out: Floats = 1 / (1 + np.exp(-(self.scale * _logit(probabilities) + self.shift)))
        return out


def calibrated(probabilities: ArrayLike, labels: ArrayLike) -> Calibration:
    """The maximum-likelihood calibration, with Platt's (1999) smoothed targets.

    The identity if all labels are equal, since there is nothing to learn from.
    """
    x, y = _logit(probabilities), np.asarray(labels, np.float64)
    more = float(y.sum())
    less = len(y) - more
    if not more or not less:
        return Calibration()
    target = np.where(y > 0, (more + 1) / (more + 2), 1 / (less + 2))

    def objective(at: Floats) -> tuple[float, Floats]:
        # The scale is e^u, so it stays above 0.
        scale = float(np.exp(at[0]))
        z = scale * x + at[1]
        error = 1 / (1 + np.exp(-np.clip(z, -500, 500))) - target
        loss = float((np.logaddexp(0, z) - target * z).mean())
        slope = np.array([float((error * x).mean()) * scale, float(error.mean())])
        # Slight regularisation towards the identity, for a dev part of few sentences.
        return loss + 1e-3 * dot(at, at), slope + 2e-3 * at

    found = minimise(objective, np.zeros(2), tolerance=1e-9)
    # The same digits on every processor.
    return Calibration(round(float(np.exp(found[0])), 6), round(float(found[1]), 6))


def _logit(probabilities: ArrayLike) -> Floats:
    p = np.clip(np.asarray(probabilities, np.float64), _EDGE, 1 - _EDGE)
    out: Floats = np.log(p) - np.log1p(-p)
    return out


# From probabilities to whole spans: each span has a fixed cost.
#
# The value of a set of spans is Σ over its tokens of (p − threshold), minus `cost` per span. For
# the token F1 the best set of tokens is a threshold on p (Lipton et al. 2014); the cost avoids
# single words and gaps within a phrase.

_THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
_COSTS = (0.0, 0.1, 0.2, 0.4)


@dataclass(frozen=True, slots=True)
class SpanRule:
    """threshold: 0 to 1. cost: cost per span, at least 0; with 0 tokens are independent."""

    threshold: float = 0.5
    cost: float = 0.0

    def choose(self, probabilities: Floats) -> list[bool]:
        """The set of spans of one sentence with the highest value; on ties the smaller one."""
        above: list[bool] = (probabilities > self.threshold).tolist()
        if not self.cost or not any(above):
            return above
        gains = (probabilities - self.threshold).tolist()
        # Value of the best choice so far that excludes or includes the last token.
        out, taken = 0.0, float("-inf")
        stays: list[bool] = []
        opens: list[bool] = []
        for gain in gains:
            stays.append(taken > out - self.cost)
            opens.append(taken > out)
            out, taken = max(out, taken), max(taken, out - self.cost) + gain
        chosen = [False] * len(gains)
        inside = taken > out
        for i in range(len(gains) - 1, -1, -1):
            chosen[i] = inside
            # Whether the previous token is in this span or, if this one is outside, ends a span.
            inside = stays[i] if inside else opens[i]
        return chosen


def tuned(probabilities: Sequence[Floats], labels: Sequence[Sequence[bool]]) -> SpanRule:
    """The best rule for the given sentences, by grid search.

    Score: the mean of the F1 of tokens and of spans, since half a phrase in bold is useless,
    minus a small penalty for marking more or less than the writer, which decides between rules
    that score alike on few articles. On ties, the first in the grid: the lower cost, then the
    lower threshold. A plain threshold of 0.5 if no token is emphasised.
    """
    gold = _row(labels)
    if not gold.any():
        return SpanRule()
    theirs = _spans(gold)
    best, value = SpanRule(), -np.inf
    for cost in _COSTS:
        for threshold in _THRESHOLDS:
            rule = SpanRule(threshold, cost)
            said = _row([rule.choose(row) for row in probabilities])
            ours = _spans(said)
            both = float(said.sum()), float(gold.sum())
            tokens = 2 * float((said & gold).sum()) / sum(both)
            spans = 2 * len(ours & theirs) / (len(ours) + len(theirs))
            off = abs(float(np.log((both[0] + 1) / (both[1] + 1))))
            worth = (tokens + spans) / 2 - _RATE * off
            if worth > value + 1e-12:
                best, value = rule, worth
    return best


def fitted(
    sentences: Sequence[Sentence], raw: Sequence[Floats]
) -> tuple[Calibration, SpanRule] | None:
    """Fit calibration and span rule to uncalibrated probabilities of sentences that were not
    trained on; None if nothing is emphasised or `raw` is empty."""
    gold = np.array([y for s in sentences for y in s.labels], bool)
    if not gold.any() or not any(p.any() for p in raw):
        return None
    counted = np.array([can for s in sentences for can in s.counted], bool)
    found = calibrated(np.concatenate(raw)[counted], gold[counted])
    own = [np.where(s.counted, found.apply(p), 0.0) for p, s in zip(raw, sentences, strict=True)]
    return found, tuned(own, [s.labels for s in sentences])


#: Weight of |log(words marked / words that the writer marks)|.
_RATE = 0.1


def _row(labels: Sequence[Sequence[bool]]) -> NDArray[np.bool_]:
    """Concatenate all sentences, with an unmarked word before, between and after them."""
    whole = [False]
    for row in labels:
        whole += [*row, False]
    return np.array(whole, bool)


def _spans(row: NDArray[np.bool_]) -> set[tuple[int, int]]:
    turns = np.flatnonzero(row[1:] != row[:-1]).tolist()
    return set(zip(turns[::2], turns[1::2], strict=True))
