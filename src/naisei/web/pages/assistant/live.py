"""The sitting as a flow: one request after the other, each an episode of R-Clarify."""

from __future__ import annotations

from typing import NoReturn

from pydantic import JsonValue

from naisei.clarify.agent import Agent, View
from naisei.clarify.config import Rules
from naisei.clarify.flow import episode
from naisei.clarify.person import PersonMemory
from naisei.clarify.schemas import ActionSet, Clarify, Decision, Instance, Scene
from naisei.core import AskUser, Flow, Say

__all__ = ["DONE", "GAVE_UP", "THOUGHT", "Told", "sitting"]

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


def sitting(
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
