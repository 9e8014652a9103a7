"""Intent first: evaluate the dialogue, ask back or search, answer with sources.

Source: the intent-aware RAG article: evaluation, the six cases, the question rewritten from the
dialogue. The budget and the support check are our additions (docs/design/0008-intent.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from naisei.core import AskUser, Flow, Say
from naisei.intent.answering import answer, extracted
from naisei.intent.conditions import condition, kind_chosen
from naisei.intent.dialogue import Conversation, Dialogue, Query, rewrite
from naisei.intent.effects import Cuts
from naisei.intent.evaluating import evaluate
from naisei.intent.evidence import SearchResult, find, resumed
from naisei.intent.messages import as_told
from naisei.intent.remembering import noted, notes, recalled
from naisei.intent.routing import (
    Route,
    aside,
    asked_kind,
    beyond,
    greeted,
    question_reply,
    route,
    settle,
)
from naisei.intent.rules import Setting
from naisei.intent.schemas import Judged, Reply
from naisei.intent.spelling import respelt, standard
from naisei.intent.urgent import urgent_reply

#: The speaker of replies in the log of an inquiry.
ASSISTANT = "assistant"


def assist(dialogue: Dialogue, setting: Setting, notes: Sequence[str] = ()) -> Flow[Reply]:
    """One step: a question back, or the answer. notes: the person's earlier statements about
    themselves, newest first. A query without an answer is retried with corrected spelling."""
    dialogue = standard(dialogue)
    reply = yield from _step(dialogue, setting, notes)
    if _worth(reply) == _ANSWERED or "evaluator" in setting.rules.roles:
        return reply
    meant = yield from respelt(dialogue)
    if meant == dialogue:
        return reply
    other = yield from _step(meant, setting, notes)
    return other if _worth(other) > _worth(reply) else reply


_ANSWERED = 3


def _worth(reply: Reply) -> int:
    """Rank from no evidence to an answer; a question back ranks above a pointer to a passage."""
    if reply.band == "answer" or reply.urgent or reply.extended is not None:
        return _ANSWERED
    return 2 if reply.route == "ask" else int(reply.band == "nearest")


def _step(dialogue: Dialogue, setting: Setting, notes: Sequence[str]) -> Flow[Reply]:
    setting = setting.for_message(dialogue.utterance)
    if (reply := greeted(dialogue, setting)) is not None:
        return reply
    if (reply := (yield from urgent_reply(dialogue, setting))) is not None:
        return reply
    if "evaluator" not in setting.rules.roles:
        dialogue = yield from resumed(dialogue, setting)
    judged = yield from evaluate(dialogue, setting, notes)
    if (reply := aside(judged, dialogue, setting)) is not None:
        return reply
    way = settle(route(judged.evaluation, setting.rules.thresholds), judged, dialogue, setting)
    if way.action == "ask" and not (judged.evaluator == "rules" and kind_chosen(dialogue)):
        return question_reply(way, judged, dialogue)
    if (reply := beyond(judged, way, dialogue, setting)) is not None:
        return reply
    query = rewrite(dialogue, judged, setting)
    found = yield from find(query.text, setting, also=query.also)
    if judged.evaluator == "model":
        return (yield from answer(query, found, way, judged, dialogue, setting))
    return (yield from _for_whom(query, found, way, judged, dialogue, setting, notes))


def _for_whom(
    query: Query,
    found: SearchResult,
    way: Route,
    judged: Judged,
    dialogue: Dialogue,
    setting: Setting,
    notes: Sequence[str],
) -> Flow[Reply]:
    """The answer; if it depends on a kind of person, the one for this person's kind, asking if it
    is unknown."""
    rules, told = setting.rules, [*notes, *setting.profile.fields.values()]
    depends = condition(query.text, found, dialogue.full_messages)
    if depends is None or extracted(query.text, found, rules)[1] != "answer":
        return (yield from answer(query, found, way, judged, dialogue, setting))
    if (known := depends.of(told)) is None:
        if rules.asking and len(dialogue.exchanges) < rules.budget and not kind_chosen(dialogue):
            return asked_kind(depends.options, judged, dialogue, setting)
        return (yield from answer(query, found, way, judged, dialogue, setting))
    said, kind = known
    query = query.model_copy(update={"text": f"{query.text} {kind}"})
    found = yield from find(query.text, setting, also=query.also)
    reply = yield from answer(query, found, way, judged, dialogue, setting)
    told_so = as_told(said, kind, rules.language)
    return reply.model_copy(update={"message": f"{reply.message}\n{told_so}"})


def converse(utterance: str, setting: Setting, *, earlier: tuple[str, ...] = ()) -> Flow[Reply]:
    """The whole dialogue about one request: asks until it can answer or the budget is spent."""
    dialogue = Dialogue(utterance=utterance, earlier=earlier)
    while True:
        reply = yield from assist(dialogue, setting)
        if reply.route == "search" or reply.extended is not None:
            return reply
        said = yield from AskUser(reply.message)
        dialogue = dialogue.answered(reply.message, said, reply.options)


def personal(
    dialogue: Dialogue, setting: Setting, *, user: str, remembers: bool = False
) -> Flow[Reply]:
    """One step with the person's thresholds, adjusted by feedback. remembers: whether they
    consented to memory (`naisei.intent.remembering`)."""
    cuts = yield from Cuts(user)
    rules = setting.rules.model_copy(update={"thresholds": cuts})
    setting = setting.model_copy(update={"rules": rules})
    if not remembers:
        return (yield from assist(dialogue, setting))
    said, setting = yield from notes(setting)
    meant = yield from recalled(dialogue)
    reply = yield from assist(meant, setting, said)
    yield from noted(dialogue, reply)
    return reply


def inquiry(
    setting: Setting, conversation: Conversation, *, user: str, remembers: bool = False
) -> Flow[NoReturn]:
    """Loop over requests until the user leaves. conversation: the one to continue, starting with
    its interrupted step."""
    while True:
        if not conversation.pending:
            last = conversation.last
            question = last.message if last is not None and conversation.open else ""
            said = yield from AskUser(question)
            conversation = conversation.with_step(conversation.next(said))
        step = conversation.steps[-1]
        reply = yield from personal(step, setting, user=user, remembers=remembers)
        yield from Say(
            reply.message,
            ASSISTANT,
            {
                "reply": reply.model_dump(mode="json", exclude={"message"}),
                "degraded": bool(reply.failures),
            },
        )
        conversation = conversation.with_replies([*conversation.replies, reply])
