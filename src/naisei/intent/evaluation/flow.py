"""One item: the search as typed, the talk with the simulated user, the search that came of it."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.core import AskUser, Evidence, Flow, Now
from naisei.intent.dialogue import Dialogue
from naisei.intent.evaluation.gold import DEPTH, holds, ranks
from naisei.intent.evaluation.items import Item
from naisei.intent.evaluation.leaks import leaked
from naisei.intent.evaluation.results import ItemResult
from naisei.intent.finding import find
from naisei.intent.flow import assist
from naisei.intent.rules import Setting
from naisei.intent.schemas import Case, Reply
from naisei.japanese.sentences import sentences

__all__ = ["examine"]


def examine(item: Item, setting: Setting) -> Flow[ItemResult]:
    """What the assistant makes of an item; `AskUser` is performed by a simulated user."""
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
        verbatim=_verbatim(reply, list(texts.values())),
        contact=reply.contact.department if reply.contact else None,
        seconds=max(0.0, (ended - began).total_seconds()),
        leaked=leaked(item, dialogue.exchanges),
        failures=reply.failures,
    )


def _cites_gold(reply: Reply, item: Item, texts: dict[str, Evidence]) -> bool:
    cited = [texts[c.chunk] for c in reply.citations if c.chunk in texts]
    return any(holds(chunk, gold) for chunk in cited for gold in item.gold)


def _verbatim(reply: Reply, hits: Sequence[Evidence]) -> int:
    """Citations whose every line stands in the chunk that they name."""
    texts = {hit.id: "".join(hit.text.split()) for hit in hits}
    return sum(
        all("".join(line.split()) in texts.get(c.chunk, "") for line in c.quote.splitlines())
        for c in reply.citations
    )
