"""tools/readers.py: sheets show one part alone, guesses are read strictly, figures by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkout import tool
from naisei.clarify.data import Dataset, load

READERS = tool("readers")


def row(name: str, scene: str, utterance: str, gold: int, plausible: list[int]) -> dict[str, Any]:
    return {
        **{"id": name, "scene": scene, "utterance": utterance, "gold": gold},
        **{"plausible": plausible, "speaker": "elder", "user": {"place": "居間"}},
        "surroundings": {"台所": [f"{scene}のコップ"]},
    }


ROWS = [
    row("s1-1", "s1", "のどが渇いた", 3, [3, 6]),
    row("s1-2", "s1", "のどが渇いた", 6, [3, 6]),
    row("s1-3", "s1", "手が汚れた", 10, [10]),
    row("s2-1", "s2", "じゃまだな", 11, [11, 12]),
]

Write = Callable[[str, list[dict[str, Any]]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def jsonl(name: str, rows: list[dict[str, Any]]) -> Path:
        (tmp_path / name).write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
        return tmp_path / name

    return jsonl


@pytest.fixture
def data(write: Write) -> Dataset:
    return load(write("rows.jsonl", ROWS))


def test_a_sheet_shows_its_part_and_nothing_else(data: Dataset) -> None:
    key = READERS.draw(data, "utterance", 1)
    assert sorted(map(sorted, key.values())) == [["s1-1", "s1-2"], ["s1-3"], ["s2-1"]]
    said = READERS.sheet(data, key, "utterance")
    assert said.count("のどが渇いた") == 1
    assert not any(word in said for word in ("s1", "s2-1", "居間", "台所"))
    seen = READERS.sheet(data, READERS.draw(data, "surroundings", 1), "surroundings")
    assert seen.count("s1のコップ") == 1
    assert not any(word in seen for word in ("渇いた", "じゃま", "居間"))


def test_top_1_and_top_3_count_instances(data: Dataset) -> None:
    key = {"x1": ["s1-1", "s1-2"], "x2": ["s1-3"], "x3": ["s2-1", "gone"]}
    guesses = {"x1": [3, 6], "x2": [25, 10, 3], "x3": [12]}
    rows = {
        name: (one.value, three.value) for name, one, three in READERS.score(data, key, guesses)
    }
    assert rows == {"all (4)": (0.25, 0.75), "one plausible (1)": (0.0, 1.0),
                    "several (3)": (1 / 3, 2 / 3)}  # fmt: skip
