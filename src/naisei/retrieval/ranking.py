"""The order of what was found: ways of searching fused, outdated editions behind newer ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from naisei.japanese.dates import dates_in, is_old
from naisei.retrieval.snapshot import Filed
from naisei.retrieval.types import Chunk

__all__ = ["copies_last", "newer_first"]

_OUTDATED = 0.5


def newer_first(
    scores: Mapping[int, float], document: Callable[[int], Filed], query: str
) -> list[tuple[int, float]]:
    """(row, score), best first. A superseded document's rows lose half their score, and all
    that would keep them before the newer edition's best, where that was found too; those of a
    document that is old by its own name (旧, archive) lose half in any case. Unless the query
    asks for the old one: by its year, or by 旧.

    scores: row → score, best first.
    """
    best: dict[str, float] = {}
    for row, score in scores.items():
        best.setdefault(document(row).path, score)
    asked = _years(query)
    wants_old = is_old(query)
    ranked: list[tuple[int, float]] = []
    for row, score in scores.items():
        filed = document(row)
        asked_for = wants_old or (filed.date is not None and filed.date.year in asked)
        if not asked_for and filed.newer is not None and filed.newer in best:
            score = min(score * _OUTDATED, best[filed.newer] * (1 - 1e-6))
        elif not asked_for and filed.old:
            score *= _OUTDATED
        ranked.append((row, score))
    return sorted(ranked, key=lambda pair: -pair[1])


def _years(query: str) -> Sequence[int]:
    return [written.date.year for written in dates_in(query)]


def copies_last(
    chunks: Sequence[Chunk], ranked: Sequence[tuple[int, float]]
) -> list[tuple[Chunk, tuple[int, float]]]:
    """Chunks with their (row, score), those whose text was there already moved to the end:
    they say nothing new. Their score becomes the last one's."""
    seen: set[str] = set()
    first: list[tuple[Chunk, tuple[int, float]]] = []
    again: list[tuple[Chunk, tuple[int, float]]] = []
    for chunk, place in zip(chunks, ranked, strict=False):
        text = "".join(chunk.text.split())
        (again if text in seen else first).append((chunk, place))
        seen.add(text)
    last = first[-1][1][1] if first else 0.0
    return first + [(chunk, (row, min(score, last))) for chunk, (row, score) in again]
