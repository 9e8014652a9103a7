"""Conversations as a task of the run engine: one episode per conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, JsonValue

from naisei.core import Embed, Flow, Where, World, fingerprint
from naisei.memory.stream import StreamHandler
from naisei.relationship import flow, metrics
from naisei.relationship.config import RelationshipConfig, Rules
from naisei.relationship.lines import talk_lines
from naisei.relationship.pairs import Pair, load_pairs
from naisei.relationship.recorder import Recorder, recorded, streams_of
from naisei.relationship.schemas import Conversation
from naisei.runs.lines import Line
from naisei.runs.task import EpisodeRow, Summary, Task

if TYPE_CHECKING:
    from naisei.runs.directory import RunDirectory
    from naisei.runs.result import RunResult


class ConversationTask(Task[RelationshipConfig]):
    """Conversations under one configuration.

    Raises:
        InputError: the personas cannot be loaded.
    """

    system = "relationship"
    each = "sessions.lines"

    def __init__(self, config: RelationshipConfig) -> None:
        self.config = config
        first = config.rules.clock.start
        found = load_pairs(config.personas)
        self.pairs: dict[str, Pair] = {pair.id: pair.on(first) for pair in found}
        self.data_hash = fingerprint([p.model_dump(mode="json") for p in self.pairs.values()])

    def episodes(self) -> list[Where]:
        return [Where(id, n + 1) for id in self.pairs for n in range(self.config.dialogues)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        pair, rules = self.pairs[where.instance], self.config.rules
        record = Recorder(pair)
        world = remembering(base, record, rules, self.config.embedder)
        return flow.converse(pair, rules, record), world

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        return metrics.summarise(self.config, rows, self.model_notes())

    def render_episode(self, where: Where, result: JsonValue) -> list[Line]:
        return list(talk_lines(Conversation.model_validate(result)))

    def export(self, directory: RunDirectory, result: RunResult) -> None:
        """Write the agent files and prompt traces of the document, §5."""
        from naisei.relationship.exports import export

        export(directory, task=self)


def remembering(base: World, record: Recorder, rules: Rules, embedder: str) -> World:
    """Extend `base` to write to `record` and to memory streams; `embedder="none"`: no relevance."""
    embed = None if embedder == "none" else base.handler(Embed(()))
    return recorded(base, record, StreamHandler(streams_of(rules), embed))
