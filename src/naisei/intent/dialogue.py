"""A request with its questions back; a conversation is a sequence of these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from naisei.core import Event
from naisei.intent.choosing import chosen, led
from naisei.intent.schemas import Exchange, Reply
from naisei.japanese.morph import normalise
from naisei.japanese.query_analysis import analyse_query, content_words, subjectless
from naisei.japanese.sentences import codes

#: Before a message that is a new request, and no answer to the question that is open.
NEW = "/new "


class Dialogue(BaseModel):
    """utterance: the first message. exchanges: questions back, with their answers. earlier: earlier
    requests of the conversation, oldest first. goes_on: whether it continues the last one."""

    model_config = ConfigDict(frozen=True)

    utterance: str
    exchanges: tuple[Exchange, ...] = ()
    earlier: tuple[str, ...] = ()
    goes_on: bool = False

    def answered(self, question: str, answer: str, options: tuple[str, ...] = ()) -> Dialogue:
        """The dialogue with one more exchange; an answer by number becomes the option's words plus
        the rest."""
        if picked := chosen(answer, options):
            words = "、".join(options[at] for at in picked)
        elif begun := led(answer, options):
            words = f"{options[begun[0]]}、{begun[1]}"
        else:
            words = answer.strip()
        exchange = Exchange(question=question, answer=words, options=options)
        return self.model_copy(update={"exchanges": (*self.exchanges, exchange)})

    @property
    def own(self) -> tuple[str, ...]:
        """All messages of the person about the request, oldest first, without
        「その中にはありません」 and the like."""
        return (self.utterance, *(e.answer for e in self.exchanges if e.is_informative))

    @property
    def resumes(self) -> bool:
        """Whether it continues the previous request: it refers back (「その場合は？」), or has no
        topic (「郵送だといくらですか」)."""
        return bool(self.earlier) and (self.goes_on or subjectless(self.utterance))

    @property
    def full_messages(self) -> tuple[str, ...]:
        """The same, with the omitted words of a continued request."""
        first, *answers = self.own
        unsaid = f"{_unsaid(first, self.earlier)} " if self.resumes else ""
        return (f"{unsaid}{first}", *answers)

    @property
    def alone(self) -> bool:
        """Whether the utterance is alone and can be the query itself."""
        return len(self.own) == 1 and not self.resumes

    def has_asked(self, question: str) -> bool:
        """Whether this was asked already, ignoring marks and width."""
        return any(_bare(e.question) == _bare(question) for e in self.exchanges)


#: Question words: いくらですか, いつまで, how much.
_ASKED = re.compile(
    "(?:いくら|いつ|どこ|どう(?:やって|すれば|したら)?|[誰何]|どの(?:くらい|ように)|どれ(?:くらい)?)"
    "(?:日|時間?|回|冊|点|年|歳|名|人|円|か月|kg|番|曜日)?"
    "(?:前|後|まで|から|[にへをがの]|で(?![すき]))*"
    "(?:です|[になし]*(?:かかり|あり)?ます|いい)?か?[。？?]?|"
    r"\b(?:how (?:much|many|long|often|far|soon)|how|when|where|who|which|what|why)\b",
    re.I,
)


def _unsaid(text: str, earlier: Sequence[str]) -> str:
    """Words taken over from earlier requests, back to the last with its own topic, without question
    words if the request has its own (いつまで after いくら). A product code (AP-60だと？) replaces
    another."""
    asks, kept = analyse_query(text).aspect, list[str]()
    for before in reversed(earlier):
        words = _ASKED.sub(" ", before) if asks else before
        kept = [words, *kept] if content_words(words) else kept
        asks = asks or analyse_query(before).aspect
        if not subjectless(before):
            break
    unsaid = " ".join(kept)
    for code in codes(unsaid) if codes(text) else ():
        unsaid = re.sub("-?".join(map(re.escape, code)), "", unsaid, flags=re.I)
    return " ".join(unsaid.split())


def _bare(text: str) -> str:
    return "".join(c for c in normalise(text).lower() if c.isalnum())


#: Requests that were answered before, to which a later one may point back.
EARLIER = 5


class Conversation(BaseModel):
    """steps: the dialogues of all steps, oldest first. replies: theirs; one fewer than steps
    while a step is under way."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: tuple[Dialogue, ...] = ()
    replies: tuple[Reply, ...] = ()

    @classmethod
    def from_log(cls, events: Iterable[Event]) -> Conversation:
        """The conversation in the log of an inquiry (`naisei.intent.flow`)."""
        conversation = cls()
        for event in events:
            request: dict[str, Any] = event.request  # type: ignore[assignment]
            if event.kind == "ask":
                conversation = conversation.with_step(conversation.next(str(event.result)))
            elif event.kind == "say":
                reply = Reply(message=request["text"], **request["meta"]["reply"])
                conversation = conversation.with_replies([*conversation.replies, reply])
        return conversation

    @property
    def last(self) -> Reply | None:
        return self.replies[-1] if self.replies else None

    @property
    def open(self) -> bool:
        """Whether a question back waits for its answer."""
        last = self.last
        return last is not None and last.asks

    @property
    def pending(self) -> bool:
        """Whether the last step is still without its reply."""
        return len(self.steps) > len(self.replies)

    def next(self, text: str) -> Dialogue:
        """The dialogue with one more message: the answer to the question that is open, else, and
        after `/new`, a new request."""
        new, last = text.startswith(NEW), self.last
        text = text.removeprefix(NEW)
        if last is not None and self.open and not new:
            return self.steps[len(self.replies) - 1].answered(last.message, text, last.options)
        # The model's combined question, else the person's words.
        earlier = [
            reply.query if reply.rewritten == "model" else " ".join(step.own)
            for step, reply in zip(self.steps, self.replies, strict=False)
            if reply.query
        ]
        return Dialogue(utterance=text.strip(), earlier=tuple(earlier[-EARLIER:]))

    def with_step(self, dialogue: Dialogue) -> Conversation:
        return self.model_copy(update={"steps": (*self.steps, dialogue)})

    def with_replies(self, replies: Sequence[Reply]) -> Conversation:
        return self.model_copy(update={"replies": tuple(replies)})
