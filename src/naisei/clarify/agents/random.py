"""`random`: any untried action, never a question. The baseline of every table."""

from __future__ import annotations

import hashlib

from naisei.clarify.agent import AgentContext, AgentFactory, View
from naisei.clarify.schemas import Decision, Execute
from naisei.core import Flow
from naisei.plugins import Options


class RandomAgent:
    """Uniform over the untried actions; the same choice for the same seed, scene and trial,
    on any machine and in any process."""

    name = "random"

    def __init__(self, context: AgentContext) -> None:
        self._seed = context.seed

    def decide(self, view: View) -> Flow[Decision]:
        untried = view.allowed or view.actions.ids
        key = f"{self._seed}/{view.scene.id}/{view.trial}".encode()
        drawn = int.from_bytes(hashlib.sha256(key).digest()[:8], "big")
        return Execute(action=untried[drawn % len(untried)])
        yield


build = AgentFactory(RandomAgent, model_free=True, options=Options, asks=False)
