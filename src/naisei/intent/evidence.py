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

Whether a sentence is borne out by the chunks that it cites is told without a model, too: numbers,
amounts and dates of the sentence must stand in the chunks; of its content words, at least half
must. A sentence without either says nothing that could be borne out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from pydantic import BaseModel, ConfigDict

from naisei.core import Evidence, Flow, Search
from naisei.intent.effects import Weigh, Weights
from naisei.intent.rules import Rules, Setting
from naisei.japanese.content_preservation import denied, missing
from naisei.japanese.dates import dates_in, is_old
from naisei.japanese.query_analysis import hollow
from naisei.japanese.sentences import related, search_tokens
from naisei.lang import Language
from naisei.retrieval.ranking import fuse

__all__ = [
    "MIN_OVERLAP",
    "Found",
    "best_passage",
    "coverage",
    "find",
    "newest_first",
    "place_of",
    "quoted",
    "substance",
    "sufficient",
    "unsupported",
]


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


_ROOM = 240
_PASSAGES = 3
_SENTENCE = re.compile(r"[^。！？!?\n]*(?:[。！？!?]+[」）)]*|\n|$)")


def quoted(
    words: Sequence[str], idf: Mapping[str, float], hits: Sequence[Evidence]
) -> list[tuple[int, str]]:
    """(place of the hit, passage): the best hit first, then those that cover nearly as much.

    At most three; current documents only, unless there are no others.
    """
    current = [at for at, h in enumerate(hits) if not h.meta.get("superseded_by")]
    covers = {at: coverage(words, idf, hits[at]) for at in current or range(len(hits))}
    top = max(covers.values(), default=0.0)
    chosen = [at for at, share in covers.items() if share >= 0.8 * top][:_PASSAGES]
    first = next(iter(covers), None)
    if first is not None and first not in chosen:
        chosen = [first, *chosen][:_PASSAGES]
    return [(at, best_passage(words, idf, hits[at].text)) for at in chosen]


def best_passage(words: Sequence[str], idf: Mapping[str, float], text: str) -> str:
    """The neighbouring sentences or rows of a chunk, up to 240 letters, that hold most of the
    words; the head row of a table goes with its rows."""
    if len(text) <= _ROOM:
        return text.strip()
    pieces = [p for p in _SENTENCE.findall(text) if p.strip()]
    gains = [_gain(words, idf, piece) for piece in pieces]
    best, span = -1.0, (0, 1)
    for start in range(len(pieces)):
        length, total, seen = 0, 0.0, set[str]()
        for end in range(start, len(pieces)):
            length += len(pieces[end])
            if length > _ROOM and end > start:
                break
            total += sum(v for w, v in gains[end].items() if w not in seen)
            seen |= gains[end].keys()
            # Of two spans that hold the same, the shorter one; of those, the first.
            if total - 0.001 * (end - start) > best:
                best, span = total - 0.001 * (end - start), (start, end + 1)
    start, end = span
    while end < len(pieces) and sum(map(len, pieces[start : end + 1])) <= _ROOM:
        end += 1
    head = _head(pieces, start)
    return (head + "".join(pieces[start:end])).strip()


def _head(pieces: Sequence[str], start: int) -> str:
    """The first row of the table that the piece is in, if it is a row that is not the first."""
    if not pieces[start].lstrip().startswith("|"):
        return ""
    first = start
    while first > 0 and pieces[first - 1].lstrip().startswith("|"):
        first -= 1
    return pieces[first] if first < start else ""


def _gain(words: Sequence[str], idf: Mapping[str, float], piece: str) -> dict[str, float]:
    held = set(search_tokens(piece))
    return {w: idf.get(w, 0.0) for w in words if w in held}


#: Share of a sentence's content words that the chunks must hold.
MIN_OVERLAP = 0.5


def unsupported(sentence: str, sources: Sequence[Evidence], language: Language) -> str:
    """Why a sentence is not borne out; empty if it is."""
    ja = language == "ja"
    if not sources:
        return "出典がない" if ja else "no source is cited"
    text = "\n".join(f"{place_of(s)}\n{s.meta.get('date') or ''}\n{s.text}" for s in sources)
    if gone := missing(sentence, text):
        named = "、".join(q.value + q.unit for q in gone)
        return f"出典にない数値: {named}" if ja else f"not in the sources: {named}"
    words = set(search_tokens(sentence))
    if words:
        share = len(words & set(search_tokens(text))) / len(words)
        if share < MIN_OVERLAP:
            return (
                f"出典と重なる語が少ない（{share:.0%}）"
                if ja
                else f"few of its words are in the sources ({share:.0%})"
            )
    turned = [w for w in denied(sentence) if w in text and w not in denied(text)]
    if turned:
        return f"出典にない否定: {turned[0]}" if ja else f"denied only here: {turned[0]}"
    return ""
