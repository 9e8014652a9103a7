"""The assistant's own effects, and who performs them: an index, and a person's thresholds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, ClassVar, cast

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core import Effect, Handler, Search, Where, World
from naisei.intent.schemas import Thresholds
from naisei.japanese.morph import is_japanese
from naisei.japanese.sentences import search_tokens
from naisei.retrieval.index import Index, SearchHandler
from naisei.retrieval.types import Mode

__all__ = ["Cuts", "CutsHandler", "Weigh", "WeighHandler", "Weights", "document_world"]


class Weights(BaseModel):
    """What a query weighs in an index.

    idf: search word → inverse document frequency over the chunks, ln(1 + (N − n + ½)/(n + ½)),
    above 0; a word that stands nowhere has the greatest. distance: of the best chunk, in standard
    deviations above what questions off the subject reach in the index
    (`naisei.intent.evidence`); `None` where nothing was found, or those find nothing. meaning:
    whether by cosine; else by words. chunks: N.
    """

    model_config = ConfigDict(frozen=True)

    idf: dict[str, float] = {}
    distance: float | None = None
    meaning: bool = False
    chunks: int = 0


@dataclass(frozen=True)
class Weigh(Effect[Weights]):
    """How much each search word of a query says, and how near the documents come to it."""

    kind: ClassVar[str] = "weigh"
    query: str

    def request(self) -> JsonValue:
        return {"query": self.query}

    def encode(self, result: Weights) -> JsonValue:
        if not isinstance(result, Weights):
            raise TypeError(f"expected Weights, got {type(result).__name__}")
        return result.model_dump(mode="json")

    def decode(self, data: JsonValue) -> Weights:
        return Weights.model_validate(data)


@dataclass(frozen=True)
class Cuts(Effect[Thresholds]):
    """The thresholds of the person who is spoken to, as their feedback has moved them."""

    kind: ClassVar[str] = "cuts"
    user: str

    def request(self) -> JsonValue:
        return {"user": self.user}

    def encode(self, result: Thresholds) -> JsonValue:
        if not isinstance(result, Thresholds):
            raise TypeError(f"expected Thresholds, got {type(result).__name__}")
        plain = result.model_dump(mode="json")
        plain["extended"] = sorted(plain["extended"])
        return plain

    def decode(self, data: JsonValue) -> Thresholds:
        return Thresholds.model_validate(data)


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
        distance, meaning = self._distance(query)
        return Weights(
            idf={word: math.log1p((size - n + 0.5) / (n + 0.5)) for word, n in counts.items()},
            distance=distance,
            meaning=meaning,
            chunks=size,
        )

    def _distance(self, query: str) -> tuple[float | None, bool]:
        """How far the best chunk lies above what questions off the subject reach, and whether
        by meaning."""
        best, meaning = self._best(query)
        if best is None:
            return None, meaning
        language = "ja" if is_japanese(query) else "en"
        key = (str(self._index.directory.resolve()), self._index.generation, language)
        if key not in _reached:
            found = [self._best(q)[0] or 0.0 for q in _off_subject(language)]
            _reached[key] = (statistics.fmean(found), statistics.stdev(found))
        mean, deviation = _reached[key]
        return ((best - mean) / deviation if deviation > 0 else None), meaning

    def _best(self, query: str) -> tuple[float | None, bool]:
        """The greatest cosine among the hits, or, without vectors, the greatest score by words;
        whether it is a cosine. `None` if nothing was found."""
        hits = self._index.search(query, k=_LOOKED_AT)
        cosines = [hit.cosine for hit in hits if hit.cosine is not None]
        if cosines:
            return max(cosines), True
        return max((hit.words for hit in hits if hit.words is not None), default=None), False


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


def document_world(
    base: World,
    index: Index,
    *,
    mode: Mode = "hybrid",
    filters: Mapping[str, Any] | None = None,
    cuts: Callable[[str], Thresholds] | None = None,
) -> World:
    """`base` (Chat where a model is used) with the documents. cuts: user → thresholds; the
    article's by default."""
    return base.having(
        {
            Search: SearchHandler(index, mode=mode, filters=filters),
            Weigh: WeighHandler(index),
            Cuts: CutsHandler(cuts or (lambda user: Thresholds())),
        }
    )
