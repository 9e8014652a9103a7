"""Whether the hits can hold an answer.

Ranking scores are relative. These measures are calibrated on each index:

nearness  the cosine of the nearest sentence, row or chunk, scaled between the average for
          off-topic questions (0: the weather, cooking, history) and the average for questions
          generated from the documents' own headings (1). It is comparable across embedders and
          collections. Without vectors it uses the word score as a share of the score of a
          text that contains all words.
coverage  the share of the question's content words in one chunk (with its title and headings),
          each word weighted by its idf: in [0, 1]. A word that is in no chunk has the greatest
          weight, so a question about an unknown thing scores low. Formal terms count as their
          everyday synonyms.

Their sum decides whether any hit is about the question, and helps decide whether the best quote is
an answer or only the nearest passage (`naisei.intent.answering.extracted`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from typing import Literal

from pydantic import BaseModel, ConfigDict

from naisei.core import Evidence, Flow, Search
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import Weigh, Weights
from naisei.intent.rules import Rules, Setting
from naisei.intent.things import mentions, place_of, things
from naisei.japanese.dates import is_old, named_years
from naisei.japanese.morph import is_japanese
from naisei.japanese.query_analysis import is_stopword
from naisei.japanese.sentences import codes, related, search_tokens
from naisei.retrieval.ranking import fuse

#: Bands: an answer, something near it, nothing.
Band = Literal["answer", "nearest", "none"]


class SearchResult(BaseModel):
    """hits: at most `k`, best first. weights: of the query in the index."""

    model_config = ConfigDict(frozen=True)

    hits: tuple[Evidence, ...]
    weights: Weights


def find(query: str, setting: Setting, *, also: str = "") -> Flow[SearchResult]:
    """Search for twice as many hits as needed, so that hits on another product can be dropped.
    also: a second query; hits of both come first.
    """
    k = setting.rules.k
    hits = yield from Search(query, k=2 * k, source="documents")
    if also:
        more = yield from Search(also, k=2 * k, source="documents")
        named = {hit.id: hit for hit in (*more, *hits)}
        hits = [named[id] for id in fuse([[h.id for h in hits], [h.id for h in more]])]
    weights = yield from Weigh(query)
    ordered = newest_first(query, setting.profile.prefer(hits))
    ordered = sorted(ordered, key=lambda hit: another_model(query, hit))
    return SearchResult(hits=tuple(_with_headed(query, ordered, k)), weights=weights)


def _with_headed(query: str, hits: Sequence[Evidence], k: int) -> Sequence[Evidence]:
    """Return the first k hits. If none has a heading that names the question's topic, the first
    later hit that does replaces the last."""
    asked = things(query)

    def headed(hit: Evidence) -> bool:
        return all(mentions(thing, place_of(hit)) for thing in asked)

    if not asked or k < 2 or any(map(headed, hits[:k])):
        return hits[:k]
    more = [hit for hit in hits[k:] if headed(hit) and not hit.meta.get("superseded_by")]
    return [*hits[: k - 1], *(more or hits[k - 1 :])[:1]]


#: Evidence from which a question counts as complete, and the required gain from combining it with
#: the previous one.
_ALONE, _STRONGER = 0.85, 0.1


def resumed(dialogue: Dialogue, setting: Setting) -> Flow[Dialogue]:
    """Combine a question that the documents hardly answer with the previous one if that improves
    the answer."""
    rules = setting.rules
    if not dialogue.earlier or dialogue.exchanges or not dialogue.alone:
        return dialogue
    together = dialogue.model_copy(update={"goes_on": True})
    values: list[float] = []
    for said in (dialogue.full_messages, together.full_messages):
        query = " ".join(said)
        hits = yield from Search(query, k=rules.k, source="documents")
        weights = yield from Weigh(query)
        values.append(strength(query, hits, weights))
        if values[0] >= _ALONE:
            return dialogue
    return together if values[1] >= values[0] + _STRONGER else dialogue


def newest_first(query: str, hits: Sequence[Evidence]) -> list[Evidence]:
    """Move chunks of outdated editions to the end, unless the query asks for the old one by 旧 or
    by its year. Otherwise stable."""
    if is_old(query):
        return list(hits)
    year = max(named_years(query), default=0)

    def behind(hit: Evidence) -> bool:
        date = str(hit.meta.get("date") or "")
        return bool(hit.meta.get("superseded_by")) and not (date and int(date[:4]) <= year)

    return sorted(hits, key=behind)


def another_model(query: str, hit: Evidence) -> bool:
    """Whether a hit is about product codes other than the query's."""
    asked = set(codes(query))
    if not asked:
        return False
    named = set(codes(f"{place_of(hit)} {hit.meta.get('path') or ''}"))
    return not asked & {*named, *codes(hit.text)} and any(
        _alike(a, n) for a in asked for n in named
    )


def _alike(one: str, two: str) -> bool:
    return one != two and one[:2] == two[:2]


def substance(query: str) -> tuple[str, ...]:
    """The content search words of a question, without duplicates; in English without their
    katakana."""
    words = (w for w in dict.fromkeys(search_tokens(query)) if not is_stopword(w))
    japanese = is_japanese(query)
    return tuple(w for w in words if japanese or not _KATAKANA.fullmatch(w))


_KATAKANA = re.compile("[ァ-ヺー]+")


def coverage(
    words: Sequence[str], idf: Mapping[str, float], hit: Evidence, *, loosely: bool = False
) -> float:
    """Coverage in [0, 1]; 0 for a question without content words.

    loosely: also count formal synonyms of a word (賞与 for ボーナス), and the parts of a compound
    (年次有給休暇) in proportion.
    """
    there = set(search_tokens(f"{place_of(hit)}\n{hit.text}"))
    return share(words, idf, there, loosely=loosely)


def share(
    words: Sequence[str], idf: Mapping[str, float], there: Set[str], *, loosely: bool = True
) -> float:
    """Share of the words' total weight that these words cover; as in `coverage`."""
    whole = sum(idf.get(w, 0.0) for w in words)
    if whole <= 0:
        return 0.0
    return sum(idf.get(w, 0.0) * word_coverage(w, there, loosely=loosely) for w in words) / whole


def word_coverage(word: str, there: Set[str], *, loosely: bool) -> float:
    """Degree to which a word is present, in [0, 1]."""
    if word in there or not loosely:
        return float(word in there)
    return max((part for other, part in related([word]).items() if other in there), default=0.0)


def cosines(hit: Evidence) -> list[float]:
    """Cosines of the hit's sentences and rows, in order; may be empty."""
    found = hit.meta.get("spans")
    return [v for v in found if isinstance(v, float)] if isinstance(found, list) else []


def nearness(hits: Sequence[Evidence], weights: Weights) -> float:
    """Similarity of the nearest hit, in [-0.5, 1.5]; 0 without a reference."""
    if weights.meaning:
        best = [max([*cosines(hit), _number(hit, "cosine")]) for hit in hits]
    else:
        best = [_number(hit, "words") for hit in hits]
    wide = weights.reach - weights.ground
    if not best or wide <= 0:
        return 0.0
    return min(1.5, max(-0.5, (max(best) - weights.ground) / wide))


def _number(hit: Evidence, key: str) -> float:
    value = hit.meta.get(key)
    return float(value) if isinstance(value, int | float) else 0.0


#: Weight of coverage relative to nearness, and of hits other than the first.
_COVERED, _OTHERS = 0.6, 0.85


def strength(query: str, hits: Sequence[Evidence], weights: Weights) -> float:
    """Confidence that the hits match the question: about 0 (none) to 2."""
    if not hits:
        return 0.0
    words = substance(query)
    first, *others = (coverage(words, weights.idf, hit, loosely=True) for hit in hits)
    covered = max([first, *(_OTHERS * other for other in others)])
    return nearness(hits, weights) + _COVERED * covered


#: Off-topic questions share fewer words with documents than meaning: 11 of our 16 score below this
#: share of the bound.
_BY_WORDS = 0.4


def is_held(query: str, hits: Sequence[Evidence], weights: Weights, rules: Rules) -> bool:
    """Whether the hits are about the question, closely or loosely."""
    least = rules.nearest_from * (1 if weights.meaning else _BY_WORDS)
    return bool(hits) and strength(query, hits, weights) >= least
