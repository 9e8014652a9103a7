"""The effects that only the assistant has: weighing words in the index, a person's cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, JsonValue

from naisei.core import Effect
from naisei.intent.thresholds import Thresholds

__all__ = ["Cuts", "Weigh", "Weights"]


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
