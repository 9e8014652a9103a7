"""The hits that an answer may rest on, newest version first, the person's own preferred."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from naisei.core import Evidence, Flow, Search
from naisei.intent.effects import Weigh, Weights
from naisei.intent.rules import Setting
from naisei.japanese.dates import dates_in, is_old
from naisei.retrieval.ranking import fuse

__all__ = ["Found", "find", "newest_first"]


class Found(BaseModel):
    """hits: at most `k`, best first. weights: of the query in the index."""

    model_config = ConfigDict(frozen=True)

    hits: tuple[Evidence, ...]
    weights: Weights


def find(query: str, setting: Setting, *, also: str = "") -> Flow[Found]:
    """Twice as many are looked at as are kept, so that outdated ones can make room.

    also: searched for as well; what both find comes first.
    """
    k = setting.rules.k
    hits = yield from Search(query, k=2 * k, source="documents")
    if also:
        more = yield from Search(also, k=2 * k, source="documents")
        named = {hit.id: hit for hit in (*more, *hits)}
        hits = [named[id] for id in fuse([[h.id for h in hits], [h.id for h in more]])]
    weights = yield from Weigh(query)
    ordered = newest_first(query, setting.profile.prefer(hits))
    return Found(hits=tuple(ordered[:k]), weights=weights)


def newest_first(query: str, hits: Sequence[Evidence]) -> list[Evidence]:
    """Chunks of outdated editions go behind all others, unless the query asks for the old one:
    by its year, or by 旧. Order kept."""
    if is_old(query):
        return list(hits)
    years = {str(written.date.year) for written in dates_in(query)}

    def behind(hit: Evidence) -> bool:
        date = str(hit.meta.get("date") or "")
        return bool(hit.meta.get("superseded_by")) and date[:4] not in years

    return sorted(hits, key=behind)
