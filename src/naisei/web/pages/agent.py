"""The first page: a conversation with one agent, with its mind shown beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from naisei.agent.flow import STREAM
from naisei.agent.opening import ROLES, TalkConfig, indexed, opened
from naisei.agent.persona import load_persona, shipped
from naisei.agent.wording import emphasised
from naisei.clarify.agents.knowledge import knowledge_for
from naisei.clarify.agents.questions import read_back
from naisei.clarify.careful import offered
from naisei.clarify.conversation import BeliefState
from naisei.clarify.data import load_actions
from naisei.clarify.lines import THOUGHT
from naisei.clarify.person import Person
from naisei.core import Event, Status
from naisei.director.lines import status_mark
from naisei.intent.remembering import listed
from naisei.lang import say
from naisei.runs.conversation import Prepared
from naisei.runs.lines import Line, Mark
from naisei.system.config import Parameters
from naisei.web.conversations.kind import (
    INSTRUMENT,
    ConversationContext,
    ConversationKind,
    PageConversation,
)
from naisei.web.conversations.routes import model_field, page_routes
from naisei.web.html import Refused
from naisei.web.pages import Page
from naisei.web.pages.agent_mind import mind_panels, reply_sources
from naisei.web.pages.assistant import PERSON
from naisei.web.pages.documents.conversation import memory_of
from naisei.web.pages.runs.lists import RunAddress
from naisei.web.state import server_of


class AgentConfig(TalkConfig):
    """remembers: whether the visitor allows it to remember them for later conversations."""

    remembers: bool = False


_SPOKEN = ("speaker", "agent", "reflector")
_ROLES: dict[str, Parameters] = {
    role: {} if role in _SPOKEN else INSTRUMENT for role in ROLES if role != "judge"
}


@asynccontextmanager
async def _open(config: AgentConfig, context: ConversationContext) -> AsyncIterator[Prepared]:
    folder = context.options.state / "agent"
    await asyncio.to_thread(_index, config.persona.index, folder)
    kept = memory_of(context.folder)
    async with opened(
        config,
        await context.world(config.models),
        context.past,
        folder=folder,
        people=context.folder,
        kept=kept if config.remembers and kept.allowed else None,
        human=context.human(None),
        groups=(),  # visitors belong to no group
    ) as ready:
        yield ready


def _index(documents: str, folder: Path) -> None:
    """Build the index of the documents in the background."""
    with indexed(documents, folder, ()):
        pass


def _lines(config: AgentConfig, id: str, event: Event) -> Sequence[Line]:
    """Return the lines of an event; a click opens the step in the recorder."""
    request, result = event.request, event.result
    assert isinstance(request, dict)
    name = config.persona.profile.name
    step = RunAddress(f"@{id}", Path()).url("episode", e=event.where.episode, step=event.where.step)
    inside = Line(say("この一手の記録", "This step in the records"), tone="dim", link=step)
    if event.kind == "ask":
        question, mine = str(request["question"]), Line(str(result), mine=True)
        return (Line(question, name, under=(inside,)), mine) if question else (mine,)
    if event.kind == "act" and isinstance(result, dict) and result["text"]:
        left = not result["reward"]
        done = say("見送り", "not done") if left else say("実行済み", "done")
        mark = Mark(done, "dim" if left else "good")
        return (Line(str(result["text"]), tone="head", marks=(mark,), under=(inside,)),)
    if event.kind == "remember" and request["memory"] != STREAM:
        told = say("内省メモを書き直しました", "rewrote its reflection memo")
        return (Line(str(request["item"]), told, under=(inside,)),)
    if event.kind != "say" or request["speaker"] == THOUGHT:
        return ()
    meta: Any = request["meta"]
    text = str(request["text"])
    marks = (status_mark(Status(meta["status"])),) if meta.get("status") else ()
    under = (*reply_sources(meta, text), inside)
    shown = emphasised(text) if "reply" in meta else text
    return (Line(shown, name, marks=marks, under=under, rich="reply" in meta),)


def _template_context(here: PageConversation) -> Mapping[str, Any]:
    """options: quick answers understood without a model."""
    persona, pending = here.config.persona, here.status.asked
    question = getattr(pending.effect, "question", "") if pending is not None else ""
    if not question or not persona.acts or persona.plays:
        return {"options": ()}
    actions = load_actions(persona.actions or None, language=persona.language)
    named = read_back(question, knowledge_for(actions).items, persona.language)
    meant = dict(zip(actions.ids, named.truth if named else (), strict=False))
    chances = BeliefState.of(Person(name=here.config.person), here.events).chances
    ids = {action.text: action.id for action in actions}
    likely = [ids[c.text] for c in chances if meant.get(ids[c.text]) != "none"]
    return {"options": offered(question, likely, actions, persona.language)}


KIND: ConversationKind[AgentConfig] = ConversationKind(
    name="agent",
    config=AgentConfig,
    open=_open,
    lines=_lines,
    panels=lambda config, events: mind_panels(config, config.remembers, events),
    shown=_template_context,
    about=lambda config: next(iter(config.models.values()), say("モデルなし", "without a model")),
    roles=_ROLES,
    renews=True,
)
#: Maximum number of conversations listed on the first page.
_EARLIER = 8
#: Suggested first lines for each bundled persona; they work without a model.
_TRY = {
    "robot": "お腹が空いたな",
    "desk": "国内出張の宿泊費の上限はいくらですか",
    "sister": "好きな飲み物は何ですか",
}


async def _start(request: Request) -> dict[str, Any]:
    server = server_of(request)
    kept = memory_of(server.folder(request.state.visitor))
    personas = {name: load_persona(name) for name in sorted(shipped(), key=[*_TRY].index)}
    return {
        "personas": personas,
        "try": _TRY,
        "earlier": await server.conversations.entries(request.state.visitor, most=_EARLIER),
        "remembers": await asyncio.to_thread(lambda: kept.allowed),
        "notes": await asyncio.to_thread(listed, kept),
    }


async def _begin(request: Request, fields: Mapping[str, str]) -> tuple[AgentConfig, str]:
    server = server_of(request)
    name = fields.get("persona", "robot")
    if name not in shipped():  # never read a file on this machine
        raise Refused(422, "その相手はいません", "no such persona")
    persona, model = load_persona(name), model_field(request, fields)
    if documents := server.options.documents:
        persona = persona.model_copy(update={"documents": str(documents)})
    folder = server.folder(request.state.visitor)
    remembers = bool(fields.get("remember"))
    if remembers:
        await asyncio.to_thread(memory_of(folder).begin)
    config = AgentConfig(
        persona=persona,
        models=dict.fromkeys(_ROLES, model) if model else {},
        person=PERSON,
        memo=Person.load(PERSON, folder).memo if remembers else "",
        remembers=remembers,
    )
    return config, say(*persona.title)


_PAGES = page_routes(KIND, start=_start, begin=_begin)
PAGE = Page(
    name="agent",
    title=("話す", "Talk"),
    about=(
        "ひとりのエージェントと話し、その頭の中を横で見ます。",
        "Talk with one agent, and watch its mind at work.",
    ),
    icon="M4 11l8-7 8 7v9h-5v-6H9v6H4z",
    order=0,
    routes=[Route("/", _PAGES[0].endpoint), *_PAGES],
    kinds=(KIND,),
    ready=lambda: [load_persona(name) for name in shipped()],
)
