"""Effects on a stream (add, read latest, search) and their handlers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, JsonValue, ValidationError

from naisei.core import Effect, Embed, FlowError, Handler, InputError, Remember, Where
from naisei.kept_text import KeptText, kept_text
from naisei.lang import say
from naisei.memory.entry import Entry, Kind, Ranking, Scored
from naisei.memory.stream.query import Focus
from naisei.memory.stream.stream import Stream

T = TypeVar("T", bound=BaseModel)

#: Key of an item that changes importances instead of adding an entry.
_RATED = "rated"


def remember(name: str, entry: Entry) -> Remember:
    """The effect that appends `entry` to the stream `name`."""
    return Remember(entry.model_dump(mode="json"), memory=name)


def rate(name: str, importances: Mapping[str, int]) -> Remember:
    """The effect that sets importances (1 to 10) by entry id, rated by a model."""
    return Remember({_RATED: dict(importances)}, memory=name)


@dataclass(frozen=True)
class Recall(Effect[list[Scored]]):
    """The `k` best entries for all `queries` together, best first.

    Args:
        queries: texts; an entry's relevance is its similarity to the nearest query. Empty: rank by
            importance and recency.
        name: of the stream.
        now: reference time for recency; naive or aware like the entries.
        k: ≥ 1; `None` for all.
        kinds: only entries of these kinds; empty for all.
        ranking: `query` by the question (`Stream.find`), or `park`, the sum of relevance,
            importance and recency (`Stream.search`).
        focus, half_life: for `query`; see `Stream.find`.
    """

    kind: ClassVar[str] = "recall"
    queries: tuple[str, ...]
    name: str
    now: datetime
    k: int | None = 40
    kinds: tuple[Kind, ...] = ()
    ranking: Ranking = "query"
    focus: Focus = "auto"
    half_life: float | None = None

    def request(self) -> JsonValue:
        return {
            "queries": list(self.queries),
            "name": self.name,
            "now": self.now.isoformat(),
            "k": self.k,
            "kinds": list(self.kinds),
            "ranking": self.ranking,
            "focus": self.focus,
            "half_life": self.half_life,
        }

    def encode(self, result: list[Scored]) -> JsonValue:
        return [_expect(one, Scored).model_dump(mode="json") for one in result]

    def decode(self, data: JsonValue) -> list[Scored]:
        assert isinstance(data, list)
        return [Scored.model_validate(one) for one in data]


@dataclass(frozen=True)
class Recent(Effect[list[Entry]]):
    """The last `n` entries (of these kinds), oldest first, in insertion order."""

    kind: ClassVar[str] = "recent"
    name: str
    n: int = 10
    kinds: tuple[Kind, ...] = ()

    def request(self) -> JsonValue:
        return {"name": self.name, "n": self.n, "kinds": list(self.kinds)}

    def encode(self, result: list[Entry]) -> JsonValue:
        return [_expect(one, Entry).model_dump(mode="json") for one in result]

    def decode(self, data: JsonValue) -> list[Entry]:
        assert isinstance(data, list)
        return [Entry.model_validate(one) for one in data]


def _expect(result: object, kind: type[T]) -> T:
    if not isinstance(result, kind):
        raise TypeError(f"expected {kind.__name__}, got {type(result).__name__}")
    return result


Vectors = npt.NDArray[np.float32]


class StreamHandler(Handler):
    """Streams by name, behind `Remember`, `Recall` and `Recent`.

    New entries are embedded in one batch at the next recall, in a thread if an event loop runs. A
    replay adds entries without vectors, so that resuming costs one batch, however long the log.

    Args:
        streams: by the name that effects use.
        embed: performs `Embed`; `None`: `query` uses words, `park` importance and recency.
    """

    def __init__(self, streams: Mapping[str, Stream], embed: Handler | None) -> None:
        self.streams = dict(streams)
        self._embed = embed

    def perform(
        self, effect: Any, where: Where
    ) -> list[Entry] | list[Scored] | Awaitable[list[Scored]] | None:
        """Raises:
        FlowError: unknown stream, invalid item, or duplicate id. InstrumentFailure: from the
        embedder.
        """
        if isinstance(effect, Remember):
            self._remember(effect)
            return None
        if isinstance(effect, Recent):
            return self._stream(effect.name).recent(effect.n, kinds=effect.kinds)
        return self._recall(cast(Recall, effect), where)

    def restore(self, effect: Any, result: Any, where: Where) -> None:
        """Add a remembered item again; reads change nothing."""
        if isinstance(effect, Remember):
            self._remember(effect)

    def _remember(self, effect: Remember) -> None:
        stream = self._stream(effect.memory)
        item = effect.item
        try:
            if isinstance(item, dict) and _RATED in item:
                for id, importance in cast(dict[str, int], item[_RATED]).items():
                    stream.rate(id, importance)
            else:
                stream.append(Entry.model_validate(item))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FlowError(f"{effect.memory}: cannot remember {item!r}: {error}") from error

    def _recall(self, recall: Recall, where: Where) -> list[Scored] | Awaitable[list[Scored]]:
        stream = self._stream(recall.name)
        if self._embed is None or not recall.queries or not len(stream):
            return self._run_recall(recall, stream, None)
        new = stream.without_vectors()
        lines = tuple(text for entry in new for text in stream.passages(entry.id))
        passages: Vectors | Awaitable[Vectors] = np.empty((0, 0), dtype=np.float32)
        if lines:
            passages = self._embedded(lines, "passage", where)
        if not isinstance(passages, np.ndarray):
            return self._later(recall, stream, new, passages, where)
        self._attach(stream, new, passages)
        queries = self._embedded(recall.queries, "query", where)
        if isinstance(queries, np.ndarray):
            return self._run_recall(recall, stream, queries)
        return self._found_later(recall, stream, queries)

    def _embedded(
        self, texts: tuple[str, ...], kind: str, where: Where
    ) -> Vectors | Awaitable[Vectors]:
        assert self._embed is not None
        found = self._embed.perform(Embed(texts, kind_of_text=kind), where)
        return cast(Vectors | Awaitable[Vectors], found)

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

    async def _found_later(
        self, recall: Recall, stream: Stream, queries: Awaitable[Vectors]
    ) -> list[Scored]:
        return self._run_recall(recall, stream, await queries)

    def _attach(self, stream: Stream, new: list[Entry], vectors: Vectors) -> None:
        rows = iter(vectors)
        for entry in new:
            stream.attach(entry.id, *islice(rows, len(stream.passages(entry.id))))

    def _run_recall(self, recall: Recall, stream: Stream, queries: Vectors | None) -> list[Scored]:
        try:
            if recall.ranking == "query" and recall.queries:
                return stream.find(
                    recall.queries,
                    queries,
                    now=recall.now,
                    k=recall.k,
                    kinds=recall.kinds,
                    focus=recall.focus,
                    half_life=recall.half_life,
                )
            return stream.search(queries, now=recall.now, k=recall.k, kinds=recall.kinds)
        except ValueError as error:
            raise FlowError(f"{recall.name}: {error}") from error

    def _stream(self, name: str) -> Stream:
        if name not in self.streams:
            raise FlowError(f"no stream {name!r}; there are {sorted(self.streams)}")
        return self.streams[name]


#: Most entries in a stored stream; the oldest are dropped.
_KEPT = 300


class KeptStream:
    """A stream stored across conversations: one line per entry, oldest first. The file exists only
    between `begin` and `end`, so nothing is stored without the user's consent.

    Args:
        text: the storage, or a file path.
    """

    def __init__(self, text: Path | KeptText) -> None:
        self._text = kept_text(text)

    @property
    def place(self) -> str:
        return self._text.place

    @property
    def allowed(self) -> bool:
        return self._text.read() is not None

    def begin(self) -> None:
        """Start storing. Raises `InputError` if the text cannot be stored."""
        self._text.change(lambda before: before or "")

    def end(self) -> None:
        """Delete everything, including the consent."""
        self._text.change(lambda before: None)

    def entries(self) -> list[Entry]:
        """Raises `InputError` if the text is unreadable or not in this format."""
        return self._parsed(self._text.read() or "")

    def _parsed(self, text: str) -> list[Entry]:
        found = []
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    found.append(Entry.model_validate_json(line))
                except ValidationError as error:
                    raise InputError(
                        say("記憶の行ではありません", "not a line of a memory"),
                        place=f"{self.place}:{number}",
                        remedy=say("その行を消してください", "remove it"),
                    ) from error
        return found

    def stream(self) -> Stream:
        stream = Stream()
        for entry in self.entries():
            stream.append(entry)
        return stream

    def add(self, entry: Entry) -> None:
        """Add an entry, if storing is allowed. A known text gets the new entry's time."""

        def added(before: str | None) -> str | None:
            if before is None:
                return None
            others = [kept for kept in self._parsed(before) if kept.id != entry.id]
            return _lines([*others, entry][-_KEPT:])

        self._text.change(added)

    def forget(self, id: str) -> bool:
        """Delete an entry from the file. Returns whether it existed."""
        found = False

        def without(before: str | None) -> str | None:
            nonlocal found
            if before is None:
                return None
            entries = self._parsed(before)
            kept = [entry for entry in entries if entry.id != id]
            found = len(kept) < len(entries)
            return _lines(kept) if found else before

        self._text.change(without)
        return found


def _lines(entries: Sequence[Entry]) -> str:
    return "".join(entry.model_dump_json() + "\n" for entry in entries)


class KeptHandler(Handler):
    """Performs `Remember` and `Recent` on a stored stream, in a thread inside an event loop. A
    replay changes nothing, since the file already has the entries."""

    def __init__(self, kept: KeptStream) -> None:
        self._kept = kept

    async def perform(self, effect: Any, where: Where) -> list[Entry] | None:
        return await asyncio.to_thread(self._performed, effect)

    def _performed(self, effect: Any) -> list[Entry] | None:
        if isinstance(effect, Remember):
            self._kept.add(Entry.model_validate(effect.item))
            return None
        recent = cast(Recent, effect)
        return self._kept.stream().recent(recent.n, kinds=recent.kinds)
