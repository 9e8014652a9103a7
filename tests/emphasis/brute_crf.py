"""A linear-chain CRF of two labels with all its labellings written out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

START, END = 2, 3


@dataclass(frozen=True)
class Written:
    """scores: of each labelling. log_partition; positive: (tokens,), the probability of label 1;
    edges: (4, 4), the expected number of times that each step is taken."""

    scores: dict[tuple[int, ...], float]
    log_partition: float
    positive: np.ndarray
    edges: np.ndarray


def score(p: np.ndarray, a: np.ndarray, y: tuple[int, ...]) -> float:
    """p: (tokens, 2)."""
    steps = sum(a[i, j] for i, j in pairwise([START, *y, END]))
    return float(steps + sum(p[t, label] for t, label in enumerate(y)))


def written_out(p: np.ndarray, a: np.ndarray) -> Written:
    scores = {y: score(p, a, y) for y in product(range(2), repeat=len(p))}
    total = float(np.logaddexp.reduce(list(scores.values())))
    positive, edges = np.zeros(len(p)), np.zeros((4, 4))
    for y, own in scores.items():
        weight = np.exp(own - total)
        positive += weight * np.array(y)
        for i, j in pairwise([START, *y, END]):
            edges[i, j] += weight
    return Written(scores, total, positive, edges)
