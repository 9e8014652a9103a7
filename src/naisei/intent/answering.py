"""Queries, and answers based only on the hits, sentence by sentence with sources.

The query is one question that preserves what the person said. A model's answer is checked against
its sources: citations must exist and sentences must be supported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from naisei.core import Chat, Evidence, Flow, InstrumentFailure
from naisei.intent.dialogue import Dialogue, Query
from naisei.intent.evidence import Band, SearchResult, is_held, nearness, share, substance
from naisei.intent.extraction import Quote, best_passage, quotes
from naisei.intent.messages import (
    answerer_messages,
    ask_contact,
    left_out,
    nearest,
    newer_document,
    no_evidence,
    other_language,
    rests_on,
)
from naisei.intent.routing import Route
from naisei.intent.rules import Rules, Setting
from naisei.intent.schemas import Citation, Judged, Reply, Unsupported
from naisei.intent.support import CheckedSentence, claims, in_their_words, unsupported, verified
from naisei.intent.things import MEANT, mentions, names, place_of, things
from naisei.japanese.content_preservation import quantities
from naisei.japanese.morph import tokens
from naisei.japanese.sentences import search_tokens, sentence_spans
from naisei.lang import Language
from naisei.retrieval.figures import worked
from naisei.schema import model_field

_BRACKETS = re.compile(r"\s*[\[［【(（](?:資料|document)?\s*\d+(?:\s*[,、]\s*\d+)*[\]］】)）]")


_JSON = json.JSONDecoder(strict=False)
_OWN_LINE = re.compile(r"(?:[-*|]|[0-9]+\.) ?")


def _listed(value: Any) -> Any:
    return [] if value is None else [value] if isinstance(value, int) else value


class Sentence(BaseModel):
    """One sentence of an answer, and the numbers of the documents that say so."""

    model_config = ConfigDict(frozen=True)

    text: str = model_field(
        "答えの一文。番号は書かない", "One sentence of the answer, without numbers"
    )
    sources: Annotated[tuple[int, ...], BeforeValidator(_listed)] = model_field(
        "根拠の資料番号", "Numbers of the documents that it rests on", ()
    )


class Drafted(BaseModel):
    """The answering model's reply. answerable: whether the documents have the answer."""

    model_config = ConfigDict(frozen=True)

    sentences: Annotated[tuple[Sentence, ...], Field(max_length=40)] = model_field(
        "答えの文。なければ空", "The answer, sentence by sentence; empty if there is none", ()
    )
    answerable: bool = model_field("資料に答えがあるか", "Whether the documents hold the answer")


class Grounded(BaseModel):
    """An answer with its marks [1]; empty text where nothing is left of it. holds: whether a
    sentence of it is supported, not only quoted."""

    model_config = ConfigDict(frozen=True)

    text: str = ""
    citations: tuple[Citation, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    holds: bool = True

    @staticmethod
    def of(
        parts: Sequence[tuple[str, tuple[int, ...]]],
        hits: Sequence[Evidence],
        *,
        separator: str = "",
        doubts: tuple[Unsupported, ...] = (),
    ) -> Grounded:
        """Renumber the chunks in the order in which they are cited."""
        order: dict[int, int] = {}
        lines, said = list[str](), dict[int, str]()
        for text, sources in parts:
            for number in sources:
                order.setdefault(number, len(order) + 1)
                said[number] = f"{said.get(number, '')} {text}"
            marks = "".join(f"[{order[n]}]" for n in dict.fromkeys(sources))
            # Markdown items and rows need separate lines.
            own = _OWN_LINE.match(text) or (lines and _OWN_LINE.match(lines[-1].lstrip()))
            apart = "\n" if lines and own and separator != "\n" else ""
            lines.append(f"{apart}{text}{marks}")
        cited = tuple(_citation(n, hits[old - 1], said[old]) for old, n in order.items())
        return Grounded(text=separator.join(lines), citations=cited, unsupported=doubts)


def supported(
    draft: Drafted, hits: Sequence[Evidence], rules: Rules, query: str
) -> list[CheckedSentence]:
    """Check the draft's sentences by rules against the chunks they cite. The model's words are
    unchanged; numbers of documents that it did not receive are dropped. Empty if there is no
    answer. query: names in it need no source.
    """
    found: list[CheckedSentence] = []
    for given in draft.sentences if draft.answerable else ():
        sources = tuple(n for n in dict.fromkeys(given.sources) if 1 <= n <= len(hits))
        # A model may put several sentences into one; each is checked separately.
        for text in map(str.strip, sentence_spans(_BRACKETS.sub("", given.text))):
            cited = [hits[n - 1] for n in sources]
            if text:
                why = unsupported(text, cited, rules.language, question=query)
                found.append(CheckedSentence(text=text, sources=sources, why=why))
    return found


def grounded(
    query: str,
    said: Sequence[CheckedSentence],
    hits: Sequence[Evidence],
    rules: Rules,
    *,
    quoting: bool,
) -> Grounded:
    """The answer with its supported sentences. quoting: replace unsupported ones with the passage.
    If no sentence with a claim is left, return only the passages, or nothing."""
    doubts = tuple(Unsupported(sentence=s.text, why=s.why) for s in said if s.why)
    kept = [s for s in said if not s.why]
    holds = any(claims(s.text, query) for s in kept)
    shown = (said if quoting else kept) if holds else [s for s in said if s.why and quoting]
    separator = "" if rules.language == "ja" else " "
    made = Grounded.of(in_their_words(query, shown, hits), hits, separator=separator, doubts=doubts)
    return made.model_copy(update={"holds": holds, "text": made.text.strip()})


class Preview:
    """Shows complete sentences of an answer while it is written, filtered as by `grounded`."""

    def __init__(self, hits: Sequence[Evidence], rules: Rules, *, query: str) -> None:
        self._hits, self._rules, self._query = hits, rules, query
        self._count, self._shown = 0, ""

    def __call__(self, text: str) -> str:
        sentences = _whole_sentences(text)
        if len(sentences) != self._count:
            self._count = len(sentences)
            draft = Drafted(sentences=tuple(sentences), answerable=True)
            said = supported(draft, self._hits, self._rules, self._query)
            made = grounded(self._query, said, self._hits, self._rules, quoting=False)
            self._shown = made.text
        return self._shown


def _whole_sentences(text: str) -> list[Sentence]:
    """The complete sentences of a reply in progress."""
    at = text.find("[", text.find('"sentences"') + 1) + 1
    found: list[Sentence] = []
    while '"sentences"' in text and at > 0:
        at += len(text[at:]) - len(text[at:].lstrip(" ,\n\r\t"))
        try:
            data, at = _JSON.raw_decode(text, at)
            found.append(Sentence.model_validate(data))
        except ValueError:  # still in progress, or complete
            break
    return found


def _written(
    query: str, hits: Sequence[Evidence], setting: Setting
) -> Flow[tuple[Grounded, tuple[str, ...]]]:
    """The model's answer, checked against its sources by rules and by another model, and the
    failures on the way."""
    rules = setting.rules
    asked = answerer_messages(query, hits, setting)
    draft = yield from Chat("answerer", asked, Drafted, preview=Preview(hits, rules, query=query))
    said = supported(draft, hits, rules, query)
    failures: tuple[str, ...] = ()
    if "verifier" in rules.roles:
        try:
            said = yield from verified(query, said, hits, setting)
        except InstrumentFailure as failure:
            failures = (f"verifier: {failure}",)
    return grounded(query, said, hits, rules, quoting=True), failures


def _citation(n: int, hit: Evidence, said: str) -> Citation:
    headings = hit.meta.get("headings")
    page, date = hit.meta.get("page"), hit.meta.get("date")
    words = tuple(dict.fromkeys(search_tokens(said)))
    quote = best_passage(words, dict.fromkeys(words, 1.0), hit.text)
    return Citation(
        n=n,
        chunk=hit.id,
        path=str(hit.meta.get("path") or ""),
        title=str(hit.meta.get("title") or place_of(hit)),
        headings=tuple(map(str, headings)) if isinstance(headings, list) else (),
        page=page if isinstance(page, int) else None,
        date=str(date) if date and hit.meta.get("date_from") != "part of name" else None,
        quote=quote,
        url=str(hit.meta.get("link") or ""),
    )


def answer(
    query: Query,
    found: SearchResult,
    way: Route,
    judged: Judged,
    dialogue: Dialogue,
    setting: Setting,
) -> Flow[Reply]:
    """Build the reply of a search."""
    failures = (*judged.failures, *query.failures)
    written: Grounded | None = None
    foreign = found.weights.foreign
    if found.hits and "answerer" in setting.rules.roles:
        try:
            written, failed = yield from _written(query.text, found.hits, setting)
            failures = (*failures, *failed)
        except InstrumentFailure as failure:
            failures = (*failures, f"answerer: {failure}")
    held: Band
    if written is None:
        written, held = extracted(query.text, found, setting.rules)
    else:
        foreign = None  # a model reads both languages
        held = "none" if not written.text else "answer" if written.holds else "nearest"
    language = setting.rules.language
    contact = None
    if held != "answer" or judged.evaluation.ask_person <= setting.rules.thresholds.ask_person:
        contact = setting.contacts.find(" ".join([query.text, *dialogue.full_messages]))
    lines = [_lead(held, foreign, language)]
    if held != "none":
        lines += [written.text, left_out(len(written.unsupported), language)]
        lines.append(rests_on(written.citations, language))
    lines.append(ask_contact(contact, language, only=held != "answer"))
    return Reply(
        case=way.case,
        route="search",
        message="\n".join(line for line in lines if line),
        query=query.text,
        also=query.also,
        answer=written.text,
        citations=written.citations,
        evaluation=judged.evaluation,
        evaluator=judged.evaluator,
        contact=contact,
        dialogue=dialogue.exchanges,
        rewritten=query.how,
        evidence=held == "answer",
        band=held,
        hits=tuple(hit.id for hit in found.hits),
        unsupported=written.unsupported,
        failures=failures,
    )


def _lead(held: Band, foreign: Language | None, language: Language) -> str:
    """The line above the passages; empty above an answer. foreign: as in `Weights`."""
    if held == "answer":
        return ""
    if foreign is not None:
        return other_language(foreign, language, found=held == "nearest")
    return nearest(language) if held == "nearest" else no_evidence(language)


def extracted(query: str, found: SearchResult, rules: Rules) -> tuple[Grounded, Band]:
    """Quote passages unchanged, each with its number, and return their band; empty without
    evidence. Of the nearest passages only the first is shown."""
    if (sums := worked(query, found.hits, rules.language)) is not None:
        cited = tuple(at + 1 for at, _ in sums.parts)
        draft = [(sums.told, cited)] if sums.told else []
        draft += [(text, (at + 1,)) for at, text in sums.parts]
        return Grounded.of(draft, found.hits, separator="\n"), "answer"
    parts = quotes(query, found)
    held = _quote_band(query, found, parts, rules)
    if held == "none":
        return Grounded(), held
    first, *more = parts if held == "answer" else parts[:1]
    newer = _newer(query, found, first) if held == "answer" else None
    draft = [
        (part.text, (part.hit + 1,))
        for part in (first, *more)
        if not newer or part.hit != newer.hit
    ]
    if newer is not None:
        hit = found.hits[newer.hit]
        draft.append(
            (newer_document(_date(hit), str(hit.meta.get("title") or ""), rules.language), ())
        )
        draft.append((newer.text, (newer.hit + 1,)))
    return Grounded.of(draft, found.hits, separator="\n"), held


#: Titles of documents that amend others.
_CHANGES = re.compile("お知らせ|通知|通達|改[定訂正]|変更|notice|revis|amend|change", re.I)


def _newer(query: str, found: SearchResult, first: Quote) -> Quote | None:
    """Return a differing statement on the same topic from a newer mail, notice or document of the
    same title. If the quote has no date, only a mail counts as newer."""
    quoted, asked = found.hits[first.hit], things(query) or substance(query)
    values = {q.unit: q.value for q in quantities(first.text)}
    for at, hit in enumerate(found.hits):
        mail, title = hit.meta.get("format") == "eml", str(hit.meta.get("title") or "")
        changes = mail or _CHANGES.search(title) or title == quoted.meta.get("title")
        about = 2 * sum(names(thing, hit) for thing in asked) >= max(2, len(asked))
        dated = _date(quoted) or mail
        if not (changes and about and dated and _date(quoted) < _date(hit)):
            continue
        (quote,) = quotes(query, found.model_copy(update={"hits": (hit,)}), most=1)
        told = quantities(quote.text)
        if quote.answers and any(values.get(q.unit, q.value) != q.value for q in told):
            return quote.model_copy(update={"hit": at})
    return None


def _date(hit: Evidence) -> str:
    """ISO; empty unless known to the day."""
    return "" if hit.meta.get("date_from") == "part of name" else str(hit.meta.get("date") or "")


#: Weights besides nearness: the share of the question's words in the best quote and its headings,
#: the share of its named things in the chunk, and whether a heading names one. Fitted by logistic
#: regression on the handbook's and the city's tuning questions, each also without the documents
#: that answer it (rounded).
_QUOTED, _NAMED, _HEADED = 1.7, 0.3, 0.3
#: The minimum nearness for a passage that names only a part of a compound.
_SURE = 0.8


#: The minimum nearness for a passage in another language than the question. Chosen on 40 questions.
_FOREIGN = 0.2


def _quote_band(query: str, found: SearchResult, parts: Sequence[Quote], rules: Rules) -> Band:
    """Return what the quotes can be: an answer if the best one clearly matches the question and
    they contain what its form asks for; nothing if it names hardly anything in it."""
    if not parts:
        return "none"
    hit, words = found.hits[parts[0].hit], substance(query)
    asked = things(query) or words
    named, place = [names(thing, hit) for thing in asked], place_of(hit)
    near = nearness([hit], found.weights)
    if found.weights.foreign:
        return "none" if near < _FOREIGN else "nearest"
    written = f"{place}\n{parts[0].text}"
    told = set(search_tokens(written))
    sure = near + _QUOTED * share(words, found.weights.idf, told)
    sure += _NAMED * sum(named) / max(1, len(named))
    sure += _HEADED * any(mentions(thing, place) for thing in asked)
    # The separate parts of a compound are not the compound, unless the passage is very near in
    # meaning (通勤経路 for 通勤ルート).
    parts_of = [t.form for thing in asked for t in tokens(thing) if t.surface != thing]
    about = any(mentions(thing, written) for thing in asked)
    about |= near >= _SURE and not told.isdisjoint(parts_of)
    if about and sure >= rules.answer_from and any(part.answers for part in parts):
        return "answer"
    if things(query) and not (near >= MEANT or named[0] or 2 * sum(named) > len(named)):
        return "none"
    held = is_held(query, found.hits, found.weights, rules) or (things(query) and all(named))
    return "nearest" if held else "none"
