"""One ranking of several.

Sources: reciprocal rank fusion, Cormack, Clarke & Büttcher, SIGIR 2009: a thing's score is the
sum of 1 / (k + rank) over the rankings that have it, ranks from 1, k = 60. Convex combination of
scores, Bruch, Gai & Ingber, TOIS 2023: it keeps by how much one thing is better than another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["K", "blend", "fuse"]

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


def blend(
    things: Sequence[int],
    words: npt.NDArray[np.float32],
    meaning: npt.NDArray[np.float32],
    *,
    ground: float,
) -> dict[int, float]:
    """Thing → score, 0 to 1, best first: the mean of its score by words and its cosine, either
    measured against the best of them.

    words, meaning: of each of the things. ground: the cosine that says nothing, such as the mean
    over all texts.
    """
    if not things:
        return {}
    above = np.clip(meaning - np.float32(ground), 0, None)
    scores = (_of_best(words) + _of_best(above)) / 2
    order = np.argsort(-scores, kind="stable")
    return {things[at]: float(scores[at]) for at in order}


def _of_best(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    best = scores.max()
    return scores / best if best > 0 else np.zeros_like(scores)
