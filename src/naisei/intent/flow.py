"""Intent first: evaluate what was said, ask back or search, answer with sources.

Source: the intent-aware RAG article: evaluation, the six cases, the question made anew from the
dialogue. The budget, the answer and its support are ours (docs/design/0008-intent.md).
"""

from __future__ import annotations

from naisei.core import AskUser, Flow
from naisei.intent.answering import answer, rewrite
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import Cuts
from naisei.intent.evaluating import evaluate
from naisei.intent.evidence import find
from naisei.intent.routing import asked, beyond, greeted, route, settle
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply

__all__ = ["assist", "converse", "personal"]


def assist(dialogue: Dialogue, setting: Setting) -> Flow[Reply]:
    """One step: a question back, or the answer."""
    if (reply := greeted(dialogue, setting)) is not None:
        return reply
    judged = yield from evaluate(dialogue, setting)
    way = settle(route(judged.evaluation, setting.rules.thresholds), judged, dialogue, setting)
    if way.action == "ask":
        return asked(way, judged, dialogue)
    if (reply := beyond(judged, way, dialogue, setting)) is not None:
        return reply
    query = yield from rewrite(dialogue, setting)
    found = yield from find(query.text, setting, also=query.also)
    return (yield from answer(query, found, way, judged, dialogue, setting))


def converse(utterance: str, setting: Setting, *, earlier: tuple[str, ...] = ()) -> Flow[Reply]:
    """The whole talk about one request: asks until it can answer, or the budget is spent."""
    dialogue = Dialogue(utterance=utterance, earlier=earlier)
    while True:
        reply = yield from assist(dialogue, setting)
        if reply.route == "search" or reply.extended is not None:
            return reply
        said = yield from AskUser(reply.message)
        dialogue = dialogue.answered(reply.message, said, reply.options)


def personal(dialogue: Dialogue, setting: Setting, *, user: str) -> Flow[Reply]:
    """One step with the thresholds that this person's feedback has moved."""
    cuts = yield from Cuts(user)
    rules = setting.rules.model_copy(update={"thresholds": cuts})
    return (yield from assist(dialogue, setting.model_copy(update={"rules": rules})))
