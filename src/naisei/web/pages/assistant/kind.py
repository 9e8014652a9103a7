"""How a sitting is played and shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache

from starlette.exceptions import HTTPException

from naisei.clarify.agent import Agent, AgentContext, build_agent
from naisei.clarify.data import load_actions
from naisei.clarify.person import Outcome, Person, PersonMemory
from naisei.clarify.schemas import ActionSet, Language
from naisei.core import Act, AskUser, Event, Handler, Observation, Remember, Say, Where
from naisei.lang import say
from naisei.memory import memory as open_memory
from naisei.models.embedders.registry import KeptEmbedder, open_embedder
from naisei.web.html import fragment
from naisei.web.pages.assistant.config import SittingConfig
from naisei.web.pages.assistant.live import sitting
from naisei.web.pages.assistant.picture import Picture
from naisei.web.sittings import Kind, Room, Scene, Sitting
from naisei.web.sittings import Person as Asking

__all__ = ["KIND", "PERSON", "actions_in"]

_Keep = Callable[[], None]
#: The visitor's notes, kept from one sitting to the next.
PERSON = "visitor"


@asynccontextmanager
async def _open(config: SittingConfig, room: Room) -> AsyncIterator[Scene]:
    agent = await asyncio.to_thread(_agent, config.agent, config.language, config.rules.trials)
    models = {role: config.model for role in ("agent", "reflector") if config.model}
    base = await room.world(models)
    policy = open_memory(config.memory)
    person = config.person.model_copy(deep=True)
    notes = PersonMemory(person, config.language, policy.name, policy.prompt)
    actions = actions_in(config.language)

    def keep() -> None:
        person.save(room.folder)

    heard = _Heard(room.person(None))
    yield Scene(
        sitting(config.scene, actions, agent, notes, config.rules),
        base.having(
            {
                AskUser: heard,
                Act: _Judged(room.person(_yes_or_no), heard, person, actions, keep),
                Remember: _Kept(notes, keep),
                Say: lambda effect: None,
            }
        ),
    )


class _Heard(Handler):
    """Asks the person, and knows what the request is: what was said to no question."""

    def __init__(self, ask: Asking) -> None:
        self._ask, self.utterance = ask, ""

    async def perform(self, effect: AskUser, where: Where) -> str:
        said = str(await self._ask.perform(effect, where))
        self.restore(effect, said, where)
        return said

    def restore(self, effect: AskUser, result: str, where: Where) -> None:
        if not effect.question:
            self.utterance = result


class _Judged(Handler):
    """The person says whether an action was the wanted one, which is noted."""

    def __init__(
        self, ask: Asking, heard: _Heard, person: Person, actions: ActionSet, keep: _Keep
    ) -> None:
        self._ask, self._heard, self._person = ask, heard, person
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
            Outcome(utterance=self._heard.utterance, action=action, right=result.reward > 0)
        )


class _Kept(Handler):
    """The memo, kept for the next sitting too."""

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


def _line(here: Sitting, event: Event) -> str:
    config = here.config
    assert isinstance(config, SittingConfig)
    return fragment(
        "assistant/_event.html",
        event=event,
        picture=Picture.of(config, here.upto(event)),
        actions=actions_in(config.language),
    )


def _standing(here: Sitting) -> str:
    return fragment("assistant/_standing.html", sitting=here)


KIND: Kind[SittingConfig] = Kind(
    name="assistant", config=SittingConfig, open=_open, line=_line, standing=_standing
)
