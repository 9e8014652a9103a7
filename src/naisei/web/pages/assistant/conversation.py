"""A conversation with the assistant: its configuration, flow, world, and what is shown of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from naisei.clarify.agent import Agent, AgentContext, build_agent
from naisei.clarify.config import Rules
from naisei.clarify.conversation import Picture, prepared
from naisei.clarify.data import load_actions
from naisei.clarify.person import Person
from naisei.clarify.schemas import ActionSet, Language, Scene
from naisei.core import Event
from naisei.models.embedders import KeptEmbedder, open_embedder
from naisei.runs.conversation import Prepared
from naisei.web.conversations.kind import ConversationContext, ConversationKind, PageConversation
from naisei.web.html import fragment

__all__ = [
    "KIND",
    "PERSON",
    "AssistantConfig",
    "actions_in",
]


class AssistantConfig(BaseModel):
    """scene: the situation, without words yet. person: the notes as they were at the start.
    model: of an agent that needs one. memory: policy; `none` where there is no model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str
    scene: Scene
    person: Person
    rules: Rules = Rules()
    model: str | None = None
    memory: str = "none"
    language: Literal["ja", "en"] = "ja"


#: The visitor's notes, kept from one conversation to the next.
PERSON = "visitor"


@asynccontextmanager
async def _open(config: AssistantConfig, context: ConversationContext) -> AsyncIterator[Prepared]:
    agent = await asyncio.to_thread(_agent, config.agent, config.language, config.rules.trials)
    models = {role: config.model for role in ("agent", "reflector") if config.model}
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
    """The actions of the bundled data."""
    return load_actions(language=language)


def _line(here: PageConversation, event: Event) -> str:
    config = here.config
    assert isinstance(config, AssistantConfig)
    return fragment(
        "assistant/_event.html",
        event=event,
        picture=Picture.of(config.person, here.upto(event)),
        actions=actions_in(config.language),
    )


KIND: ConversationKind[AssistantConfig] = ConversationKind(
    name="assistant", config=AssistantConfig, open=_open, line=_line, renews=True
)
