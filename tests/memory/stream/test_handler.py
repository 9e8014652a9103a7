"""Streams behind effects: lazily embedded, logged, replayed without embedding."""

import asyncio
import itertools
from datetime import datetime, timedelta
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

from naisei.core import (
    Flow,
    FlowError,
    Gather,
    InstrumentFailure,
    MemoryLog,
    Remember,
    World,
    arun,
    run,
)
from naisei.memory.stream import (
    Entry,
    Recall,
    Recent,
    Scored,
    Stream,
    StreamHandler,
    rate,
    remember,
)
from naisei.models.embedders import EmbedHandler, NgramEmbedder

NOW = datetime(2026, 4, 1, 12, 0)
LINES = ["おはようございます", "昨日は本を読みました", "会議の資料の期限は明日です", "そうですか"]


class Counting(NgramEmbedder):
    """Counts the passages that it is given."""

    def __init__(self) -> None:
        super().__init__(dim=64)
        self.passages: list[str] = []

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        if kind == "passage":
            self.passages += texts
        return super().embed(texts, kind)


def said(n: int) -> Entry:
    return Entry(id=f"m{n}", time=NOW + timedelta(minutes=n), speaker="田中", text=LINES[n])


def talk() -> Flow[tuple[list[Scored], list[Entry], list[Scored]]]:
    for n in (0, 1, 2):
        yield from remember("a", said(n))
    first = yield from Recall(("資料の期限はいつか",), "a", NOW + timedelta(hours=1), k=1)
    yield from rate("a", {"m0": 9})
    yield from remember("a", said(3))
    recent = yield from Recent("a", 2)
    both = yield from Gather([Recall(("本",), "a", NOW + timedelta(hours=2)), Recall((), "b", NOW)])
    return first, recent, both[0]


def world(embedder: Any) -> tuple[World, StreamHandler]:
    embed = None if embedder is None else EmbedHandler(embedder)
    handler = StreamHandler({"a": Stream(), "b": Stream()}, embed)
    return World({Remember: handler, Recall: handler, Recent: handler}), handler


def test_what_is_remembered_is_found() -> None:
    embedder = Counting()
    first, recent, second = run(talk(), world(embedder)[0])
    assert [f.entry.id for f in first] == ["m2"]
    assert [e.id for e in recent] == ["m2", "m3"]
    assert {f.entry.id: f.entry.importance for f in second}["m0"] == 9
    lines = [f"[田中] {line}" for line in LINES]
    gone_on = [f"{before}\n{line}" for before, line in itertools.pairwise(lines)]
    assert sorted(embedder.passages) == sorted(lines + gone_on), "a line, and it in its talk"


def test_every_resume_gives_the_same_and_embeds_only_what_it_needs() -> None:
    whole = MemoryLog()
    expected = run(talk(), world(Counting())[0], log=whole)
    for kept in range(len(whole.events) + 1):
        log, embedder = MemoryLog(), Counting()
        log.events = whole.events[:kept]
        again, handler = world(embedder)
        assert asyncio.run(arun(talk(), again, log=log)) == expected
        assert {e.where: e.result for e in log.events} == {e.where: e.result for e in whole.events}
        assert [e.id for e in handler.streams["a"]] == ["m0", "m1", "m2", "m3"]
        assert len(embedder.passages) == len(set(embedder.passages))
    assert embedder.passages == []  # everything was replayed


def test_without_an_embedder_the_rank_is_by_importance_and_recency() -> None:
    first, _, second = run(talk(), world(None)[0])
    assert [f.entry.id for f in first] == ["m2"]
    assert all(f.relevance.raw is None for f in second)


def test_an_embedder_that_fails_fails_the_recall() -> None:
    class Broken(NgramEmbedder):
        def embed(self, texts: list[str], kind: Any = "query") -> npt.NDArray[np.float32]:
            raise InstrumentFailure("no answer")

    with pytest.raises(InstrumentFailure, match="no answer"):
        asyncio.run(arun(talk(), world(Broken())[0]))


@pytest.mark.parametrize(
    ("effect", "message"),
    [
        (remember("c", said(0)), "no stream 'c'"),
        (Recall(("本",), "c", NOW), "no stream 'c'"),
        (Remember("a line", memory="a"), "cannot remember"),
        (Remember({"id": "x", "text": "…"}, memory="a"), "cannot remember"),
        (rate("a", {"m7": 3}), "cannot remember"),
        (Recall((), "a", NOW, k=0), "at least 1"),
    ],
)
def test_what_makes_no_sense_is_a_fault_of_the_flow(effect: Any, message: str) -> None:
    def flow() -> Flow[Any]:
        return (yield from effect)

    with pytest.raises(FlowError, match=message):
        run(flow(), world(None)[0])
