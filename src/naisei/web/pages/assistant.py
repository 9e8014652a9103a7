"""The assistant page: asks back before it acts, and shows its beliefs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request

from naisei import entries
from naisei.clarify.agent import GROUP, Agent, AgentContext, build_agent, calls_model, is_model_free
from naisei.clarify.config import Rules
from naisei.clarify.conversation import BeliefState, prepared
from naisei.clarify.data import load, load_actions
from naisei.clarify.lines import event_lines
from naisei.clarify.person import Person
from naisei.clarify.schemas import ActionSet, Language, Scene, UserInfo
from naisei.core import Event
from naisei.lang import language, say
from naisei.lengths import FIELD
from naisei.models.embedders import KeptEmbedder, open_embedder
from naisei.runs.conversation import Prepared
from naisei.system.config import Parameters
from naisei.web.conversations.kind import (
    ConversationContext,
    ConversationKind,
    PageConversation,
    Panel,
)
from naisei.web.conversations.routes import model_field, page_routes
from naisei.web.html import Refused, check_length, fragment
from naisei.web.pages import Page
from naisei.web.state import server_of


class AssistantConfig(BaseModel):
    """scene: the situation, without an utterance. person: the notes at the start. model: if the
    agent needs one. memory: policy; `none` without a model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str
    scene: Scene
    person: Person
    rules: Rules = Rules()
    model: str | None = None
    memory: str = "none"
    language: Literal["ja", "en"] = "ja"


_ROLES: dict[str, Parameters] = {"agent": {}, "reflector": {}}
#: The visitor's notes, stored between conversations.
PERSON = "visitor"


@asynccontextmanager
async def _open(config: AssistantConfig, context: ConversationContext) -> AsyncIterator[Prepared]:
    agent = await asyncio.to_thread(_agent, config.agent, config.language, config.rules.trials)
    models = dict.fromkeys(_ROLES, config.model) if config.model else {}
    yield prepared(
        config.scene,
        actions_in(config.language),
        agent,
        config.rules,
        memory=config.memory,
        person=config.person,
        directory=context.folder,
        past=context.past,
        base=await context.world(models),
        human=context.human,
    )


@lru_cache(maxsize=32)
def _agent(name: str, language: Language, trials: int) -> Agent:
    return build_agent(
        name,
        AgentContext(
            actions=actions_in(language),
            trials=trials,
            embedder=lambda: KeptEmbedder(open_embedder("auto")),
        ),
    )


@lru_cache(maxsize=2)
def actions_in(language: Language) -> ActionSet:
    """Return the actions of the bundled data."""
    return load_actions(language=language)


def _panels(config: AssistantConfig, events: Sequence[Event]) -> Sequence[Panel]:
    picture = BeliefState.of(config.person, events)
    beliefs = fragment("assistant/_beliefs.html", chances=picture.chances, wish="")
    memo = fragment("assistant/_memo.html", person=picture.person)
    situation = fragment("assistant/_situation.html", scene=config.scene)
    notes = say("あなたについてのメモ（次の会話でも使う）", "Notes on you (for later, too)")
    return (
        Panel("beliefs", say("何を望んでいそうか", "What you may want"), beliefs),
        Panel("memo", notes, memo),
        Panel("situation", say("いまの状況", "The situation"), situation, folded=True),
    )


def _template_context(here: PageConversation) -> Mapping[str, Any]:
    config: AssistantConfig = here.config
    return {
        "picture": BeliefState.of(config.person, here.events),
        "actions": actions_in(config.language),
    }


KIND: ConversationKind[AssistantConfig] = ConversationKind(
    name="assistant",
    config=AssistantConfig,
    open=_open,
    lines=lambda config, id, event: event_lines(event),
    panels=_panels,
    shown=_template_context,
    roles=_ROLES,
    renews=True,
)


#: Offered situations of the bundled data, which the assistant without a model solves with three
#: questions and one action.
OFFERED: dict[Language, tuple[str, ...]] = {
    "ja": (
        *("a025-1", "a012-1", "b014-1", "b017-1", "b028-1", "b032-1"),
        *("b054-1", "b069-1", "c007-1", "c043-1", "c094-1", "e820-1"),
    ),
    "en": (
        *("a025-1", "a020-1", "b014-1", "b028-1", "b054-1", "b060-1"),
        *("b069-1", "c007-1", "c025-1", "c043-1", "c094-1", "e820-1"),
    ),
}
#: Options of the agent. If a wrong action costs only a try, it is best to act at once; with a
#: single try, the agent asks while that pays off.
_MANNERS = {"careful": Rules(trials=1, quota=3), "quick": Rules(trials=3, quota=2)}


@lru_cache(maxsize=2)
def _scenes(spoken: Language) -> dict[str, Scene]:
    """Return the offered situations, by id."""
    source = "ambigact40-open-en" if spoken == "en" else "ambigact40-open"
    found = {i.id: i.scene for i in load(source, split="dev").instances}
    return {found[name].id: found[name] for name in OFFERED[spoken]}


def _agents(model: str | None) -> list[str]:
    """Return the available agents, best first: one with a model, if there is a model."""
    names = entries.names(GROUP)
    free = sorted(
        (n for n in names if is_model_free(n)), key=lambda n: (n != "bayes", n == "random", n)
    )
    return [*sorted((n for n in names if model and calls_model(n)), reverse=True), *free]


def _ready() -> None:
    _scenes(language())
    _agents(None)


async def _start(request: Request) -> dict[str, Any]:
    server, spoken = server_of(request), language()
    return {
        "scenes": list((await asyncio.to_thread(_scenes, spoken)).values()),
        "agents": await asyncio.to_thread(_agents, server.options.model),
    }


async def _begin(request: Request, fields: Mapping[str, str]) -> tuple[AssistantConfig, str]:
    server, spoken = server_of(request), language()
    model = model_field(request, fields)
    agents = await asyncio.to_thread(_agents, model)
    if (agent := fields.get("agent", agents[0])) not in agents:
        raise Refused(422, "その助手は使えません", "this agent is not available")
    scene = await _scene(fields, spoken)
    person = await asyncio.to_thread(Person.load, PERSON, server.folder(request.state.visitor))
    needs = calls_model(agent)
    config = AssistantConfig(
        agent=agent,
        scene=scene.model_copy(update={"utterance": "", "language": spoken}),
        person=person,
        rules=_MANNERS.get(fields.get("manner", ""), _MANNERS["careful"]),
        model=model if needs else None,
        memory="tur" if needs else "none",
        language=spoken,
    )
    title = scene.user.place or say("自分の状況", "my own situation")
    return config, f"{title} · {agent}"


async def _scene(fields: Mapping[str, str], spoken: Language) -> Scene:
    if fields.get("scene", "own") != "own":
        found = (await asyncio.to_thread(_scenes, spoken)).get(fields["scene"])
        if found is None:
            raise Refused(422, "その状況はありません", "no such situation")
        return found
    place, around, holding = (fields.get(n, "") for n in ("place", "around", "holding"))
    for given in (place, around, holding):
        check_length(given, FIELD)
    seen = _things(around)
    return Scene(
        id="own",
        utterance="",
        user=UserInfo(place=place, holding=_things(holding)),
        surroundings={say("まわり", "around"): seen} if seen else {},
        language=spoken,
    )


def _things(text: str) -> tuple[str, ...]:
    parts = text.replace("，", "、").replace(",", "、").replace("\n", "、").split("、")
    return tuple(part.strip() for part in parts if part.strip())


PAGE = Page(
    name="assistant",
    title=("聞き返す助手", "Assistant"),
    about=(
        "あいまいな頼みごとに、動く前に聞き返します。何をどう見込んでいるかも見えます。",
        "Asks back before it acts on a vague request, and shows what it believes.",
    ),
    icon="M4 5h16v11H9l-5 4zM12 8v3M12 13v.5",
    order=10,
    routes=page_routes(KIND, start=_start, begin=_begin),
    kinds=(KIND,),
    ready=_ready,
)
