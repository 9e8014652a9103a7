"""The labelled dialogues: the bundled ones keep what the card promises, the loader is strict."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tools.labelled import (
    LabelledDialogue,
    load,
    load_contrasts,
    read_labelled,
)

from naisei.core import InputError

TUNE, TEST = load("tune"), load("test")
ALL = (*TUNE, *TEST)


def vector(power: object = 1, intimacy: object = 0, task: object = -3) -> dict[str, Any]:
    return {"Power": power, "Intimacy": intimacy, "TaskOriented": task}


def record(**changes: Any) -> dict[str, Any]:
    return {
        "id": "d1",
        "relationship": "service",
        "setting": "shop",
        "topic": "task",
        "speakers": [{"id": "A", "name": "林"}, {"id": "B", "name": "ユリ"}],
        "turns": [{"speaker": "A", "text": "いかがですか。"}, {"speaker": "B", "text": "これを。"}],
        "labels": {"a_to_b": vector(-1), "b_to_a": vector(2)},
        "asymmetric": True,
    } | changes


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), "utf-8")
    return path


def test_sizes_and_disjoint_splits() -> None:
    assert len(TUNE) >= 70
    assert len(TEST) >= 80
    assert len({d.id for d in ALL}) == len(ALL) >= 150


def test_no_dialogue_and_no_line_of_the_test_half_is_in_the_tuning_half() -> None:
    def long_lines(dialogues: tuple[LabelledDialogue, ...]) -> set[str]:
        return {t.text for d in dialogues for t in d.turns if len(t.text) > 8}

    assert not long_lines(TUNE) & long_lines(TEST)


def test_clearly_asymmetric_is_three_points_and_either_side_may_be_above() -> None:
    gaps = {d.id: d.labels.a_to_b.Power - d.labels.b_to_a.Power for d in ALL}
    assert {d.id for d in ALL if d.asymmetric} == {i for i, gap in gaps.items() if abs(gap) >= 3}
    for half in (TUNE, TEST):
        above = Counter(gaps[d.id] > 0 for d in half if d.asymmetric)
        assert min(above.values()) >= 0.25 * above.total()


def test_power_cannot_be_read_off_polite_endings_alone() -> None:
    """Where power is clearly unequal, the lower side is often no more polite than the upper."""

    def polite(d: LabelledDialogue, side: str) -> float:
        own = [t.text for t in d.turns if t.speaker == side]
        return sum("です" in t or "ます" in t or "ました" in t for t in own) / len(own)

    clear = [d for d in ALL if d.asymmetric]
    told = [
        (polite(d, "B") - polite(d, "A")) * (d.labels.a_to_b.Power - d.labels.b_to_a.Power) > 0
        for d in clear
    ]
    assert 0.4 < sum(told) / len(told) < 0.85


def test_a_file_of_ones_own_is_read(tmp_path: Path) -> None:
    (one,) = read_labelled(write(tmp_path / "own.jsonl", record()))
    assert one.text == "林: いかがですか。\nユリ: これを。"
    assert one.labels.b_to_a.values == (2, 0, -3)
    assert one.asymmetric


def _labels(value: object) -> dict[str, Any]:
    return record(labels={"a_to_b": vector(value), "b_to_a": vector(2)})


def _without(key: str) -> dict[str, Any]:
    return {k: v for k, v in record().items() if k != key}


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (lambda: _labels("high"), "labels.a_to_b.Power"),
        (lambda: _labels(7), "labels.a_to_b.Power"),
        (lambda: record(labels={"a_to_b": {"Power": 1}, "b_to_a": vector()}), "a_to_b.Intimacy"),
        (lambda: _without("turns"), "turns"),
        (lambda: record(relationship="enemies"), "relationship"),
        (lambda: record(mood="bad"), "mood"),
        (lambda: record(labels={"a_to_b": vector(1), "b_to_a": vector(1)}), "Power is the same"),
        (lambda: record(turns=[{"speaker": "A", "text": "あ"}] * 3), "speaker B says nothing"),
        (lambda: record(turns=[{"speaker": "C", "text": "あ"}] * 3), "turns.0.speaker"),
        (lambda: record(speakers=[{"id": "A", "name": "林"}] * 2), "not A and B"),
        (
            lambda: record(speakers=[{"id": "A", "name": "林"}, {"id": "B", "name": "林"}]),
            "both speakers are called",
        ),
        (lambda: ["no object"], "an object is wanted"),
    ],
)
def test_a_bad_record_is_refused_with_its_line(
    tmp_path: Path, bad: Callable[[], Any], told: str
) -> None:
    path = write(tmp_path / "own.jsonl", record(id="d0"), bad())
    with pytest.raises(InputError) as caught:
        read_labelled(path)
    assert told in str(caught.value)
    assert f"{path}:2" in str(caught.value)


def test_an_id_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "own.jsonl", record(), record())
    with pytest.raises(InputError, match=r"own\.jsonl:2: the id d1 came before"):
        read_labelled(path)


def test_a_missing_file_and_an_unknown_split_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        read_labelled(tmp_path / "nowhere.jsonl")
    with pytest.raises(InputError, match="use tune or test"):
        load("train")  # type: ignore[arg-type]


def test_dialogues_that_hide_the_attitude_have_two_readers_and_a_median() -> None:
    both = [*load_contrasts("dev"), *load_contrasts("test")]
    assert len({d.id for d in both}) == len(both) == 120
    assert sum(bool(d.contrast) for d in both) >= 60
    first = both[0]
    known = first.known("a_to_b")
    given = [first.labels.a_to_b.Power, *(r.a_to_b.Power for r in first.readers)]
    assert known["Power"] == sorted(given)[1]
