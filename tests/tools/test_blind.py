"""tools/blind.py: sheets hide what they must, labels are read strictly, figures by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkout import tool
from naisei.clarify.data import Dataset, load

BLIND = tool("blind")


def row(name: str, scene: str, utterance: str, gold: int, plausible: list[int]) -> dict[str, Any]:
    return {
        **{"id": name, "scene": scene, "utterance": utterance, "gold": gold},
        **{"plausible": plausible, "speaker": "elder", "ambiguity": "reference"},
        **{"user": {"place": "居間"}, "surroundings": {"台所": ["コップ"]}},
    }


ROWS = [
    row("s1-1", "s1", "のどが渇いた", 3, [3, 6]),
    row("s1-2", "s1", "のどが渇いた", 6, [3, 6]),
    row("s1-3", "s1", "手が汚れた", 10, [10]),
    row("s2-1", "s2", "じゃまだな", 11, [11, 12, 15]),
]
KEY = {"items": {"x001": ["s2-1"], "x002": ["s1-1", "s1-2"], "x003": ["s1-3"]}}
ONE = [
    {"id": "x001", "marks": [12, 11], "best": 12},
    {"id": "x002", "marks": [6], "best": 6, "note": "水も？"},
    {"id": "x003", "marks": [25], "best": 25},
]
TWO = [
    {"id": "x003", "marks": [10, 25], "best": 10},
    {"id": "x002", "marks": [6, 23], "best": 6},
    {"id": "x001", "marks": [11], "best": 11},
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


@pytest.fixture
def key(tmp_path: Path) -> Path:
    (tmp_path / "key.json").write_text(json.dumps(KEY), "utf-8")
    return tmp_path / "key.json"


def test_a_drawn_sheet_shows_words_and_context_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "deep" / "blind"
    assert BLIND.main(["draw", "--seed", "7", "--n", "20", "--out", str(out)]) == 0
    key = json.loads((tmp_path / "deep" / "blind.key.json").read_text("utf-8"))
    drawn = [i for ids in key["items"].values() for i in ids]
    assert len(drawn) == len(set(drawn)) == 20
    assert list(key["items"]) == [f"x{n:03}" for n in range(1, len(key["items"]) + 1)]
    assert [f.name for f in out.iterdir()] == ["sheet.txt"], "the key lies elsewhere"
    sheet = (out / "sheet.txt").read_text("utf-8")
    all_of = {i.id: i for i in load("ambigact40-open:all").instances}
    for ids in key["items"].values():
        assert sheet.count(all_of[ids[0]].scene.utterance) == 1
        assert all_of[ids[0]].scene.user.posture in sheet
        assert len({(all_of[i].scene_id, all_of[i].scene.utterance) for i in ids}) == 1
    assert "40 水筒を棚にしまう" in sheet
    for hidden in (*drawn, *(all_of[i].ambiguity for i in drawn)):
        assert hidden not in sheet


def test_figures_by_hand(data: Dataset, key: Path, write: Write) -> None:
    items = BLIND.read_key(key, data)
    one = BLIND.read_labels(write("one.jsonl", ONE), items, data.actions.ids)
    value = {m.name: (m.value, m.n) for m in BLIND.of_labeller(items, one)}
    assert value == {
        "gold among the marks": (2 / 4, 4),  # s2-1 and s1-2
        "another plausible action among the marks (scenes with several)": (2 / 3, 3),
        "best guess is the gold": (1 / 4, 4),
        "best guess is plausible": (3 / 4, 4),
        "precision, micro": (3 / 4, 4),
        "precision, by item": (pytest.approx(2 / 3), 3),
        "recall, micro": (3 / 6, 6),
        "recall, by item": (pytest.approx((2 / 3 + 1 / 2 + 0) / 3), 3),
    }


def test_what_is_disputed(data: Dataset, key: Path, write: Write) -> None:
    items = BLIND.read_key(key, data)
    labels = [
        BLIND.read_labels(write(f"{n}.jsonl", rows), items, data.actions.ids)
        for n, rows in enumerate((ONE, TWO))
    ]
    found = BLIND.disputed(items, labels)
    assert found.golds == ("s1-1",)
    assert found.unmarked == {"s2-1": (15,), "s1-1, s1-2": (3,)}
    assert found.added == {"s1-3": (25,)}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*ONE, {"id": "x009", "marks": [1], "best": 1}], "bad.jsonl:4: unknown id 'x009'"),
        ([*ONE, ONE[0]], "bad.jsonl:4: x001 comes twice"),
        (ONE[:1], "2 items have no label: x002, x003"),
        ([{"id": "x001", "marks": [41], "best": 41}], "marks is [41]"),
        ([{"id": "x001", "marks": "3", "best": 3}], "marks is '3'"),
        ([{"id": "x001", "marks": [True], "best": True}], "marks is [True]"),
        ([{"id": "x001", "marks": [3, 3], "best": 3}], "marked twice"),
        ([{"id": "x001", "marks": [3], "best": 6}], "best is 6"),
        ([{"id": "x001", "marks": [3]}], "best is None"),
        ([{"id": "x001", "marks": [], "best": 6}], "best is 6"),
        ([{"id": ["x001"], "marks": [], "best": 6}], "unknown id \"['x001']\""),
    ],
)
def test_labels_that_cannot_be_scored(
    rows: list[dict[str, Any]],
    said: str,
    data: Dataset,
    key: Path,
    write: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = str(tmp_path / "rows.jsonl")
    bad = str(write("bad.jsonl", rows))
    assert BLIND.main(["--data", source, "score", str(key), bad]) == 2
    assert said in capsys.readouterr().err
