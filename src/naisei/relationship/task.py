"""Conversations as a task of the run engine: one episode a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, JsonValue

from naisei.core import Flow, Remember, Say, Where, World, fingerprint
from naisei.memory.stream import Recall, Recent, Stream, StreamHandler
from naisei.models.base import Embedder
from naisei.models.embedders.registry import open_embedder
from naisei.relationship import flow, metrics
from naisei.relationship.book import Book, Router
from naisei.relationship.config import RelationshipConfig
from naisei.relationship.describe import transcript
from naisei.relationship.pairs import load_pairs
from naisei.relationship.persona import Pair
from naisei.relationship.reflect import stream_of
from naisei.relationship.schemas import Conversation
from naisei.runs.task import EpisodeRow, Summary, Task

__all__ = ["ConversationTask", "empty"]


class ConversationTask(Task[RelationshipConfig]):
    """Conversations under one configuration.

    Raises:
        InputError: personas that cannot be loaded.
    """

    system = "relationship"

    def __init__(self, config: RelationshipConfig) -> None:
        self.config = config
        self.pairs: dict[str, Pair] = {pair.id: pair for pair in load_pairs(config.personas)}
        self.data_hash = fingerprint([p.model_dump(mode="json") for p in self.pairs.values()])
        self._embedder = None if config.embedder == "none" else _Lazy(config.embedder)

    def episodes(self) -> list[Where]:
        return [Where(id, n + 1) for id in self.pairs for n in range(self.config.dialogues)]

    def start(self, where: Where, base: World) -> tuple[Flow[BaseModel], World]:
        pair, rules = self.pairs[where.instance], self.config.rules
        book = Book(empty(pair))
        names = [stream_of(agent) for agent in pair.names]
        streams = StreamHandler(
            {name: Stream(weights=rules.weights) for name in names}, self._embedder
        )
        world = base.having(
            {Say: book, Remember: Router(book, streams), Recall: streams, Recent: streams}
        )
        return flow.converse(pair, rules, book), world

    def summarise(self, rows: Sequence[EpisodeRow]) -> Summary:
        return metrics.summarise(self.config, rows, self.model_notes())

    def shown(self, where: Where, result: JsonValue) -> str:
        return transcript(Conversation.model_validate(result))


def empty(pair: Pair) -> Conversation:
    """A conversation of a pair before its first session."""
    return Conversation(pair=pair.id, language=pair.language, names=pair.names)


class _Lazy:
    """An embedder that is opened with the first text: its weights are loaded only if needed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._opened: Embedder | None = None

    @property
    def dim(self) -> int:
        return self._open().dim

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        return self._open().embed(texts, kind)

    def _open(self) -> Embedder:
        if self._opened is None:
            self._opened = open_embedder(self.name)
        return self._opened
