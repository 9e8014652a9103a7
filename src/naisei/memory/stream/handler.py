"""Performs what flows ask of streams."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from naisei.core import Embed, FlowError, Handler, Remember, Where
from naisei.memory.stream.effects import RATED, Recall, Recent
from naisei.memory.stream.entry import Entry, Scored
from naisei.memory.stream.stream import Stream
from naisei.models.base import Embedder
from naisei.models.embedders import EmbedHandler

__all__ = ["StreamHandler"]

Vectors = npt.NDArray[np.float32]


class StreamHandler(Handler):
    """Streams by name, behind `Remember`, `Recall` and `Recent`.

    Nothing is embedded until something is recalled; then all that is new is, in one batch,
    in a thread where there is an event loop. A replay folds the entries in without a vector,
    so that resuming costs one batch, however long the log.

    Args:
        streams: by the name that effects use.
        embedder: `None`: no relevance, the rank is by importance and recency.
    """

    def __init__(self, streams: Mapping[str, Stream], embedder: Embedder | None) -> None:
        self.streams = dict(streams)
        self._embed = None if embedder is None else EmbedHandler(embedder)

    def perform(
        self, effect: Any, where: Where
    ) -> list[Entry] | list[Scored] | Awaitable[list[Scored]] | None:
        """Raises:
        FlowError: an unknown stream, an item that is none, or an id that is taken.
        InstrumentFailure: from the embedder.
        """
        if isinstance(effect, Remember):
            self._remember(effect)
            return None
        if isinstance(effect, Recent):
            return self._stream(effect.name).recent(effect.n, kinds=effect.kinds)
        return self._recall(cast(Recall, effect), where)

    def restore(self, effect: Any, result: Any, where: Where) -> None:
        """A remembered item is folded in again; what was read changed nothing."""
        if isinstance(effect, Remember):
            self._remember(effect)

    def _remember(self, effect: Remember) -> None:
        stream = self._stream(effect.memory)
        item = effect.item
        try:
            if isinstance(item, dict) and RATED in item:
                for id, importance in cast(dict[str, int], item[RATED]).items():
                    stream.rate(id, importance)
            else:
                stream.append(Entry.model_validate(item))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FlowError(f"{effect.memory}: cannot remember {item!r}: {error}") from error

    def _recall(self, recall: Recall, where: Where) -> list[Scored] | Awaitable[list[Scored]]:
        stream = self._stream(recall.name)
        if self._embed is None or not recall.queries or not len(stream):
            return self._found(recall, stream, None)
        new = stream.without_vectors()
        lines = tuple(entry.line for entry in new)
        passages: Vectors | Awaitable[Vectors] = np.empty((0, 0), dtype=np.float32)
        if lines:
            passages = self._embed.perform(Embed(lines, kind_of_text="passage"), where)
        if not isinstance(passages, np.ndarray):
            return self._later(recall, stream, new, passages, where)
        self._attach(stream, new, passages)
        queries = self._embed.perform(Embed(recall.queries, kind_of_text="query"), where)
        if isinstance(queries, np.ndarray):
            return self._found(recall, stream, queries)
        return self._asked(recall, stream, queries)

    async def _later(
        self,
        recall: Recall,
        stream: Stream,
        new: list[Entry],
        passages: Awaitable[Vectors],
        where: Where,
    ) -> list[Scored]:
        self._attach(stream, new, await passages)
        found = self._recall(recall, where)
        return found if isinstance(found, list) else await found

    async def _asked(
        self, recall: Recall, stream: Stream, queries: Awaitable[Vectors]
    ) -> list[Scored]:
        return self._found(recall, stream, await queries)

    def _attach(self, stream: Stream, new: list[Entry], vectors: Vectors) -> None:
        for entry, vector in zip(new, vectors, strict=True):
            stream.attach(entry.id, vector)

    def _found(self, recall: Recall, stream: Stream, queries: Vectors | None) -> list[Scored]:
        try:
            return stream.search(queries, now=recall.now, k=recall.k, kinds=recall.kinds)
        except ValueError as error:
            raise FlowError(f"{recall.name}: {error}") from error

    def _stream(self, name: str) -> Stream:
        if name not in self.streams:
            raise FlowError(f"no stream {name!r}; there are {sorted(self.streams)}")
        return self.streams[name]
