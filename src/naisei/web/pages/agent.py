"""One conversation with one agent, and its mind at work beside it: the first page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route

from naisei.agent.flow import STREAM
from naisei.agent.house import rooms_of
from naisei.agent.opening import ROLES, TalkConfig, indexed, opened
from naisei.agent.persona import Persona, load_persona, shipped
from naisei.agent.wording import emphasised
from naisei.clarify.agents.knowledge import knowledge_for
from naisei.clarify.agents.naming import read_back
from naisei.clarify.careful import offered
from naisei.clarify.conversation import Picture
from naisei.clarify.data import load_actions
from naisei.clarify.lines import THOUGHT
from naisei.clarify.person import Person
from naisei.core import Event, Status
from naisei.director.lines import draft_line, status_mark
from naisei.director.schemas import Draft
from naisei.intent.lines import terminal_line
from naisei.intent.remembering import listed
from naisei.intent.schemas import Reply
from naisei.lang import say
from naisei.relationship.vector import DIMENSIONS, HIGH, LOW, NAMES_JA
from naisei.runs.charts import Chart, Point
from naisei.runs.conversation import Prepared
from naisei.runs.lines import Line, Mark
from naisei.system.config import Parameters
from naisei.web.conversations.kind import (
    INSTRUMENT,
    ConversationContext,
    ConversationKind,
    PageConversation,
    Panel,
)
from naisei.web.conversations.routes import model_field, page_routes
from naisei.web.html import fragment
from naisei.web.pages import Page
from naisei.web.pages.assistant import PERSON
from naisei.web.pages.documents.conversation import memory_of
from naisei.web.pages.runs.lists import Place
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
        groups=(),  # visitors are in no group
    ) as ready:
        yield ready


def _index(documents: str, folder: Path) -> None:
    """Make the index of the documents, for which nobody else is to wait."""
    with indexed(documents, folder, ()):
        pass


@dataclass
class Mindful:
    """What the events tell of the agent's mind. said: what was told with its last line. stances: of
    the persona and of the person, one a line. recalled: what bore on the last remark."""

    said: dict[str, Any] = field(default_factory=dict)
    stances: dict[str, list[dict[str, float] | None]] = field(
        default_factory=lambda: {"own": [], "theirs": []}
    )
    recalled: list[str] = field(default_factory=list)
    memo: str = ""

    @classmethod
    def of(cls, config: AgentConfig, events: Sequence[Event]) -> Mindful:
        mind = cls(memo=config.memo)
        for event in events:
            request: Any = event.request
            if event.kind == "ask" and not request["question"]:
                mind.said = {}
            elif event.kind == "say" and request["speaker"] != THOUGHT:
                mind.said = request["meta"]
                for side, found in mind.stances.items():
                    found.append(mind.said["stance"][side])
            elif event.kind == "recall" and isinstance(event.result, list):
                bearing: Any = event.result
                mind.recalled = [one["entry"]["text"] for one in bearing]
            elif event.kind == "remember" and request["memory"] != STREAM:
                mind.memo = str(request["item"])
        return mind


#: Of what a remark may be, so many are shown.
_SORTS = 3


def _kinds() -> dict[str, str]:
    return {
        "act": say("してほしいこと", "something to do"),
        "question": say("知りたいこと", "something to look up"),
        "correction": say("さっきの行動の訂正", "a correction of what was done"),
        "chat": say("おしゃべり", "talk"),
        "self": say("この人物のこと", "about the persona"),
        "greeting": say("挨拶", "a greeting"),
        "thanks": say("お礼", "thanks"),
        "farewell": say("別れの挨拶", "a farewell"),
        "decline": say("断り", "taken back"),
        "glad": say("うれしい話", "good news"),
        "sad": say("つらい話", "bad news"),
        "ambulance": say("急病・火事", "illness or fire"),
        "police": say("身の危険", "danger"),
    }


def _understood(mind: Mindful, picture: Picture) -> list[Line]:
    """What the last remark was taken for, and why the agent asked or acted."""
    out = []
    if meant := mind.said.get("understood"):
        kinds = _kinds()
        shares = sorted(meant["shares"].items(), key=lambda item: -item[1])[:_SORTS]
        marks = tuple(Mark(f"{kinds[kind]} {share:.0%}", "dim") for kind, share in shares)
        out.append(Line(kinds[meant["kind"]], tone="head", marks=marks))
        if meant["thought"]:  # of a model
            out.append(Line(meant["words"], say("受け取った言葉", "Taken as"), tone="dim"))
            out.append(Line(meant["thought"], say("理由", "Because")))
    elif picture.thought:  # its line is still to come
        out.append(Line(_kinds()["act"], tone="head"))
    if picture.thought:
        out.append(Line(picture.thought, say("動く前の考え", "Before it acted")))
    return out


def _checked(mind: Mindful, name: str) -> list[Line]:
    """What the director said of the last line and of the drafts before it."""
    drafts = [Draft.model_validate(draft) for draft in mind.said.get("drafts", ())]
    return [draft_line(draft, name) for draft in drafts]


def _remembered(mind: Mindful) -> list[Line]:
    out = [Line(mind.memo, say("内省メモ", "Reflection memo"))] if mind.memo else []
    return [*out, *(Line(text, say("思い出したこと", "Recalled")) for text in mind.recalled)]


def _reply(meta: Mapping[str, Any], text: str) -> Sequence[Line]:
    """The sources of a line that answers from documents."""
    if not (found := meta.get("reply")):
        return ()
    return terminal_line(Reply(message=text, **found)).under


def _cost(events: Sequence[Event]) -> list[Line]:
    used = [event.usage for event in events if event.usage is not None]
    calls = sum(each.calls for each in used)
    tokens = sum(each.input_tokens + each.output_tokens for each in used)
    usd = sum(each.usd or 0.0 for each in used)
    words = say(f"モデル呼び出し {calls}、{tokens:,} トークン", f"{calls} calls, {tokens:,} tokens")
    return [Line(f"{words}, ${usd:.4f}" if usd else words)]


def _curves(mind: Mindful, name: str) -> list[Chart]:
    """How the persona stands to the person, and the other way about."""
    ways = {"own": f"{name} → {say('あなた', 'you')}", "theirs": f"{say('あなた', 'you')} → {name}"}
    charts = []
    for side, title in ways.items():
        lines = {
            say(NAMES_JA[key], key): [
                Point(n, found[key]) for n, found in enumerate(mind.stances[side], 1) if found
            ]
            for key in DIMENSIONS
        }
        if any(lines.values()):
            charts.append(Chart(title, lines, say("発話", "line"), "", bounds=(LOW, HIGH)))
    return charts


def _house(persona: Persona, events: Sequence[Event]) -> dict[str, Any]:
    """The rooms as they are after these events, and what was done there."""
    acts: list[Any] = [e.result for e in events if e.kind == "act" and e.failure is None]
    did = [act for act in acts if act["reward"]]
    rooms = did[-1]["info"]["rooms"] if did else rooms_of(persona.world)
    return {"rooms": rooms, "done": [act["text"] for act in did if act["text"]]}


def _panels(config: AgentConfig, events: Sequence[Event]) -> Sequence[Panel]:
    persona, mind = config.persona, Mindful.of(config, events)
    name = persona.profile.name
    picture = Picture.of(Person(name=config.person), events)

    def told(id: str, title: str, lines: Sequence[Line], empty: str) -> Panel:
        return Panel(id, title, fragment("agent/_told.html", lines=lines, empty=empty))

    nothing = say("まだ何もありません。", "Nothing yet.")
    if config.remembers:
        nothing = say(
            "前に話したことは、話に関わるときにここに出ます。すべては「話す」の最初のページにあります。",
            "What you said before stands here where it bears on the talk; all of it is on the "
            "first page of Talk.",
        )
    panels = [
        told(
            "understood",
            say("どう受け取ったか", "How it was understood"),
            _understood(mind, picture),
            say("話しかけると、ここに出ます。", "Say something, and it stands here."),
        ),
        told("memory", say("メモと思い出", "Memo and memories"), _remembered(mind), nothing),
    ]
    if persona.acts:
        chances = fragment("assistant/_beliefs.html", chances=picture.chances, wish="")
        panels.append(Panel("chances", say("候補と見込み", "What may be wanted"), chances))
    if persona.world:
        house = fragment("agent/_house.html", house=_house(persona, events))
        panels.append(Panel("house", say("家のようす", "The house"), house))
    curves = fragment("relationship/_curves.html", charts=_curves(mind, name), estimated=True)
    panels += [
        Panel("stance", say("ふたりの間柄", "How the two stand"), curves),
        told(
            "checked",
            say("言う前の検査", "Checked before it was said"),
            _checked(mind, name),
            say("一行ごとに検査してから言います。", "Each line is checked before it is said."),
        ),
    ]
    if persona.index:
        panels.append(
            told(
                "sources",
                say("出典", "Sources"),
                _reply(mind.said, ""),
                say("資料から答えると、ここに出ます。", "Of an answer from the documents."),
            )
        )
    return [*panels, told("cost", say("かかったもの", "What it cost"), _cost(events), "")]


def _lines(config: AgentConfig, id: str, event: Event) -> Sequence[Line]:
    """What was said and done; a click on what lies behind it opens the step in the recorder."""
    request, result = event.request, event.result
    assert isinstance(request, dict)
    name = config.persona.profile.name
    step = Place(f"@{id}", Path()).url("episode", e=event.where.episode, step=event.where.step)
    inside = Line(say("この一手の記録", "What lies behind it"), tone="dim", link=step)
    if event.kind == "ask":
        question, mine = str(request["question"]), Line(str(result), mine=True)
        return (Line(question, name, under=(inside,)), mine) if question else (mine,)
    if event.kind == "act" and isinstance(result, dict) and result["text"]:
        left = not result["reward"]
        done = say("しませんでした", "left alone") if left else say("しました", "done")
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
    under = (*_reply(meta, text), inside)
    shown = emphasised(text) if "reply" in meta else text
    return (Line(shown, name, marks=marks, under=under, rich="reply" in meta),)


def _shown(here: PageConversation) -> Mapping[str, Any]:
    """options: answers to what is asked that are understood without a model."""
    persona, pending = here.config.persona, here.status.asked
    question = getattr(pending.effect, "question", "") if pending is not None else ""
    if not question or not persona.acts or persona.plays:
        return {"options": ()}
    actions = load_actions(persona.actions or None, language=persona.language)
    named = read_back(question, knowledge_for(actions).items, persona.language)
    meant = dict(zip(actions.ids, named.truth if named else (), strict=False))
    chances = Picture.of(Person(name=here.config.person), here.events).chances
    ids = {action.text: action.id for action in actions}
    likely = [ids[c.text] for c in chances if meant.get(ids[c.text]) != "none"]
    return {"options": offered(question, likely, actions, persona.language)}


KIND: ConversationKind[AgentConfig] = ConversationKind(
    name="agent",
    config=AgentConfig,
    open=_open,
    lines=_lines,
    panels=_panels,
    shown=_shown,
    about=lambda config: next(iter(config.models.values()), say("モデルなし", "without a model")),
    roles=_ROLES,
    renews=True,
)
#: Conversations of any page that the first page lists.
_EARLIER = 8
#: What to try first with each persona that ships: it works without a model, too.
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
    if name not in shipped():  # no file of this machine is ever read
        raise HTTPException(422, say("その相手はいません", "there is nobody of that name"))
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
