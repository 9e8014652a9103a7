"""The answer: from the hits alone, sentence by sentence with its sources, or whom to ask."""

from __future__ import annotations

from naisei.core import Chat, Flow, InstrumentFailure
from naisei.intent.dialogue import Dialogue
from naisei.intent.drafted import Drafted, Grounded, grounded
from naisei.intent.evidence import substance, sufficient
from naisei.intent.extract import quoted
from naisei.intent.finding import Found
from naisei.intent.judged import Judged
from naisei.intent.messages import ask_contact, no_evidence, rests_on
from naisei.intent.rewriting import Query
from naisei.intent.routing import Route
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply
from naisei.intent.words import answerer_messages

__all__ = ["answer"]


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
