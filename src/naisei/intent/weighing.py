"""Performs `Weigh` and `Cuts`: the index's statistics, and a person's thresholds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import cast

from naisei.core import Handler, Where
from naisei.intent.effects import Cuts, Weigh, Weights
from naisei.intent.thresholds import Thresholds
from naisei.japanese.normal import is_japanese
from naisei.japanese.search_tokens import search_tokens
from naisei.retrieval.index import Index

__all__ = ["CutsHandler", "WeighHandler"]

#: What questions off the subject reach, by index, generation and language. A question is put to
#: many handlers of one index: each of them would embed these anew.
_reached: dict[tuple[str, int, str], tuple[float, float]] = {}


class WeighHandler(Handler):
    """Weighs queries against one index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def perform(self, effect: object, where: Where) -> Weights:
        query = cast(Weigh, effect).query
        size = len(self._index)
        counts = self._index.frequencies(dict.fromkeys(search_tokens(query)))
        return Weights(
            idf={word: math.log1p((size - n + 0.5) / (n + 0.5)) for word, n in counts.items()},
            distance=self._distance(query),
            chunks=size,
        )

    def _distance(self, query: str) -> float | None:
        """How far the nearest chunk lies above what questions off the subject reach."""
        nearest = self._nearest(query)
        if nearest is None:
            return None
        language = "ja" if is_japanese(query) else "en"
        key = (str(self._index.directory.resolve()), self._index.generation, language)
        if key not in _reached:
            found = [self._nearest(q) for q in _off_subject(language)]
            known = [cosine for cosine in found if cosine is not None]
            if len(known) < 2:
                return None
            _reached[key] = (statistics.fmean(known), statistics.stdev(known))
        mean, deviation = _reached[key]
        return (nearest - mean) / deviation if deviation > 0 else 0.0

    def _nearest(self, query: str) -> float | None:
        """The greatest cosine among the hits; `None` without vectors or without a query."""
        hits = self._index.search(query, k=_LOOKED_AT)
        return max((hit.cosine for hit in hits if hit.cosine is not None), default=None)


#: Words and newer editions go before the nearest in meaning, but not so many.
_LOOKED_AT = 10


@lru_cache(maxsize=2)
def _off_subject(language: str) -> tuple[str, ...]:
    text = (files("naisei.intent") / f"off_subject.{language}.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line.strip())


class CutsHandler(Handler):
    """Looks a person's thresholds up when a request begins; the log keeps what they were."""

    def __init__(self, of: Callable[[str], Thresholds]) -> None:
        self._of = of

    def perform(self, effect: object, where: Where) -> Thresholds:
        return self._of(cast(Cuts, effect).user)
