"""Whether a question back is really put, and what it looks like."""

from __future__ import annotations

from naisei.intent.dialogue import Dialogue
from naisei.intent.judged import Judged
from naisei.intent.routing import Route
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply

__all__ = ["asked", "settle"]


def settle(way: Route, judged: Judged, dialogue: Dialogue, setting: Setting) -> Route:
    """The route, held against the budget: a question beyond it, or one that was put already,
    becomes a search. The case stays what it was.

    With `ask_profile`, an unclear request without a question (③) may ask for what the profile
    does not hold.
    """
    rules = setting.rules
    if way.case == 3 and rules.thresholds.ask_profile and not setting.profile.fields:
        wanted = judged.evaluation.ask_user_meta_info
        way = Route(case=3, action="ask", question=wanted) if wanted else way
    spent = len(dialogue.exchanges) >= rules.budget
    if way.action == "ask" and (not rules.asking or spent or dialogue.has_asked(way.question)):
        return Route(case=way.case, action="search")
    return way


def asked(way: Route, judged: Judged, dialogue: Dialogue) -> Reply:
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
