"""Whether what was found can hold an answer.

Scores of rank fusion say who comes first, not whether anybody fits. Two measures do:

coverage  the share of the question's words of substance that one chunk (with its title and
          headings) holds, each word weighted by its idf: in [0, 1]. A word that no chunk holds
          weighs most, so a question about something unheard of stays low. What rules call a
          thing counts for its everyday name.
distance  of the best chunk: how far its cosine (without vectors: its BM25 score) lies above those
          that questions about anything but the documents (the weather, cooking, history) reach
          in this very index, in their standard deviations. Embedders and collections differ in
          their scale; this does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from naisei.core import Evidence
from naisei.intent.effects import Weights
from naisei.intent.rules import Rules
from naisei.japanese.query_analysis import hollow
from naisei.japanese.search_tokens import related, search_tokens

__all__ = ["coverage", "place_of", "substance", "sufficient"]


def substance(query: str) -> tuple[str, ...]:
    """The search words of a question that say what it is about, each once."""
    return tuple(w for w in dict.fromkeys(search_tokens(query)) if not hollow(w))


def place_of(hit: Evidence) -> str:
    """Title and headings of a hit as one text."""
    headings = hit.meta.get("headings")
    named = [str(h) for h in headings] if isinstance(headings, list) else []
    return " ".join([str(hit.meta.get("title") or ""), *named])


def coverage(
    words: Sequence[str], idf: Mapping[str, float], hit: Evidence, *, loosely: bool = False
) -> float:
    """In [0, 1]; 0 for a question without words of substance.

    loosely: a word is also held by what rules call it (ボーナス by 賞与), a compound of theirs
    (年次有給休暇) by its parts in proportion.
    """
    whole = sum(idf.get(w, 0.0) for w in words)
    if whole <= 0:
        return 0.0
    held = set(search_tokens(f"{place_of(hit)}\n{hit.text}"))
    return sum(idf.get(w, 0.0) * _held(w, held, loosely=loosely) for w in words) / whole


def _held(word: str, held: Set[str], *, loosely: bool) -> float:
    if word in held or not loosely:
        return float(word in held)
    return max((share for other, share in related([word]).items() if other in held), default=0.0)


def sufficient(query: str, hits: Sequence[Evidence], weights: Weights, rules: Rules) -> bool:
    """Whether the hits may be answered from.

    One of them has to cover `full_coverage` of the question, or the best chunk has to lie
    `min_distance` standard deviations above what questions off the subject reach; by words
    alone, it has to cover `least_coverage` too. In an index so small that such questions find
    nothing at all, one has to cover `min_coverage`.
    """
    if not hits:
        return False
    words = substance(query)
    best = max(coverage(words, weights.idf, hit, loosely=True) for hit in hits)
    if weights.distance is None:
        return best >= rules.min_coverage
    far = weights.distance >= rules.min_distance
    if not weights.meaning:
        far = far and best >= rules.least_coverage
    return far or best >= rules.full_coverage
