"""Intent first: evaluate what was said, ask back or search, answer with sources.

Source: the intent-aware RAG article: evaluation, the six cases, the question made anew from the
dialogue. The budget, the answer and its support are ours (docs/design/0008-intent.md).
"""

from __future__ import annotations

from typing import NoReturn

from naisei.core import AskUser, Flow, Say
from naisei.intent.answering import answer, rewrite
from naisei.intent.dialogue import Conversation, Dialogue
from naisei.intent.effects import Cuts
from naisei.intent.evaluating import evaluate
from naisei.intent.evidence import find, resumed
from naisei.intent.routing import aside, asked, beyond, greeted, route, settle
from naisei.intent.rules import Setting
from naisei.intent.schemas import Reply
from naisei.intent.urgent import urgent_reply

__all__ = ["ASSISTANT", "assist", "converse", "inquiry", "personal"]

#: The speaker of replies in the log of an inquiry.
ASSISTANT = "assistant"


def assist(dialogue: Dialogue, setting: Setting) -> Flow[Reply]:
    """One step: a question back, or the answer."""
    setting = setting.spoken(dialogue.utterance)
    if (reply := greeted(dialogue, setting)) is not None:
        return reply
    if (reply := (yield from urgent_reply(dialogue, setting))) is not None:
        return reply
    if "evaluator" not in setting.rules.roles:
        dialogue = yield from resumed(dialogue, setting)
    judged = yield from evaluate(dialogue, setting)
    if (reply := aside(judged, dialogue, setting)) is not None:
        return reply
    way = settle(route(judged.evaluation, setting.rules.thresholds), judged, dialogue, setting)
    if way.action == "ask":
        return asked(way, judged, dialogue)
    if (reply := beyond(judged, way, dialogue, setting)) is not None:
        return reply
    query = rewrite(dialogue, judged, setting)
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


def inquiry(setting: Setting, conversation: Conversation, *, user: str) -> Flow[NoReturn]:
    """Requests without end, each with its replies; whoever has had enough leaves. conversation:
    to go on with; a step of it that was cut off is taken first."""
    while True:
        if not conversation.pending:
            last = conversation.last
            question = last.message if last is not None and conversation.open else ""
            said = yield from AskUser(question)
            conversation = conversation.with_step(conversation.next(said))
        reply = yield from personal(conversation.steps[-1], setting, user=user)
        yield from Say(
            reply.message,
            ASSISTANT,
            {
                "reply": reply.model_dump(mode="json", exclude={"message"}),
                "degraded": bool(reply.failures),
            },
        )
        conversation = conversation.with_replies([*conversation.replies, reply])
