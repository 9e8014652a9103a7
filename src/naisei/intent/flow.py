"""Intent first: evaluate what was said, ask back or search, answer with sources.

Source: the intent-aware RAG article: evaluation, the six cases, the question made anew from the
dialogue. The budget, the answer and its support are ours (docs/design/0008-intent.md).
"""

from __future__ import annotations

from naisei.core import AskUser, Flow, Say
from naisei.intent.answering import answer
from naisei.intent.asking import asked, settle
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import Cuts
from naisei.intent.evaluating import evaluate
from naisei.intent.extended import beyond, greeted
from naisei.intent.finding import find
from naisei.intent.rewriting import rewrite
from naisei.intent.routing import route
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply

__all__ = ["LEAVE", "assist", "converse", "sitting"]

#: What a person says, in effect, by leaving the sitting.
LEAVE = ""


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
    found = yield from find(query.text, setting)
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


def sitting(setting: Setting, *, user: str = "") -> Flow[tuple[str, ...]]:
    """Request after request until the person leaves; returns the questions searched for."""
    earlier: tuple[str, ...] = ()
    while (utterance := (yield from AskUser(""))) != LEAVE:
        cuts = yield from Cuts(user)
        rules = setting.rules.model_copy(update={"thresholds": cuts})
        own = setting.model_copy(update={"rules": rules})
        reply = yield from converse(utterance, own, earlier=earlier)
        yield from Say(reply.message, meta=reply.model_dump(mode="json"))
        if reply.query:
            earlier = (*earlier, reply.query)[-5:]
    return earlier
