"""Urgent worries: the documents' hotline, help desk or safety step is shown at once.

Detected by `naisei.intent.worries`, with or without a model, so that a victim of violence is not
asked back first.
"""

from __future__ import annotations

from typing import NamedTuple

from naisei.core import Evidence, Flow, Search
from naisei.intent.answering import Grounded, extracted
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import Weigh, Weights
from naisei.intent.evidence import (
    SearchResult,
    another_model,
    cosines,
    nearness,
    newest_first,
    share,
    substance,
)
from naisei.intent.excerpts import excerpt
from naisei.intent.extraction import quotes, within
from naisei.intent.messages import ask_contact, no_evidence, rests_on
from naisei.intent.rules import Setting
from naisei.intent.schemas import Evaluation, Reply
from naisei.intent.things import place_of
from naisei.intent.worries import Worry, WorryKind, words
from naisei.japanese.sentences import search_tokens
from naisei.retrieval.chunking import Span, cells_of, spans

#: Hits per search; maximum number of parts shown and their letters; the required share of the best
#: score.
_HITS, _SHOWN, _LETTERS, _NEAR = 20, 4, 430, 0.65
#: Hits searched for the best quote for any question; it is shown first.
_FIRST = 5
#: Weights of a sentence or row: shared words with the message, similarity to it, similarity to the
#: documents' name for the worry, and its chunk's search score; whether it or its chunk gives a
#: number or a step; whether it or its location is about the worry, or it is about danger to life.
_WORDS, _SAID, _SOUGHT, _FOUND = 1.2, 0.4, 0.3, 0.5
_PHONE, _NUMBERED, _STEP, _ABOUT, _PLACE, _LIFE = 0.3, 0.2, 0.1, 0.1, 0.2, 0.3
#: The share of the message's words from which text not about the kind is shown, too.
_OTHER = 0.4


class _Help(NamedTuple):
    """A helpful sentence or row. hit: index of its hit; at: index of the unit within the hit."""

    hit: int
    at: int
    score: float


class _Searched(NamedTuple):
    """asked: the words of the message. near, called: similarity of each hit's sentences and rows to
    the message and to the search terms. found: each hit's share of the best score."""

    asked: tuple[str, ...]
    weights: Weights
    near: dict[str, list[float]]
    called: dict[str, list[float]]
    found: dict[str, float]


def urgent_reply(dialogue: Dialogue, setting: Setting) -> Flow[Reply | None]:
    """The documents' help for the worry, below the public number if a life may be at stake; `None`
    for other messages, and if there is neither."""
    worried = yield from Worry(dialogue.own[-1])
    if not worried.kind:
        return None
    kind = words().kinds[worried.kind]
    said = " ".join(dialogue.full_messages)
    own = yield from Search(said, k=_HITS, source="documents")
    desks = yield from Search(kind.sought, k=_HITS, source="documents")
    weights = yield from Weigh(said)
    calls = yield from Weigh(kind.sought)
    union = list({hit.id: hit for hit in (*own, *desks)}.values())
    hits = [hit for hit in newest_first(said, union) if not another_model(said, hit)]
    searched = _Searched(
        asked=substance(said),
        weights=weights,
        near={hit.id: _nearness(hit, weights) for hit in own},
        called={hit.id: _nearness(hit, calls) for hit in desks},
        found={hit.id: hit.score / own[0].score for hit in own},
    )
    units = [spans(hit.text) for hit in hits]
    helps = [h for n, hit in enumerate(hits) for h in _helps(n, hit, units[n], kind, searched)]
    ranked = sorted(helps, key=lambda help: -help.score)
    parts = _best_help(said, searched, ranked, hits, units)
    found = SearchResult(hits=tuple(hits[:_FIRST]), weights=weights)

    def about(text: str, hit: int) -> bool:
        return kind.passage.search(f"{place_of(hits[hit])} {text}") is not None

    for first in quotes(said, found, most=1) if parts or kind.call else ():
        # If a life may be at stake, nothing about other topics.
        fits = not kind.call or about(first.text, first.hit)
        fits = fits or extracted(said, found, setting.rules)[1] == "answer"
        if fits and not any(within(first.text, text) for text, _ in parts):
            parts = _shortened([(first.text, (first.hit + 1,)), *parts])
    language = setting.rules.language
    call = kind.call.get(language, "")
    if not parts and not call:
        return None
    written = Grounded.of(parts, hits, separator="\n")
    nothing = "" if parts else no_evidence(language)
    contact = None if parts else setting.contacts.find(said)
    # The documents' own number first, since it is closer to the user.
    own_number = any(words().phone.search(t) and about(t, n[0] - 1) for t, n in parts)
    shown = [written.text, call] if own_number else [call, written.text]
    lines = [*shown, nothing, rests_on(written.citations, language)]
    lines.append("" if parts else ask_contact(contact, language, only=True))
    return Reply(
        case=4,
        route="search",
        message="\n".join(line for line in lines if line),
        query=said,
        also=kind.sought,
        answer=written.text,
        citations=written.citations,
        evaluation=Evaluation(
            clarity=1, is_question=2, is_consultation=1, in_internal_docs=1, ask_person=1
        ),
        urgent=kind.name,
        dialogue=dialogue.exchanges,
        contact=contact,
        evidence=bool(parts),
        band="answer" if parts else "none",
        hits=tuple(hit.id for hit in hits),
    )


def _nearness(hit: Evidence, weights: Weights) -> list[float]:
    """Similarity of each sentence or row of a hit, as in `evidence.nearness`."""
    if not weights.meaning:
        return []
    own = cosines(hit)
    whole = hit.meta.get("cosine")
    each = own or ([whole] if isinstance(whole, float) else [])
    return [
        nearness([hit.model_copy(update={"meta": {"spans": [cosine]}})], weights) for cosine in each
    ]


def _helps(
    n: int, hit: Evidence, units: list[Span], kind: WorryKind, searched: _Searched
) -> list[_Help]:
    """The sentences and rows of a hit that may help."""
    place, told = place_of(hit), words()
    placed = kind.passage.search(place) is not None
    numbered = told.phone.search(hit.text) is not None
    near, called = (by.get(hit.id, []) for by in (searched.near, searched.called))
    found: list[_Help] = []
    for at, unit in enumerate(units):
        own = set(search_tokens(f"{place} {unit.said}"))
        shared = share(searched.asked, searched.weights.idf, own)
        about = kind.passage.search(unit.written) is not None
        if unit.header and not any(cells_of(unit.written)[1:]):
            continue  # a row without a value
        if not (about or placed or (shared >= _OTHER and not kind.call)):
            continue  # if a life may be at stake, nothing about other topics
        score = _WORDS * shared + _FOUND * searched.found.get(hit.id, 0.0)
        score += _SAID * near[at] if at < len(near) else 0.0
        score += _SOUGHT * called[at] if at < len(called) else 0.0
        score += _PHONE * (told.phone.search(unit.written) is not None) + _NUMBERED * numbered
        score += _STEP * (told.step.search(unit.written) is not None)
        score += _ABOUT * about + _PLACE * placed
        score += _LIFE * (bool(kind.call) and told.life.search(unit.written) is not None)
        found.append(_Help(n, at, score))
    return found


def _best_help(
    said: str,
    searched: _Searched,
    ranked: list[_Help],
    hits: list[Evidence],
    units: list[list[Span]],
) -> list[tuple[str, tuple[int, ...]]]:
    """The most helpful lines with the numbers of their hits; rows of one table together."""
    parts: list[tuple[str, tuple[int, ...]]] = []
    tables: dict[tuple[int, str], int] = {}
    letters = 0
    for help in ranked:
        unit = units[help.hit][help.at]
        if len(parts) >= _SHOWN or help.score < _NEAR * ranked[0].score:
            break
        table = (help.hit, unit.header)
        if unit.header and table in tables:
            at = tables[table]
            text, more = f"{parts[at][0]}\n{unit.written}", len(unit.written)
        else:
            at = len(parts)
            text = excerpt(said, searched.asked, units[help.hit], help.at, hits[help.hit].text)
            more = len(text)
        if parts and letters + more > _LETTERS:
            continue
        if any(within(text, shown) for n, (shown, _) in enumerate(parts) if n != at):
            continue
        letters += more
        parts[at : at + 1] = [(text, (help.hit + 1,))]
        if unit.header:
            tables[table] = at
    return parts


def _shortened(parts: list[tuple[str, tuple[int, ...]]]) -> list[tuple[str, tuple[int, ...]]]:
    """The first part, and those of the others that fit."""
    kept, letters = parts[:1], len(parts[0][0])
    for text, sources in parts[1:]:
        if letters + len(text) <= _LETTERS:
            kept.append((text, sources))
            letters += len(text)
    return kept
