"""The six cases: ask back, or search. A pure function of the evaluation.

Source: the intent-aware RAG article, ① to ⑥. As in its code, an unclear request without a matching
text is ③.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from naisei.intent.dialogue import Dialogue
from naisei.intent.messages import ask_contact, farewell, greeting, kind_question, out_of_scope
from naisei.intent.rules import Setting
from naisei.intent.schemas import Case, Evaluation, Extended, Judged, Reply, Thresholds
from naisei.japanese.query_analysis import is_greeting


class Route(BaseModel):
    """The result of routing. question: to ask; empty for `search`."""

    model_config = ConfigDict(frozen=True)

    case: Case
    action: Literal["ask", "search"]
    question: str = ""


_ARTICLE = Thresholds()


def route(e: Evaluation, t: Thresholds = _ARTICLE) -> Route:
    """Return the case of an evaluation, exactly as the article describes them."""
    consulting = e.is_consultation <= t.is_consultation
    if e.clarity > t.clarity:
        if e.res_consultation and consulting:
            return Route(case=1, action="ask", question=e.res_consultation)
        if e.ask_missing_info and e.is_question <= t.is_question:
            return Route(case=2, action="ask", question=e.ask_missing_info)
        return Route(case=3, action="search")
    if consulting:
        if e.in_internal_docs <= t.in_internal_docs:
            return Route(case=4, action="search")
        if e.res_consultation:
            return Route(case=5, action="ask", question=e.res_consultation)
    return Route(case=6, action="search")


#: Grades from this one up reject an indicator.
_DENIED = 4


def extend(e: Evaluation, t: Thresholds) -> Extended | None:
    """Return the enabled additional case of an evaluation. out_of_scope: neither documents nor
    contacts cover it. needs_person: a contact covers it, documents do not.
    """
    if e.in_internal_docs < _DENIED:
        return None
    if "needs_person" in t.extended and e.ask_person <= t.ask_person:
        return "needs_person"
    if "out_of_scope" in t.extended and e.ask_person >= _DENIED:
        return "out_of_scope"
    return None


def greeted(dialogue: Dialogue, setting: Setting) -> Reply | None:
    """The reply to a mere greeting, recognised by its words only."""
    on = "greeting" in setting.rules.thresholds.extended
    if not on or dialogue.exchanges or not is_greeting(dialogue.utterance):
        return None
    return Reply(
        case=3,
        route="ask",
        message=greeting(setting.rules.language),
        evaluation=Evaluation(
            clarity=5, is_question=5, is_consultation=5, in_internal_docs=5, ask_person=5
        ),
        extended="greeting",
    )


def aside(judged: Judged, dialogue: Dialogue, setting: Setting) -> Reply | None:
    """The reply to small talk or a farewell, as judged by the model."""
    move = judged.evaluation.move
    if move not in ("small_talk", "leave") or dialogue.exchanges:
        return None
    language = setting.rules.language
    return Reply(
        case=3,
        route="ask",
        message=greeting(language) if move == "small_talk" else farewell(language),
        evaluation=judged.evaluation,
        evaluator=judged.evaluator,
        extended="greeting" if move == "small_talk" else "farewell",
    )


def beyond(judged: Judged, way: Route, dialogue: Dialogue, setting: Setting) -> Reply | None:
    """The reply of an additional case, where the six would search."""
    case = extend(judged.evaluation, setting.rules.thresholds)
    if case is None:
        return None
    language = setting.rules.language
    contact = (
        setting.contacts.find(" ".join(dialogue.full_messages)) if case == "needs_person" else None
    )
    text = ask_contact(contact, language, only=True)
    return Reply(
        case=way.case,
        route="search",
        message=text if case == "needs_person" else out_of_scope(language),
        evaluation=judged.evaluation,
        evaluator=judged.evaluator,
        extended=case,
        contact=contact,
        dialogue=dialogue.exchanges,
        failures=judged.failures,
    )


def settle(way: Route, judged: Judged, dialogue: Dialogue, setting: Setting) -> Route:
    """Apply the budget to the route: a question beyond it, or a repeated one, becomes a search. The
    case is unchanged.

    With `ask_profile`, an unclear request without a question (③) may ask for data missing from the
    profile.
    """
    rules = setting.rules
    if way.case == 3 and rules.thresholds.ask_profile and not setting.profile.fields:
        wanted = judged.evaluation.ask_user_meta_info
        way = Route(case=3, action="ask", question=wanted) if wanted else way
    spent = len(dialogue.exchanges) >= rules.budget
    if way.action == "ask" and (not rules.asking or spent or dialogue.has_asked(way.question)):
        return Route(case=way.case, action="search")
    return way


def question_reply(way: Route, judged: Judged, dialogue: Dialogue) -> Reply:
    """The question back as a reply."""
    return Reply(
        case=way.case,
        route="ask",
        message=way.question,
        evaluation=judged.evaluation,
        evaluator=judged.evaluator,
        options=judged.options,
        dialogue=dialogue.exchanges,
        failures=judged.failures,
    )


def asked_kind(
    kinds: tuple[str, ...], judged: Judged, dialogue: Dialogue, setting: Setting
) -> Reply:
    """Ask which kind of person the user is, since their question does not say (②)."""
    question = kind_question(kinds, setting.rules.language)
    judged = judged.model_copy(update={"options": kinds})
    return question_reply(Route(case=2, action="ask", question=question), judged, dialogue)
