"""The hits that an answer may rest on, newest version first, the person's own preferred."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from naisei.core import Evidence, Flow, Search
from naisei.intent.effects import Weigh, Weights
from naisei.intent.rules import Setting

__all__ = ["Found", "find", "newest_first"]


class Found(BaseModel):
    """hits: at most `k`, best first. weights: of the query in the index."""

    model_config = ConfigDict(frozen=True)

    hits: tuple[Evidence, ...]
    weights: Weights


def find(query: str, setting: Setting) -> Flow[Found]:
    """Twice as many are looked at as are kept, so that outdated ones can make room."""
    k = setting.rules.k
    hits = yield from Search(query, k=2 * k, source="documents")
    weights = yield from Weigh(query)
    ordered = newest_first(setting.profile.prefer(hits))
    return Found(hits=tuple(ordered[:k]), weights=weights)


def newest_first(hits: Sequence[Evidence]) -> list[Evidence]:
    """Chunks of outdated versions and near copies go behind all others; order kept."""

    def behind(hit: Evidence) -> bool:
        return bool(hit.meta.get("superseded_by") or hit.meta.get("duplicate_of"))

    return sorted(hits, key=behind)
