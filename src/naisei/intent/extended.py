"""Cases beyond the article's six, each on only where it is named in the thresholds."""

from __future__ import annotations

from naisei.intent.dialogue import Dialogue
from naisei.intent.judged import Judged
from naisei.intent.messages import ask_contact, greeting, out_of_scope
from naisei.intent.routing import Route
from naisei.intent.rules import Setting
from naisei.intent.schemas import Evaluation, Extended, Reply
from naisei.intent.thresholds import Thresholds
from naisei.japanese.query_analysis import is_greeting

__all__ = ["beyond", "extend", "greeted"]

#: A grade from which an indicator is denied.
_DENIED = 4


def extend(e: Evaluation, t: Thresholds) -> Extended | None:
    """The case beyond the article that an evaluation makes, of those that are on.

    out_of_scope: neither do documents of a company say it, nor is anybody there to be asked.
    needs_person: documents do not say it, and somebody is to be asked.
    """
    if e.in_internal_docs < _DENIED:
        return None
    if "needs_person" in t.extended and e.ask_person <= t.ask_person:
        return "needs_person"
    if "out_of_scope" in t.extended and e.ask_person >= _DENIED:
        return "out_of_scope"
    return None


def greeted(dialogue: Dialogue, setting: Setting) -> Reply | None:
    """The reply to a message that is nothing but a greeting; told by its words alone."""
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


def beyond(judged: Judged, way: Route, dialogue: Dialogue, setting: Setting) -> Reply | None:
    """The reply of such a case, where the six would search."""
    case = extend(judged.evaluation, setting.rules.thresholds)
    if case is None:
        return None
    language = setting.rules.language
    contact = setting.contacts.find(" ".join(dialogue.said)) if case == "needs_person" else None
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
