"""What a stream keeps, and what it refuses."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from naisei.memory.stream import Entry, Stream, evidence

NOW = datetime(2026, 4, 1, 12, 0)


def entry(n: int, **more: Any) -> Entry:
    return Entry(**{"id": f"m{n}", "time": NOW + timedelta(minutes=n), "text": f"話{n}", **more})


def test_entries_come_back_as_they_were_given() -> None:
    given = [
        entry(0, speaker="高橋 さおり", importance=10, source={"session": 1, "turn": 0}),
        entry(1, kind="reflection", source=["x", 1, None]),
        entry(2, kind="fact"),
    ]
    stream = Stream()
    for one in given:
        stream.append(one)
    assert list(stream) == given
    assert stream["m1"] == given[1]
    assert len(stream) == 3
    assert "m2" in stream
    assert "m3" not in stream
    aware = entry(0, time=datetime(2026, 4, 1, tzinfo=UTC))
    other = Stream()
    other.append(aware)
    assert other["m0"].time.tzinfo is UTC


def test_the_latest_come_oldest_first() -> None:
    stream = Stream()
    for n in range(30):
        stream.append(entry(n, kind="reflection" if n % 3 == 0 else "utterance"))
    assert [e.id for e in stream.recent(3)] == ["m27", "m28", "m29"]
    assert [e.id for e in stream.recent(2, kinds=["reflection"])] == ["m24", "m27"]
    assert len(stream.recent(99)) == 30
    assert stream.recent(0) == stream.recent(5, kinds=["fact"]) == []
    with pytest.raises(ValueError, match="negative"):
        stream.recent(-1)


def test_vectors_may_come_later_over_many_blocks() -> None:
    stream, draw = Stream(), np.random.default_rng(0)
    vectors = draw.standard_normal((5000, 4))
    for n in range(5000):
        stream.append(entry(n), vectors[n] if n % 2 else None)
    assert [e.id for e in stream.without_vectors()[:2]] == ["m0", "m2"]
    for one in stream.without_vectors():
        stream.attach(one.id, vectors[int(one.id[1:])])
    assert stream.without_vectors() == []
    for n in (0, 2047, 2048, 4095, 4096, 4999):
        found = {f.entry.id: f.relevance.raw for f in stream.search(vectors[[n]], now=NOW)}
        assert found[f"m{n}"] == pytest.approx(1.0)
        assert max(found.values(), key=lambda v: v or 0.0) == found[f"m{n}"]


def test_importance_is_set_later() -> None:
    stream = Stream()
    stream.append(entry(0))
    stream.rate("m0", 9)
    assert stream["m0"].importance == 9
    for wrong in (0, 11, True):
        with pytest.raises(ValueError, match="1 to 10"):
            stream.rate("m0", wrong)
    with pytest.raises(KeyError):
        stream.rate("m1", 5)


def test_what_does_not_fit_is_refused_and_leaves_no_trace() -> None:
    stream = Stream()
    stream.append(entry(0), [1.0, 2.0])
    for wrong, vector, message in (
        (entry(0), None, "already has"),
        (entry(1, time=datetime(2026, 4, 1, tzinfo=UTC)), None, "time zone"),
        (entry(1), [1.0], "2 dimensions"),
        (entry(1), [[1.0, 2.0]], "shape"),
        (entry(1), [0.0, 0.0], "length"),
        (entry(1), [float("inf"), 0.0], "finite"),
    ):
        with pytest.raises(ValueError, match=message):
            stream.append(wrong, vector)
    assert len(stream) == 1
    stream.append(entry(1), [2.0, 1.0])
    assert [f.entry.id for f in stream.search([[1.0, 0.0]], now=NOW)] == ["m1", "m0"]
    for wrong_entry in ({"importance": 0}, {"importance": 11}, {"kind": "x"}, {"id": ""}):
        with pytest.raises(ValidationError):
            entry(0, **wrong_entry)


def _found(*texts: str) -> list[Any]:
    stream = Stream()
    for n, text in enumerate(texts):
        stream.append(entry(-n, id=f"m{n}", text=text, speaker="田中"))
    return stream.search(None, now=NOW)


def test_evidence_is_numbered_in_the_order_of_time_and_knows_its_ids() -> None:
    block = evidence(_found("おはよう\nございます", "本の話"))
    assert block.lines == ("1. [田中] 本の話", "2. [田中] おはよう ございます")
    assert block.ids == ("m1", "m0")
    assert block.text == "1. [田中] 本の話\n2. [田中] おはよう ございます"
    assert evidence([]).text == ""


@pytest.mark.parametrize("limit", [20, 21, 22, 60, 2200])
def test_evidence_ends_before_the_limit(limit: int) -> None:
    found = _found(*("あ" * n for n in (5, 30, 1, 200)))
    block = evidence(found, limit=limit)
    assert len(block.text) <= limit
    longer = evidence(found, limit=10_000)
    n = len(block.lines)
    assert set(block.ids) == {one.entry.id for one in found[:n]}, "the best of them"
    if n < len(longer.lines):
        assert len(block.text) + len(f"\n{n + 1}. {found[n].entry.line}") > limit


def test_a_first_line_longer_than_the_limit_is_cut() -> None:
    block = evidence(_found("あ" * 100, "い"), limit=20)
    assert block.text == "1. [田中] " + "あ" * 11 + "…"
    assert (len(block.text), block.ids) == (20, ("m0",))
