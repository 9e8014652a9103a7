"""A conversation about requests: its flow, handlers and state.

Used by the terminal and the assistant's page (`naisei.runs.conversation`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pydantic import JsonValue

from naisei.clarify.agent import Agent, View
from naisei.clarify.config import Rules
from naisei.clarify.flow import episode
from naisei.clarify.lines import DONE, ENDED, GAVE_UP, NOTHING, THOUGHT
from naisei.clarify.person import Outcome, Person, PersonMemory
from naisei.clarify.schemas import ActionSet, Clarify, Decision, Decline, Instance, Scene
from naisei.core import (
    Act,
    AskUser,
    Event,
    Flow,
    Handler,
    InputError,
    Observation,
    Remember,
    Say,
    Where,
    World,
)
from naisei.japanese.consent import consent
from naisei.lang import say
from naisei.memory import memory_policy
from naisei.runs.asking import HumanHandler, ReadAnswer
from naisei.runs.conversation import Prepared

#: Number of actions offered if none fits a wish.
_NEAREST = 3


class AnnouncingAgent:
    """Wraps an agent and announces each decision, with its belief, before execution."""

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent = agent.name, agent

    def decide(self, view: View) -> Flow[Decision]:
        decision = yield from self._agent.decide(view)
        if isinstance(decision, Decline):
            return decision  # the end of the request is announced
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
    scene: Scene,
    actions: ActionSet,
    agent: Agent,
    notes: PersonMemory,
    rules: Rules,
    past: Sequence[Event] = (),
) -> Flow[NoReturn]:
    """Loops over requests until the user quits. past: earlier events; an unfinished last
    request restarts."""
    number = sum(event.kind == "ask" and not _question_of(event) for event in past)
    announcing, left = AnnouncingAgent(agent), _left(past)
    while True:
        if left:
            said, left = left, ""
        else:
            said = yield from AskUser("")
            number += 1
        now = scene.model_copy(update={"id": f"request-{number}", "utterance": said})
        # The intent is unknown, so the instance has no id.
        instance = Instance(id=now.id, scene=now, gold=0)
        result = yield from episode(instance, actions, announcing, notes, rules, declines=True)
        declined = result.trials[-1].declined == "no request"
        ended = DONE if result.first_success else NOTHING if declined else GAVE_UP
        yield from Say("", ended)


def _question_of(event: Event) -> str:
    request: dict[str, JsonValue] = event.request  # type: ignore[assignment]
    return str(request["question"])


def _left(past: Sequence[Event]) -> str:
    """The utterance of the unfinished request; empty if there is none."""
    said = ""
    for event in past:
        request: dict[str, JsonValue] = event.request  # type: ignore[assignment]
        if event.kind == "ask" and not _question_of(event):
            said = str(event.result)
        elif event.kind == "say" and request["speaker"] in ENDED:
            said = ""
    return said


@dataclass(frozen=True, slots=True)
class Chance:
    """The belief in an action. p, before: probability now and before the last answer, 0 to 1;
    `None` if the action was not among the likeliest."""

    text: str
    p: float
    before: float | None = None


@dataclass(frozen=True, slots=True)
class BeliefState:
    """chances: the likeliest actions, best first; empty without a belief. thought: the agent's last
    one. person: the person with current notes. unserved: the last wish, if no action fitted it.
    nearest: the likeliest unproposed actions, up to three."""

    chances: Sequence[Chance]
    thought: str
    person: Person
    unserved: str = ""
    nearest: tuple[str, ...] = ()

    @classmethod
    def of(cls, person: Person, events: Iterable[Event]) -> BeliefState:
        """person: the person before the first event."""
        person = person.model_copy(deep=True)
        chances: list[Chance] = []
        thought, utterance, proposed, unserved = "", "", "", ""
        wrong: set[str] = set()
        for event in events:
            request: dict[str, object] = event.request  # type: ignore[assignment]
            if event.kind == "ask" and not request["question"]:
                utterance, chances, unserved = str(event.result), [], ""
                wrong.clear()
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
                wrong |= set() if right else {proposed}
            elif event.kind == "say" and request["speaker"] == GAVE_UP:
                unserved = utterance
                person.missed(utterance)
            elif event.kind == "remember":
                person.memo = str(request["item"])
        nearest = [chance.text for chance in chances if chance.text not in wrong]
        return cls(
            chances, thought, person, unserved, tuple(nearest[:_NEAREST]) if unserved else ()
        )


def prepared(
    scene: Scene,
    actions: ActionSet,
    agent: Agent,
    rules: Rules,
    *,
    memory: str,
    person: Person,
    directory: Path,
    past: Sequence[Event],
    base: World,
    human: Callable[[ReadAnswer | None], HumanHandler],
) -> Prepared:
    """The flow and its handlers; the person is the user and judges actions.

    memory: name of the policy. person: the initial notes; changes are stored in `directory` at
    once. past: earlier events.
    """
    policy = memory_policy(memory, prompts="naisei.clarify")()
    person = BeliefState.of(person, past).person
    notes = PersonMemory(person, scene.language, policy.name, policy.prompt)
    request = _Request(human(None), _left(past), actions)
    return Prepared(
        requests(scene, actions, agent, notes, rules, past),
        base.having(
            {
                AskUser: request,
                Act: _Noting(person, directory, request.outcome, human(_yes_or_no)),
                Remember: memo_handler(person, directory),
                Say: _Noting(person, directory, request.unserved),
            }
        ),
    )


Change = Callable[[Person], None]


class _Request(Handler):
    """Asks the person, and tracks the request, i.e. the words that answer no question."""

    def __init__(self, ask: HumanHandler, utterance: str, actions: ActionSet) -> None:
        self._ask, self._utterance, self._actions = ask, utterance, actions

    async def perform(self, effect: AskUser, where: Where) -> str:
        said = str(await self._ask.perform(effect, where))
        self.restore(effect, said, where)
        return said

    def restore(self, effect: AskUser, result: str, where: Where) -> None:
        if not effect.question:
            self._utterance = result

    def outcome(self, effect: Act, seen: Observation) -> Change:
        """Record whether an action was right."""
        assert isinstance(effect.action, dict)
        action = self._actions.text(int(str(effect.action["execute"])))
        outcome = Outcome(utterance=self._utterance, action=action, right=seen.reward > 0)
        return lambda person: person.learned(outcome)

    def unserved(self, effect: Say, result: None) -> Change | None:
        """Record a wish without a fitting action."""
        wish = self._utterance
        return (lambda person: person.missed(wish)) if effect.speaker == GAVE_UP else None


class _Noting(Handler):
    """Delegates to `inner` and updates the person's notes: in memory for the flow, and in
    `directory` for the next conversation (`None`: not stored)."""

    def __init__(
        self,
        person: Person,
        directory: Path | None,
        change_of: Callable[[Any, Any], Change | None],
        inner: HumanHandler | None = None,
    ) -> None:
        self._person, self._directory = person, directory
        self._change_of, self._inner = change_of, inner

    async def perform(self, effect: Any, where: Where) -> Any:
        result = None if self._inner is None else await self._inner.perform(effect, where)
        if (change := self._change_of(effect, result)) is not None:
            change(self._person)
            if self._directory is not None:
                await asyncio.to_thread(Person.update, self._person.name, self._directory, change)
        return result

    def restore(self, effect: Any, result: Any, where: Where) -> None:
        if (change := self._change_of(effect, result)) is not None:
            change(self._person)


def memo_handler(person: Person, directory: Path | None) -> Handler:
    """Performs `Remember` for the memo, and stores it for the next conversation."""
    return _Noting(person, directory, lambda effect, _: lambda person: person.remember(effect.item))


def _yes_or_no(effect: Act, fields: Mapping[str, str]) -> Observation:
    right = consent(fields.get("right") or fields.get("text", ""))
    if right is None:
        raise InputError(
            say("「はい」か「いいえ」で答えてください", "please answer with Yes or No")
        )
    return Observation(reward=float(right), done=True)
