"""From probabilities to whole spans: what is chosen must be worth its beginning.

A set of spans is worth Σ over its tokens of (p − threshold), less `cost` for each span. For
the token F1 the best set of tokens is a threshold on p (Lipton et al. 2014); the cost keeps
it from single words and holes that nobody would print in bold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["SpanRule", "tuned"]

Floats = NDArray[np.float64]
_THRESHOLDS = (0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6)
_COSTS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)


@dataclass(frozen=True, slots=True)
class SpanRule:
    """threshold: in 0 … 1. cost: of each span, at least 0; 0 decides token by token."""

    threshold: float = 0.5
    cost: float = 0.0

    def choose(self, probabilities: Floats) -> list[bool]:
        """The set of spans of one sentence that is worth most; of equals, the smaller one."""
        if not self.cost:
            return [bool(p > self.threshold) for p in probabilities]
        gains = (probabilities - self.threshold).tolist()
        # Worth of the best choice up to here that leaves out or takes the last token.
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
            # Inside, the token before is inside as well if it stayed; outside, if one ended.
            inside = stays[i] if inside else opens[i]
        return chosen


def tuned(probabilities: Sequence[Floats], labels: Sequence[Sequence[bool]]) -> SpanRule:
    """The rule of greatest token F1 over the given sentences, on a grid.

    Of equal ones, the first in the grid: the lower cost, then the lower threshold. The plain
    rule at 0.5 if no token is emphasised.
    """
    gold = np.array([y for row in labels for y in row], bool)
    if not gold.any():
        return SpanRule()
    best, value = SpanRule(), -1.0
    for cost in _COSTS:
        for threshold in _THRESHOLDS:
            rule = SpanRule(threshold, cost)
            said = np.array([y for row in probabilities for y in rule.choose(row)], bool)
            f1 = 2 * float((said & gold).sum()) / float(said.sum() + gold.sum())
            if f1 > value + 1e-12:
                best, value = rule, f1
    return best
