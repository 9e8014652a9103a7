"""What a flow asks of a stream: write, read the latest, and find what bears on questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, TypeVar

from pydantic import BaseModel, JsonValue

from naisei.core import Effect, Remember
from naisei.memory.stream.entry import Entry, Kind, Scored

__all__ = ["RATED", "Recall", "Recent", "rate", "remember"]

T = TypeVar("T", bound=BaseModel)

#: The key of an item that changes importances instead of adding an entry.
RATED = "rated"


def remember(name: str, entry: Entry) -> Remember:
    """The effect that appends `entry` to the stream `name`."""
    return Remember(entry.model_dump(mode="json"), memory=name)


def rate(name: str, importances: Mapping[str, int]) -> Remember:
    """The effect that sets importances (1 to 10) by entry id, once a model has rated them."""
    return Remember({RATED: dict(importances)}, memory=name)


@dataclass(frozen=True)
class Recall(Effect[list[Scored]]):
    """The `k` best entries for all `queries` together, best first.

    Args:
        queries: texts; an entry's relevance is that to the query nearest to it. None: the
            rank is by importance and recency.
        name: of the stream.
        now: the time that recency is measured from; with times as the entries have them.
        k: ≥ 1; `None` for all.
        kinds: only entries of these kinds; empty for all.
    """

    kind: ClassVar[str] = "recall"
    queries: tuple[str, ...]
    name: str
    now: datetime
    k: int | None = 40
    kinds: tuple[Kind, ...] = ()

    def request(self) -> JsonValue:
        return {
            "queries": list(self.queries),
            "name": self.name,
            "now": self.now.isoformat(),
            "k": self.k,
            "kinds": list(self.kinds),
        }

    def encode(self, result: list[Scored]) -> JsonValue:
        return [_expect(one, Scored).model_dump(mode="json") for one in result]

    def decode(self, data: JsonValue) -> list[Scored]:
        assert isinstance(data, list)
        return [Scored.model_validate(one) for one in data]


@dataclass(frozen=True)
class Recent(Effect[list[Entry]]):
    """The last `n` entries (of these kinds), oldest first, in the order they were remembered."""

    kind: ClassVar[str] = "recent"
    name: str
    n: int = 10
    kinds: tuple[Kind, ...] = ()

    def request(self) -> JsonValue:
        return {"name": self.name, "n": self.n, "kinds": list(self.kinds)}

    def encode(self, result: list[Entry]) -> JsonValue:
        return [_expect(one, Entry).model_dump(mode="json") for one in result]

    def decode(self, data: JsonValue) -> list[Entry]:
        assert isinstance(data, list)
        return [Entry.model_validate(one) for one in data]


def _expect(result: object, kind: type[T]) -> T:
    if not isinstance(result, kind):
        raise TypeError(f"expected {kind.__name__}, got {type(result).__name__}")
    return result
