"""What is searched for, and the answer: from the hits alone, sentence by sentence with its sources.

The query is one question that keeps what the person said; a model's answer is held against its
sources: citations that exist, sentences borne out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from naisei.core import Chat, Evidence, Flow, InstrumentFailure
from naisei.intent.dialogue import Dialogue
from naisei.intent.evidence import (
    Found,
    best_passage,
    place_of,
    quoted,
    substance,
    sufficient,
    unsupported,
)
from naisei.intent.messages import (
    answerer_messages,
    ask_contact,
    no_evidence,
    rests_on,
    rewriter_messages,
)
from naisei.intent.routing import Route
from naisei.intent.rules import Rules, Setting
from naisei.intent.schemas import Citation, Judged, Reply, Unsupported
from naisei.japanese.content_preservation import lost
from naisei.japanese.query_analysis import analyse_query
from naisei.japanese.sentences import search_tokens, sentences
from naisei.schema import told

__all__ = ["Drafted", "Grounded", "Query", "Sentence", "answer", "grounded", "joined", "rewrite"]


_LONGEST = 4
_ROOM = 60


class Query(BaseModel):
    """text: what is searched for. also: searched for beside it, where not empty: what a worry
    came to, whose first words tell how it feels. how: as it was said, by the model, or the words
    joined. failures: why a model's rewriting was not used."""

    model_config = ConfigDict(frozen=True)

    text: str
    also: str = ""
    how: Literal["unchanged", "model", "joined"]
    failures: tuple[str, ...] = ()


def rewrite(dialogue: Dialogue, setting: Setting) -> Flow[Query]:
    """The input unchanged where there was no dialogue; no model is called then."""
    if dialogue.alone:
        return Query(text=dialogue.utterance, how="unchanged")
    words, also = joined(dialogue), _drawn_out(dialogue)
    if not setting.rules.rewriting or "rewriter" not in setting.rules.roles:
        return Query(text=words, also=also, how="joined")
    try:
        written = yield from Chat("rewriter", rewriter_messages(dialogue, setting))
    except InstrumentFailure as failure:
        return Query(text=words, also=also, how="joined", failures=(f"rewriter: {failure}",))
    text = " ".join(written.split()).strip("「」\"'")
    if not text or len(text) > _ROOM + _LONGEST * len(words):
        return Query(text=words, also=also, how="joined", failures=("rewriter: no question came",))
    if gone := lost("\n".join(dialogue.said), text):
        named = ", ".join(f"{g.kind} {g.text}" for g in gone)
        return Query(text=words, also=also, how="joined", failures=(f"rewriter: lost {named}",))
    return Query(text=text, how="model")


def _drawn_out(dialogue: Dialogue) -> str:
    if not analyse_query(dialogue.utterance).consultation:
        return ""
    return " ".join(" ".join(e.answer.split()) for e in dialogue.exchanges if e.tells)


def joined(dialogue: Dialogue) -> str:
    """The person's own words, the first request first."""
    return " ".join(" ".join(text.split()) for text in dialogue.said)


_MARK = {"ja": "（出典で確認できません）", "en": " (not borne out by the sources)"}
_BRACKETS = re.compile(r"\s*[\[［【(（](?:資料|document)?\s*\d+(?:\s*[,、]\s*\d+)*[\]］】)）]")


def _listed(value: Any) -> Any:
    return [] if value is None else [value] if isinstance(value, int) else value


class Sentence(BaseModel):
    """One sentence of an answer, and the numbers of the documents that say so."""

    model_config = ConfigDict(frozen=True)

    text: str = told("答えの一文。番号は書かない", "One sentence of the answer, without numbers")
    sources: Annotated[tuple[int, ...], BeforeValidator(_listed)] = told(
        "根拠の資料番号", "Numbers of the documents that it rests on", ()
    )


class Drafted(BaseModel):
    """What the answering model gives. answerable: whether the documents hold the answer."""

    model_config = ConfigDict(frozen=True)

    sentences: Annotated[tuple[Sentence, ...], Field(max_length=40)] = told(
        "答えの文。なければ空", "The answer, sentence by sentence; empty if there is none", ()
    )
    answerable: bool = told("資料に答えがあるか", "Whether the documents hold the answer")


class Grounded(BaseModel):
    """An answer with its marks [1]; empty text where nothing is left of it."""

    model_config = ConfigDict(frozen=True)

    text: str = ""
    citations: tuple[Citation, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()

    @staticmethod
    def of(
        parts: Sequence[tuple[str, tuple[int, ...]]],
        hits: Sequence[Evidence],
        *,
        separator: str = "",
        doubts: tuple[Unsupported, ...] = (),
    ) -> Grounded:
        """Numbers the chunks anew in the order in which they are cited."""
        order: dict[int, int] = {}
        lines, said = [], dict[int, str]()
        for text, sources in parts:
            for number in sources:
                order.setdefault(number, len(order) + 1)
                said[number] = f"{said.get(number, '')} {text}"
            marks = "".join(f"[{order[n]}]" for n in dict.fromkeys(sources))
            lines.append(f"{text}{marks}")
        cited = tuple(_citation(n, hits[old - 1], said[old]) for old, n in order.items())
        return Grounded(text=separator.join(lines), citations=cited, unsupported=doubts)


def grounded(draft: Drafted, hits: Sequence[Evidence], rules: Rules) -> Grounded:
    """The draft with every sentence held against the chunks it cites.

    Numbers of documents that were not given are no sources. Sentences that are not borne out
    are marked or left out, by `rules.unsupported`; if none is borne out, nothing is left.
    """
    if not draft.answerable:
        return Grounded()
    parts: list[tuple[str, tuple[int, ...]]] = []
    doubts: list[Unsupported] = []
    borne = 0
    for given in draft.sentences:
        sources = tuple(n for n in dict.fromkeys(given.sources) if 1 <= n <= len(hits))
        # A model may put several sentences into one: each has to stand by itself.
        for text in sentences(_BRACKETS.sub("", given.text)):
            why = unsupported(text, [hits[n - 1] for n in sources], rules.language)
            if why:
                doubts.append(Unsupported(sentence=text, why=why))
                if rules.unsupported == "mark":
                    parts.append((f"{text}{_MARK[rules.language]}", sources))
            else:
                borne += 1
                parts.append((text, sources))
    if not borne:
        return Grounded(unsupported=tuple(doubts))
    separator = "" if rules.language == "ja" else " "
    return Grounded.of(parts, hits, separator=separator, doubts=tuple(doubts))


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
        date=str(date) if date else None,
        quote=quote,
    )


def answer(
    query: Query, found: Found, way: Route, judged: Judged, dialogue: Dialogue, setting: Setting
) -> Flow[Reply]:
    """The reply of a search."""
    failures = (*judged.failures, *query.failures)
    written: Grounded | None = None
    if found.hits and "answerer" in setting.rules.roles:
        told = answerer_messages(query.text, found.hits, setting)
        try:
            draft = yield from Chat("answerer", told, Drafted)
            written = grounded(draft, found.hits, setting.rules)
        except InstrumentFailure as failure:
            failures = (*failures, f"answerer: {failure}")
    if written is None:
        written = _extracted(query.text, found, setting)
    held = bool(written.text)
    language = setting.rules.language
    contact = None
    if not held or judged.evaluation.ask_person <= setting.rules.thresholds.ask_person:
        contact = setting.contacts.find(" ".join([query.text, *dialogue.said]))
    lines = [written.text, rests_on(written.citations, language)] if held else []
    lines += [] if held else [no_evidence(language)]
    lines.append(ask_contact(contact, language, only=not held))
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
        evidence=held,
        hits=tuple(hit.id for hit in found.hits),
        unsupported=written.unsupported,
        failures=failures,
    )


def _extracted(query: str, found: Found, setting: Setting) -> Grounded:
    """Passages as they stand, each with its number; empty where there is no evidence."""
    if not sufficient(query, found.hits, found.weights, setting.rules):
        return Grounded()
    parts = quoted(substance(query), found.weights.idf, found.hits)
    draft = [(text, (at + 1,)) for at, text in parts]
    return Grounded.of(draft, found.hits, separator="\n")
