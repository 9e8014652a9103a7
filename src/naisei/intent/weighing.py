"""Performs `Weigh` and `Cuts`: the index's statistics, and a person's thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numpy as np

from naisei.core import Handler, Where
from naisei.intent.effects import Cuts, Weigh, Weights
from naisei.intent.thresholds import Thresholds
from naisei.japanese.search_tokens import search_tokens
from naisei.retrieval.index import Index

__all__ = ["CutsHandler", "WeighHandler"]


class WeighHandler(Handler):
    """Weighs queries against one index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def perform(self, effect: object, where: Where) -> Weights:
        query = cast(Weigh, effect).query
        snapshot = self._index._current()  # one generation for both figures
        size = len(snapshot)
        idf = {}
        for word in dict.fromkeys(search_tokens(query)):
            n = int(np.count_nonzero(snapshot.words.scores([word])))
            idf[word] = math.log1p((size - n + 0.5) / (n + 0.5))
        distance = None
        if snapshot.embedder is not None and size > 1 and query.strip():
            vector = self._index._model(snapshot.embedder).embed([query], "query")[0]
            scores = snapshot.vectors.scores(vector)
            spread = float(scores.std())
            distance = float((scores.max() - scores.mean()) / spread) if spread > 0 else 0.0
        return Weights(idf=idf, distance=distance, chunks=size)


class CutsHandler(Handler):
    """Looks a person's thresholds up when a request begins; the log keeps what they were."""

    def __init__(self, of: Callable[[str], Thresholds]) -> None:
        self._of = of

    def perform(self, effect: object, where: Where) -> Thresholds:
        return self._of(cast(Cuts, effect).user)
