"""One ranking of several: reciprocal rank fusion.

Source: Cormack, Clarke & Büttcher, SIGIR 2009: a thing's score is the sum of 1 / (k + rank)
over the rankings that have it, ranks from 1, k = 60.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["K", "fuse"]

K = 60


def fuse(rankings: Iterable[Sequence[int]], *, k: int = K) -> dict[int, float]:
    """Thing → score, best first; ties in the order of the first ranking that has one.

    >>> list(fuse([[1, 2, 3], [3, 1]]))
    [1, 3, 2]
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, thing in enumerate(ranking, start=1):
            scores[thing] = scores.get(thing, 0.0) + 1 / (k + rank)
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))
