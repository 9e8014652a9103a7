"""What is made of a model's numbers: used, mended on record, or refused, and never a zero."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from commandline import Naisei
from naisei.relationship.vector import (
    DIMENSIONS,
    RelationVector,
    VectorReply,
    degree,
    faded,
    scale,
)
from relationship.speakers import brain
from relationship.test_run import flags as run_flags
from servers.openai_server import OpenAIServer

Serve = Callable[..., OpenAIServer]


def reply(power: Any) -> VectorReply:
    return VectorReply.model_validate({"Power": power, "Intimacy": -1, "TaskOriented": 0})


@pytest.mark.parametrize(
    ("given", "used", "why"),
    [
        (2, 2, ""),
        (-3, -3, ""),
        (2.0, 2, ""),
        (1.4, 1, "rounded"),
        (-1.5, -2, "rounded"),
        ("+2", 2, "read from text"),
        ("２", 2, "read from text"),
        ("−1", -1, "read from text"),
        ("±0", 0, "read from text"),
        ("1.4", 1, "read from text, rounded"),
        ("2 (やや優位)", 2, "read from text"),
    ],
)
def test_a_number_is_used_or_mended_on_record(given: Any, used: int, why: str) -> None:
    reading = reply(given).read()
    assert reading.vector is not None and reading.vector.values == (used, -1, 0)
    assert [(r.dimension, r.raw, r.used, r.why) for r in reading.repairs] == (
        [("Power", given, used, why)] if why else []
    )


@pytest.mark.parametrize(
    "given",
    [
        *("high", "", "高い", "1e9", "2 or 3", None, True, [], {}, math.nan, math.inf, "±2"),
        *(7, -(10**30), 3.6, "9", "4/7"),
    ],
)
def test_what_is_no_number_of_the_scale_is_refused_and_never_moved(given: Any) -> None:
    with pytest.raises(ValidationError):
        reply(given)


@pytest.mark.parametrize("missing", DIMENSIONS)
def test_no_number_may_be_missing(missing: str) -> None:
    with pytest.raises(ValidationError, match=missing):
        VectorReply.model_validate({name: 1 for name in DIMENSIONS if name != missing})


@given(st.one_of(st.integers(-3, 3), st.floats(-3, 3)))
@example(24_262_689_866_854_436 / 2**54)
def test_every_number_of_the_scale_is_read_as_its_nearest(given: float) -> None:
    found = reply(given)
    vector = found.read().vector
    assert vector is not None and -3 <= vector.Power <= 3
    away = [abs(step - Fraction(given)) for step in range(-3, 4)]
    assert away[vector.Power + 3] == min(away)
    again = VectorReply.model_validate_json(found.model_dump_json())
    assert again.read() == found.read()


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        ('{"Power": "high", "Intimacy": 1, "TaskOriented": 0}', 2),
        ("2, 1, 0", 2),
        ("", None),
    ],
)
def test_a_malformed_vector_is_asked_for_once_more_and_then_no_reading(
    openai_server: Serve, naisei: Naisei, tmp_path: Path, answer: str, calls: int | None
) -> None:
    def bad(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
        return answer if vectors(messages) else brain(messages, schema)

    server = openai_server(bad)
    done = naisei(*flags(server, tmp_path / "run", 3))
    assert done.code == 0, done.err
    metrics = done.result["metrics"]
    assert metrics["reading_failures"] == 1.0 and metrics["injected_rate"] == 0.0
    assert metrics["Power.a_to_b"] is None and done.result["reasons"]["Power.a_to_b"]
    turns = exported(tmp_path / "run")
    assert [t["turn"] for t in turns] == [0, 1, 2]
    for turn in turns:
        assert turn["rr"]["a_to_b"] is None and turn["rr"]["b_to_a"] is None
        assert turn["injected"] is False
        for who in turn["rr"]["by_speaker"].values():
            assert who["vector"] is None and who["failure"]
    told = [r for r in server.requests if "【相手への今の態度】" in r["messages"][-1]["content"]]
    assert told == []
    if calls is not None:
        asked = [r for r in server.requests if vectors(r["messages"])]
        assert len(asked) == calls * 4, "asked and repaired once, no more"


def test_a_vector_that_is_mended_is_used_and_its_repair_is_kept(
    openai_server: Serve, naisei: Naisei, tmp_path: Path
) -> None:
    def odd(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
        if vectors(messages):
            return '{"Power": 2.6, "Intimacy": "+1", "TaskOriented": -1.2}'
        return brain(messages, schema)

    server = openai_server(odd)
    done = naisei(*flags(server, tmp_path / "run", 2))
    assert done.result["metrics"]["repaired_readings"] == 1.0
    assert done.result["metrics"]["reading_failures"] == 0.0
    turn = exported(tmp_path / "run")[0]
    assert turn["rr"]["b_to_a"] == {"Power": 3, "Intimacy": 1, "TaskOriented": -1}
    (one, two, three) = turn["rr"]["by_speaker"]["三浦 拓海"]["repairs"]
    assert (one["raw"], one["used"], two["raw"], three["raw"]) == (2.6, 3, "+1", -1.2)


def test_questions_that_fail_leave_no_reading_and_ask_for_no_vector(
    openai_server: Serve, naisei: Naisei, tmp_path: Path
) -> None:
    def two(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
        asked = schema is not None and "問いを" in json.dumps(messages, ensure_ascii=False)
        return '["ひとつ？", "ふたつ？"]' if asked else brain(messages, schema)

    server = openai_server(two)
    done = naisei(*flags(server, tmp_path / "run", 2))
    assert done.code == 0 and done.result["metrics"]["reading_failures"] == 1.0
    assert not any(vectors(r["messages"]) for r in server.requests)
    turn = exported(tmp_path / "run")[0]
    assert "three questions" in turn["rr"]["by_speaker"]["倉田 美和"]["failure"]


def vectors(messages: list[dict[str, Any]]) -> bool:
    return "3つの面で読み取ります" in messages[0]["content"]


def flags(server: OpenAIServer, run: Path, turns: int) -> list[str]:
    every = "--relationship-reflection-every-turn"
    return run_flags(server, run, every, "--sessions", 1, "--turns", turns)


def exported(run: Path) -> list[Any]:
    agent = json.loads((run / "agent_a.json").read_text("utf-8"))
    turns: list[Any] = agent["session_1_relationship_reflection_turns"]
    return turns


def test_a_number_comes_with_its_evidence_and_a_sentence() -> None:
    given = {
        name: {"evidence": [2, 1, 2, 9], "reason": "断られた\nから。 ", "value": "+1"}
        for name in DIMENSIONS
    }
    reading = VectorReply.model_validate(given).read(("D1:1", "D1:2"))
    assert reading.vector is not None and reading.vector.values == (1, 1, 1)
    first = reading.reasons[0]
    assert (first.dimension, first.text) == ("Power", "断られた から。")
    assert first.evidence == ("D1:2", "D1:1") and first.unknown == (9,)
    assert len(reading.repairs) == 3


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_seven_words_are_those_of_every_place(language: str) -> None:
    for name in DIMENSIONS:
        words = [degree(name, value, language) for value in range(-3, 4)]
        assert len(set(words)) == 7
        assert all(f"{v} {word}" in scale(name, language) for v, word in enumerate(words, -3))


def test_what_was_read_fades_to_the_base_each_dimension_at_its_own_pace() -> None:
    vector = RelationVector(Power=-2, Intimacy=2, TaskOriented=3)
    base = RelationVector(Power=-2, Intimacy=0, TaskOriented=0)
    half = {"Power": 180.0, "Intimacy": 60.0, "TaskOriented": 1.0}
    assert faded(vector, base, 0, half) == vector
    assert faded(vector, base, 1 / 24, half) == vector
    assert faded(vector, base, 7, half).values == (-2, 2, 0)
    assert faded(vector, base, 60, half).values == (-2, 1, 0)
    assert faded(vector, base, 10_000, half) == base
