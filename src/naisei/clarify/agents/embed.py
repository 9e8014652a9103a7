"""`embed`: the action whose description is nearest to the scene in an embedding space.

Never asks. An action's similarity is that of its nearest description in the knowledge table,
or, without a table, that of its own text.
"""

from __future__ import annotations

from naisei.clarify.agent import AgentContext, AgentFactory, View
from naisei.clarify.agents.features import scene_texts
from naisei.clarify.agents.knowledge import knowledge_for
from naisei.clarify.schemas import Decision, Execute
from naisei.core import Embed, Flow
from naisei.plugins import Options
from naisei.similarity import cosines, unit


class EmbedAgent:
    """Ranks actions by cosine with the utterance and situation."""

    name = "embed"

    def __init__(self, context: AgentContext) -> None:
        texts = [(item.text, *item.says) for item in knowledge_for(context.actions).items]
        embedder = context.get_embedder()
        self._ids = context.actions.ids
        self._owner = [i for i, own in enumerate(texts) for _ in own]
        self._vectors = unit(embedder.embed([t for own in texts for t in own], "passage"))

    def decide(self, view: View) -> Flow[Decision]:
        vectors = yield from Embed((scene_texts(view.scene)[1],))
        nearest: dict[int, float] = {}
        for i, near in zip(self._owner, cosines(self._vectors, vectors[0]), strict=True):
            nearest[i] = max(nearest.get(i, -1.0), float(near))
        order = sorted(nearest, key=lambda i: (-nearest[i], i))
        best = next((i for i in order if self._ids[i] in view.allowed), order[0])
        return Execute(action=self._ids[best])


build = AgentFactory(EmbedAgent, model_free=True, options=Options, asks=False)
