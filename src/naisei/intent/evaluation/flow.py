"""Evaluates one item: the search as typed, the dialogue with the simulated user, the final
search."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from naisei.core import AskUser, Evidence, Flow, Now
from naisei.intent.dialogue import Dialogue
from naisei.intent.evaluation.items import DEPTH, Item, Kind, holds, ranks
from naisei.intent.evaluation.users import leaked
from naisei.intent.evidence import find
from naisei.intent.flow import assist
from naisei.intent.rules import Setting
from naisei.intent.schemas import Case, Exchange, Reply
from naisei.japanese.sentences import sentences

Action = Literal["ask", "search"]

#: The expected first action by kind of question: a vague question and a worry should prompt a
#: question back; a clear question should be answered, and so should one that the documents cannot
#: answer, since asking back would not change that.
EXPECTED: dict[Kind, Action] = {
    "clear": "search",
    "unanswerable": "search",
    "vague": "ask",
    "consultation": "ask",
}


class ItemResult(BaseModel):
    """One item, from the question to the answer.

    first: the assistant's first action. cases: one per evaluation. exchanges: questions back.
    before, after: for each gold passage its rank, from 1, in the search for the question as it was
    typed, and in the search that the answer came from; `None` where it is not among the first ten.
    query, rewritten: what was searched for in the end, and how it came about. answered: whether the
    documents were found to hold an answer. sentences, unsupported: of the answer, and how many are
    not supported. cited, cited_gold: chunks cited, and whether one of them holds a gold passage.
    contact: the department named. seconds: of the assistant, without searching for `before`; the
    user's thinking time is in it where a model plays the user. leaked: words of gold passages that
    the user said without having been told them. failures: instrument failures that the assistant
    survived.
    """

    model_config = ConfigDict(frozen=True)

    item: str
    kind: Kind
    first: Action
    cases: tuple[Case, ...]
    exchanges: tuple[Exchange, ...] = ()
    before: tuple[int | None, ...] = ()
    after: tuple[int | None, ...] = ()
    query: str = ""
    rewritten: str = "unchanged"
    answered: bool = False
    answer: str = ""
    sentences: int = 0
    unsupported: int = 0
    cited: int = 0
    cited_gold: bool = False
    contact: str | None = None
    seconds: float = 0.0
    leaked: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether the first action is the expected one for the kind of question."""
        return self.first == EXPECTED[self.kind]


def examine(item: Item, setting: Setting) -> Flow[ItemResult]:
    """Run the assistant on an item; a simulated user performs `AskUser`."""
    deep = setting.model_copy(update={"rules": setting.rules.model_copy(update={"k": DEPTH})})
    typed = (yield from find(item.text, deep)).hits
    began = yield from Now()
    dialogue = Dialogue(utterance=item.text)
    cases: list[Case] = []
    firsts = []
    while True:
        reply = yield from assist(dialogue, setting)
        cases.append(reply.case)
        firsts.append(reply.route)
        if reply.route == "search" or reply.extended is not None:
            break
        said = yield from AskUser(reply.message)
        dialogue = dialogue.answered(reply.message, said, reply.options)
    ended = yield from Now()
    found = typed
    if reply.query and reply.query != item.text:
        found = (yield from find(reply.query, deep, also=reply.also)).hits
    texts = {hit.id: hit for hit in (*typed, *found)}
    return ItemResult(
        item=item.id,
        kind=item.kind,
        first=firsts[0],
        cases=tuple(cases),
        exchanges=dialogue.exchanges,
        before=ranks(typed, item.gold),
        after=ranks(found, item.gold),
        query=reply.query,
        rewritten=reply.rewritten,
        answered=reply.evidence,
        answer=reply.answer,
        sentences=len(sentences(reply.answer)),
        unsupported=len(reply.unsupported),
        cited=len(reply.citations),
        cited_gold=_cites_gold(reply, item, texts),
        contact=reply.contact.department if reply.contact else None,
        seconds=max(0.0, (ended - began).total_seconds()),
        leaked=leaked(item, dialogue.exchanges),
        failures=reply.failures,
    )


def _cites_gold(reply: Reply, item: Item, texts: dict[str, Evidence]) -> bool:
    cited = [texts[c.chunk] for c in reply.citations if c.chunk in texts]
    return any(holds(chunk, gold) for chunk in cited for gold in item.gold)
