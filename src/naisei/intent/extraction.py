"""Selects what is quoted from the hits: only the answering row, list item, article or sentences.

Sentences and rows are ranked by their own cosine with the question, the number of its words they
contain, and whether they contain what its form asks for (an amount for いくら). A row is quoted
with its table's header, a list item with the line above its list, a sentence with its exceptions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from pydantic import BaseModel, ConfigDict

from naisei.core import Evidence
from naisei.intent.alignment import another_ordinal, denies, in_range, ranges
from naisei.intent.effects import Weights
from naisei.intent.evidence import SearchResult, cosines, nearness, share, substance
from naisei.intent.excerpts import around, filled_by, is_list_asked, lead_of
from naisei.intent.things import headings_of, mentions, names, place_of, things
from naisei.japanese.content_preservation import Quantity, quantities
from naisei.japanese.dates import named_years
from naisei.japanese.morph import is_japanese, tokens
from naisei.japanese.query_analysis import answered_by, measured
from naisei.japanese.sentences import codes, search_tokens
from naisei.retrieval.chunking import Span, cells_of, spans
from naisei.retrieval.types import QUOTED

_COSINE, _WORDS, _OWN, _RANK, _FORM, _RANGE = 1.0, 0.6, 0.2, 0.5, 0.3, 0.6
#: Weights: its location or text names the topic of the question; it applies only to a case that the
#: question does not mention.
_NAMED, _CASE = 0.6, 0.25
#: Its column or heading names the requested measure (日数 for 何日).
_HEADS = 0.3
#: It is the requested list.
_LISTED = 0.6
#: It is the first rule below a heading that names the topic of the question.
_FIRST = 0.15
#: Another quote is added if it has this share of the first score; maximum number of quotes.
_NEAR, _MOST = 0.85, 2


class Quote(BaseModel):
    """hit: its place, from 0. text: what is quoted. lines of the chunk as they stand; of a table,
    the columns that are asked for. answers: whether it holds what the question's form asks for."""

    model_config = ConfigDict(frozen=True)

    hit: int
    text: str
    score: float
    answers: bool = True


def quotes(query: str, found: SearchResult, *, most: int = _MOST) -> list[Quote]:
    """The best passages of the hits, best first; empty without hits."""
    words, weights = substance(query), found.weights
    current = [at for at, h in enumerate(found.hits) if not h.meta.get("superseded_by")]
    first = bool(found.hits) and bool(found.hits[0].meta.get("superseded_by"))
    usable = range(len(found.hits)) if first or not current else current
    made = [_quote(query, words, weights, at, found.hits[at]) for at in usable]
    # By position: hits preferred by the person's profile have been moved up.
    scores = sorted((found.hits[at].score for at in usable), reverse=True)
    top = max([*scores, 0.0]) or 1.0
    asked = things(query)
    about = {at: {thing for thing in asked if names(thing, found.hits[at])} for at in usable}
    listed = {
        quote.hit
        for quote in made
        if len(about[quote.hit]) == len(asked)
        and is_list_asked(query, words, headings_of(found.hits[quote.hit])[-1], quote.text)
    }
    ranked = sorted(
        (
            quote.model_copy(
                update={
                    "score": quote.score
                    + _RANK * score / top
                    + _NAMED * len(about[quote.hit]) / max(1, len(asked))
                    + _LISTED * (quote.hit in listed)
                }
            )
            for quote, score in zip(made, scores, strict=True)
        ),
        key=lambda q: -q.score,
    )
    kept: list[Quote] = []
    for quote in ranked:
        near = not kept or (
            quote.answers >= kept[0].answers
            and quote.score >= _NEAR * kept[0].score
            and about[quote.hit] >= about[kept[0].hit]
            and (quote.hit in listed or kept[0].hit not in listed)
        )
        if near and len(kept) < most and not any(within(quote.text, k.text) for k in kept):
            kept.append(quote)
    return kept


def within(one: str, other: str) -> bool:
    """Whether one of two texts contains the other, ignoring white space."""
    a, b = ("".join(text.split()) for text in (one, other))
    return a in b or b in a


def _quote(
    query: str,
    words: Sequence[str],
    weights: Weights,
    at: int,
    hit: Evidence,
) -> Quote:
    units = spans(hit.text)
    if not units:
        return Quote(hit=at, text=hit.text.strip(), score=0.0)
    scores = _scores(query, words, weights, hit, units)
    best = max(range(len(units)), key=lambda n: (scores[n], -n))
    text = around(query, words, units, best, scores, hit.text)
    answers = answered_by(query, text) is not False and headings_of(hit)[-1] != QUOTED
    if units[best].header:
        row = f"{units[best].header} {text}"
        answers &= not (_other_period(query, row, hit) or _other_name(query, row, hit))
        answers &= not another_ordinal(query, f"{place_of(hit)} {row}")
    return Quote(hit=at, text=text, score=scores[best], answers=answers)


def _scores(
    query: str, words: Sequence[str], weights: Weights, hit: Evidence, units: Sequence[Span]
) -> list[float]:
    near = cosines(hit)
    if len(near) != len(units):  # only one sentence, or too many to distinguish
        own_cosine = hit.meta.get("cosine")
        near = [own_cosine] * len(units) if isinstance(own_cosine, float) else []
    around = set(search_tokens(place_of(hit)))
    asked, asked_values = set(codes(query)), quantities(query)
    lines, denied = hit.text.split("\n"), _DENIED.search(query) is not None
    nouns = measured(query)
    headed = all(mentions(thing, place_of(hit)) for thing in things(query) or words)
    found: list[float] = []
    for n, unit in enumerate(units):
        lead = lead_of(lines, unit.line)
        told = "\n".join([unit.said, *filled_by(lines, unit)])
        own = set(search_tokens(told))
        value = _WORDS * share(words, weights.idf, own | around | set(search_tokens(lead)))
        value += _OWN * share(words, weights.idf, own)
        if near and weights.meaning:
            one = hit.model_copy(update={"meta": {"spans": [near[n]]}})
            value += _COSINE * nearness([one], weights)
        if answered_by(query, told):
            heads = (unit.header or unit.said, headings_of(hit)[-1])
            value += _FORM + _HEADS * sum(any(noun in head for noun in nouns) for head in heads)
        if asked_values:
            value += _RANGE * _ranged(asked_values, unit, lead)
        if (case := _ONLY_WHEN.search(unit.said)) and not set(search_tokens(case[1] or "")) & set(
            words
        ):
            value -= _CASE
        value -= _CASE * (_GOES_ON.search(unit.said) is not None)
        value += _CASE * (denied and denies(unit.said)) + _FIRST * (headed and unit.line == 0)
        if unit.header:
            value -= _CASE * _other_period(query, f"{unit.header} {unit.written}", hit)
            row = f"{place_of(hit)} {unit.header} {unit.written}"
            value -= _RANGE * another_ordinal(query, row)
            first = search_tokens(cells_of(unit.written)[0])
            # Operating profit is not Trading operating profit.
            value += _OWN * (bool(first) and {*first} <= {*search_tokens(query)})
        named = set(codes(unit.written))
        if asked and named:
            value += 0.5 if asked & named else -0.5
        found.append(value)
    return found


_QUARTER = re.compile(r"\bQ([1-4])\b|第?([1-4一二三四])四半期", re.I)
#: In an English question, a name within it.
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w&-]*")


def _other_period(query: str, row: str, hit: Evidence) -> bool:
    """Whether a row with its headers is for a different year or quarter than the question's."""
    for of in (named_years, lambda text: {m[1] or m[2] for m in _QUARTER.finditer(text)}):
        told = of(row) or of(f"{place_of(hit)} {hit.meta.get('date') or ''}")
        if not of(query) <= told:
            return True
    return False


def _other_name(query: str, row: str, hit: Evidence) -> bool:
    """Whether a row, its headers and the lines around its table lack a name in the question."""
    proper = {t.surface for t in tokens(query) if t.detail == "固有名詞"}
    named = {*_NAME.findall(query), *(proper if is_japanese(query) else ())}
    lines = [line for line in hit.text.split("\n") if not line.lstrip().startswith("|")]
    plain = "".join(" ".join([place_of(hit), row, *lines]).casefold().split())
    return any(name.casefold() not in plain for name in named)


#: The condition at the start of a sentence.
_ONLY_WHEN = re.compile(
    "^(.{2,40}?)(?:場合[はに、]|ときは|ときに|際は|に限り)|^(?:ただし|但し|なお)()"
)


#: 認めない副業: the question asks for the negated case.
_DENIED = re.compile("ない(?=[一-龥ァ-ヶ])")
#: A rule that depends on the previous one.
_GOES_ON = re.compile("^.{0,16}(?:(?:前[0-9一二三]?|第[0-9一二三]+)[項号]|同項)")


def _ranged(values: Set[Quantity], unit: Span, lead: str) -> float:
    """Return the share of the question's quantities that a row, item or sentence, or its
    introducing line, applies to; negative if it applies to others."""
    parts = cells_of(unit.written)[:3] if unit.header else [unit.written]
    held = [any(in_range(v, part) for part in [*parts, lead]) for v in values]
    if any(held) or unit.header:
        return sum(held) / len(held)
    apart = any(ranges(v, unit.written) for v in values)
    return -1.0 if apart else 0.0


def best_passage(words: Sequence[str], idf: Mapping[str, float], text: str) -> str:
    """Return the row, item or sentences of a chunk that contain most of the words."""
    hit = Evidence(id="", text=text, score=1.0)
    weights = Weights(idf=dict(idf))
    return _quote(" ".join(words), words, weights, 0, hit).text
