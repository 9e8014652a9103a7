"""A conversation with the assistant: its configuration, flow, world, and what is shown of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NoReturn

from pydantic import BaseModel, ConfigDict, JsonValue
from starlette.exceptions import HTTPException

from naisei.clarify.agent import Agent, AgentContext, View, build_agent
from naisei.clarify.config import Rules
from naisei.clarify.data import load_actions
from naisei.clarify.flow import episode
from naisei.clarify.person import Outcome, Person, PersonMemory
from naisei.clarify.schemas import ActionSet, Clarify, Decision, Instance, Language, Scene
from naisei.core import Act, AskUser, Event, Flow, Handler, Observation, Remember, Say, Where
from naisei.lang import say
from naisei.memory import memory as open_memory
from naisei.models.embedders import KeptEmbedder, open_embedder
from naisei.runs.conversation import HumanHandler, Prepared
from naisei.web.conversations.kind import ConversationContext, ConversationKind, PageConversation
from naisei.web.html import fragment

__all__ = [
    "DONE",
    "GAVE_UP",
    "KIND",
    "PERSON",
    "THOUGHT",
    "AssistantConfig",
    "Chance",
    "Picture",
    "Told",
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


#: Speakers of what the page shows: a decision as it is taken, and how a request ended.
THOUGHT, DONE, GAVE_UP = "thought", "done", "gave up"


class Told:
    """An agent that says each decision before it is carried out, with what it believes."""

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent = agent.name, agent

    def decide(self, view: View) -> Flow[Decision]:
        decision = yield from self._agent.decide(view)
        asks = isinstance(decision, Clarify)
        chances: list[JsonValue] = [
            {"text": view.actions.text(each.action), "p": round(each.p, 4)}
            for each in decision.chances
        ]
        yield from Say(
            decision.question
            if isinstance(decision, Clarify)
            else view.actions.text(decision.action),
            THOUGHT,
            {"asks": asks, "thought": decision.thought, "chances": chances, "trial": view.trial},
        )
        return decision


def requests(
    scene: Scene, actions: ActionSet, agent: Agent, notes: PersonMemory, rules: Rules
) -> Flow[NoReturn]:
    """Requests without end; whoever has had enough closes the page."""
    told, number = Told(agent), 0
    while True:
        said = yield from AskUser("")
        number += 1
        now = scene.model_copy(update={"id": f"request-{number}", "utterance": said})
        # The hidden intent is in the person's head: no id stands for it.
        instance = Instance(id=now.id, scene=now, gold=0)
        result = yield from episode(instance, actions, told, notes, rules)
        yield from Say("", GAVE_UP if result.first_success is None else DONE)


@dataclass(frozen=True, slots=True)
class Chance:
    """What the agent believes of an action. p, before: 0 to 1; before the last answer; `None`
    where it was not among the likeliest."""

    text: str
    p: float
    before: float | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """chances: the likeliest actions, best first, empty where the agent keeps no account.
    thought: its last. person: with the notes of now."""

    chances: Sequence[Chance]
    thought: str
    person: Person

    @classmethod
    def of(cls, config: AssistantConfig, events: Iterable[Event]) -> Picture:
        person = config.person.model_copy(deep=True)
        chances: list[Chance] = []
        thought, utterance, proposed = "", "", ""
        for event in events:
            request: dict[str, object] = event.request  # type: ignore[assignment]
            if event.kind == "ask" and not request["question"]:
                utterance, chances = str(event.result), []
            elif event.kind == "say" and request["speaker"] == THOUGHT:
                meta: dict[str, object] = request["meta"]  # type: ignore[assignment]
                before = {c.text: c.p for c in chances}
                found: list[dict[str, object]] = meta["chances"]  # type: ignore[assignment]
                chances = [
                    Chance(str(c["text"]), float(str(c["p"])), before.get(str(c["text"])))
                    for c in found
                ]
                thought, proposed = str(meta["thought"]), str(request["text"])
            elif event.kind == "act" and isinstance(event.result, dict):
                right = float(str(event.result["reward"])) > 0
                person.learned(Outcome(utterance=utterance, action=proposed, right=right))
            elif event.kind == "remember":
                person.memo = str(request["item"])
        return cls(chances, thought, person)


_Keep = Callable[[], None]
#: The visitor's notes, kept from one conversation to the next.
PERSON = "visitor"


@asynccontextmanager
async def _open(config: AssistantConfig, context: ConversationContext) -> AsyncIterator[Prepared]:
    agent = await asyncio.to_thread(_agent, config.agent, config.language, config.rules.trials)
    models = {role: config.model for role in ("agent", "reflector") if config.model}
    base = await context.world(models)
    policy = open_memory(config.memory)
    person = config.person.model_copy(deep=True)
    notes = PersonMemory(person, config.language, policy.name, policy.prompt)
    actions = actions_in(config.language)

    def keep() -> None:
        person.save(context.folder)

    utterances = _Utterances(context.human(None))
    yield Prepared(
        requests(config.scene, actions, agent, notes, config.rules),
        base.having(
            {
                AskUser: utterances,
                Act: _Verdicts(context.human(_yes_or_no), utterances, person, actions, keep),
                Remember: _Memo(notes, keep),
                Say: lambda effect: None,
            }
        ),
    )


class _Utterances(Handler):
    """Asks the person, and knows what the request is: what was said to no question."""

    def __init__(self, ask: HumanHandler) -> None:
        self._ask, self.utterance = ask, ""

    async def perform(self, effect: AskUser, where: Where) -> str:
        said = str(await self._ask.perform(effect, where))
        self.restore(effect, said, where)
        return said

    def restore(self, effect: AskUser, result: str, where: Where) -> None:
        if not effect.question:
            self.utterance = result


class _Verdicts(Handler):
    """The person says whether an action was the wanted one, which is noted."""

    def __init__(
        self,
        ask: HumanHandler,
        utterances: _Utterances,
        person: Person,
        actions: ActionSet,
        keep: _Keep,
    ) -> None:
        self._ask, self._utterances, self._person = ask, utterances, person
        self._actions, self._keep = actions, keep

    async def perform(self, effect: Act, where: Where) -> Observation:
        found: Observation = await self._ask.perform(effect, where)
        self.restore(effect, found, where)
        await asyncio.to_thread(self._keep)
        return found

    def restore(self, effect: Act, result: Observation, where: Where) -> None:
        assert isinstance(effect.action, dict)
        action = self._actions.text(int(str(effect.action["execute"])))
        self._person.learned(
            Outcome(utterance=self._utterances.utterance, action=action, right=result.reward > 0)
        )


class _Memo(Handler):
    """The memo, kept for the next conversation too."""

    def __init__(self, notes: PersonMemory, keep: _Keep) -> None:
        self._notes, self._keep = notes, keep

    async def perform(self, effect: Remember, where: Where) -> None:
        self._notes.add(effect.item)
        await asyncio.to_thread(self._keep)

    def restore(self, effect: Remember, result: None, where: Where) -> None:
        self._notes.add(effect.item)


def _yes_or_no(effect: Act, fields: Mapping[str, str]) -> Observation:
    given = fields.get("right", "")
    if given not in ("yes", "no"):
        raise HTTPException(
            422,
            say("「はい」か「いいえ」で答えてください", "please answer with Yes or No"),
        )
    return Observation(reward=float(given == "yes"), done=True)


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
        picture=Picture.of(config, here.upto(event)),
        actions=actions_in(config.language),
    )


KIND: ConversationKind[AssistantConfig] = ConversationKind(
    name="assistant", config=AssistantConfig, open=_open, line=_line
)
