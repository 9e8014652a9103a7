"""The ranking is that of the plain formula, whatever the memories."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.memory.stream.reference import Vector, reference

from naisei.memory.stream import Entry, ScoreWeights, Stream

NOW = datetime(2026, 4, 1, 12, 0)
#: Few values, so that equal scores come up; whole numbers, so that they are equal exactly.
VECTORS = st.lists(st.integers(-2, 2), min_size=3, max_size=3).filter(any)
HOURS = st.one_of(st.integers(-5, 48), st.integers(0, 20_000))
WEIGHTS = st.builds(
    ScoreWeights,
    relevance=st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    importance=st.sampled_from([0.0, 1.0]),
    recency=st.sampled_from([0.0, 1.0, 2.0]),
    decay=st.sampled_from([0.5, 0.995, 1.0]),
)


@st.composite
def memories(draw: st.DrawFn, vector: Any) -> list[tuple[Entry, Vector]]:
    n = draw(st.integers(1, 30))
    ids = draw(st.permutations(range(n)))
    return [
        (
            Entry(
                id=f"m{id:02}",
                time=NOW - timedelta(hours=draw(HOURS)),
                text="…",
                importance=draw(st.integers(1, 10)),
            ),
            draw(vector),
        )
        for id in ids
    ]


def stream_of(pairs: list[tuple[Entry, Vector]], weights: ScoreWeights = ScoreWeights()) -> Stream:  # noqa: B008
    stream = Stream(weights=weights)
    for entry, vector in pairs:
        stream.append(entry, vector)
    return stream


def agrees(pairs: list[tuple[Entry, Vector]], queries: Any, weights: ScoreWeights, k: int) -> None:
    """All are ranked as the reference ranks them, and the `k` best are the first `k` of all."""
    stream = stream_of(pairs, weights)
    expected = reference(pairs, queries, NOW, weights)
    found = stream.search(queries, now=NOW)
    assert [f.score for f in found] == pytest.approx([score for _, score in expected], abs=2e-9)
    assert [f.entry.id for f in found] == [id for id, _ in expected]
    assert stream.search(queries, now=NOW, k=k) == found[:k]


@given(
    memories(st.one_of(st.none(), VECTORS)),
    st.lists(VECTORS, min_size=1, max_size=5),
    WEIGHTS,
    st.integers(1, 30),
)
def test_ranks_like_the_reference_with_and_without_vectors(
    pairs: list[tuple[Entry, Vector]], queries: list[list[int]], weights: ScoreWeights, k: int
) -> None:
    agrees(pairs, queries, weights, k)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-6])
def test_the_best_of_thousands_are_those_of_the_reference(seed: int, spread: float) -> None:
    """Also where cosines differ little."""
    draw = np.random.default_rng(seed)
    middle, queries = draw.standard_normal(32), draw.standard_normal((3, 32))
    near = (middle + spread * draw.standard_normal((1500, 32))).astype(np.float32)
    pairs: list[tuple[Entry, Vector]] = [
        (
            Entry(
                id=f"m{n}",
                time=NOW - timedelta(minutes=int(draw.integers(100_000))),
                text="…",
                importance=int(draw.integers(1, 11)),
            ),
            vector.tolist(),
        )
        for n, vector in enumerate(near)
    ]
    expected = reference(pairs, queries.tolist(), NOW, ScoreWeights())[:40]
    found = stream_of(pairs).search(queries, now=NOW, k=40)
    assert [f.entry.id for f in found] == [id for id, _ in expected]
    assert [f.score for f in found] == pytest.approx([score for _, score in expected], abs=1e-8)


@pytest.mark.parametrize("spread", [1.0, 0.03])
def test_the_best_of_full_blocks_are_those_of_the_reference(spread: float) -> None:
    """Full blocks of rows, one that still grows, and one that changed."""
    draw = np.random.default_rng(5)
    middle, queries = draw.standard_normal(16), draw.standard_normal((3, 16))
    near = (middle + spread * draw.standard_normal((8400, 16))).astype(np.float32)
    near[0] = queries[0]
    pairs: list[tuple[Entry, Vector]] = [
        (Entry(id=f"m{n}", time=NOW, text="…", importance=1 + n % 10), vector.tolist())
        for n, vector in enumerate(near)
    ]
    stream = stream_of(pairs)
    first = stream.search(queries, now=NOW, k=40)
    assert [f.score for f in first] == pytest.approx(
        [s for _, s in reference(pairs, queries.tolist(), NOW, ScoreWeights())[:40]], abs=1e-8
    )
    stream.attach("m9", queries[1])
    pairs[9] = (pairs[9][0], queries[1].astype(np.float32).tolist())
    expected = reference(pairs, queries.tolist(), NOW, ScoreWeights())[:40]
    assert [f.entry.id for f in stream.search(queries, now=NOW, k=40)] == [i for i, _ in expected]


def test_one_entry_scores_zero_and_is_found() -> None:
    pairs = [(Entry(id="only", time=NOW, text="本の話"), [1.0, 2.0])]
    (found,) = stream_of(pairs).search([[1.0, 0.0]], now=NOW, k=5)
    assert (found.entry.id, found.score) == ("only", 0.0)
    assert found.relevance.raw == pytest.approx(1 / np.sqrt(5))
    assert found.importance.raw == 5.0
    assert found.recency.raw == 1.0


def test_recent_memories_score_higher_and_decay_by_the_hour() -> None:
    pairs = [(Entry(id=f"{h}", time=NOW - timedelta(hours=h), text="…"), None) for h in (48, 1, 9)]
    found = stream_of(pairs).search(None, now=NOW)
    assert [f.entry.id for f in found] == ["1", "9", "48"]
    assert [f.recency.raw for f in found] == pytest.approx([0.995, 0.995**9, 0.995**48])
    assert [f.recency.normalised for f in found][::2] == [1.0, 0.0]


def test_equal_scores_are_ranked_by_time_then_id() -> None:
    hours = {"b": 2, "c": 2, "a": 2, "new": 1}
    pairs = [(Entry(id=i, time=NOW - timedelta(hours=h), text="…"), None) for i, h in hours.items()]
    found = stream_of(pairs, ScoreWeights(recency=0)).search(None, now=NOW)
    assert [f.entry.id for f in found] == ["new", "a", "b", "c"]
    assert {f.score for f in found} == {0.0}


def test_the_nearest_of_several_queries_counts() -> None:
    pairs = [
        (Entry(id="x", time=NOW, text="…"), [1.0, 0.0]),
        (Entry(id="y", time=NOW, text="…"), [0.0, 1.0]),
        (Entry(id="between", time=NOW, text="…"), [1.0, 1.0]),
    ]
    found = {f.entry.id: f for f in stream_of(pairs).search([[2, 0], [0, 3]], now=NOW)}
    assert found["x"].relevance.raw == found["y"].relevance.raw == 1.0
    assert found["between"].relevance.raw == pytest.approx(0.5**0.5)
    assert found["between"].relevance.normalised == 0.0


def test_only_entries_of_the_kinds_asked_for_take_part() -> None:
    stream = Stream()
    stream.append(Entry(id="said", time=NOW, text="…", importance=2))
    stream.append(Entry(id="felt", time=NOW, text="…", kind="reflection", importance=4))
    stream.append(Entry(id="known", time=NOW, text="…", kind="fact", importance=10))
    found = stream.search(None, now=NOW, kinds=("utterance", "reflection"))
    assert [(f.entry.id, f.importance.normalised) for f in found] == [("felt", 1.0), ("said", 0.0)]
    assert Stream().search(None, now=NOW) == []
    assert stream_of([(stream["known"], None)]).search(None, now=NOW, kinds=["utterance"]) == []


def test_wrong_questions_are_refused() -> None:
    stream = stream_of([(Entry(id="m", time=NOW, text="…"), [1.0, 2.0])])
    with pytest.raises(ValueError, match="2 dimensions"):
        stream.search([[1.0, 2.0, 3.0]], now=NOW)
    with pytest.raises(ValueError, match="not finite"):
        stream.search([[1.0, float("nan")]], now=NOW)
    with pytest.raises(ValueError, match="at least 1"):
        stream.search(None, now=NOW, k=0)
    with pytest.raises(ValueError, match="time zone"):
        stream.search(None, now=NOW.replace(tzinfo=UTC))
