"""ARTA: rows of our own wording in its shape, and the corpus itself where it is at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from naisei.clarify.data import load
from naisei.core import InputError

CORPUS = Path(__file__).parents[3] / "shared" / "data" / "arta"


def row(idx: int, category: str, function: str = "スポット検索", **more: Any) -> dict[str, Any]:
    return {
        "idx": idx,
        "utterance": f"自作の発話その{idx}、どうしよう。",
        "response": f"周辺の{category}を検索しましょうか？",
        "category": category,
        "function": function,
        **more,
    }


ROWS = [
    *(row(n, "桜", multilabel=["カレー", "公園"]) for n in range(40)),
    row(50, "カレー", "レストラン検索"),
    row(51, "電話", "アプリ起動", response="〇〇さんに電話を発信しましょうか？"),
    row(52, "公園", multilabel=[]),
    row(53, "翻訳", "アプリ起動", response="翻訳を起動しましょうか？"),
]


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in rows), "utf-8")
    return f"arta:{path}"


def test_actions_are_sorted_and_read_naturally(tmp_path: Path) -> None:
    actions = load(write(tmp_path / "a.jsonl", ROWS), split="all").actions
    assert [(a.id, a.text) for a in actions] == [
        (1, "周辺のカレーの店を検索する"),
        (2, "周辺の公園を検索する"),
        (3, "周辺の桜の名所を検索する"),
        (4, "翻訳を起動する"),
        (5, "電話をかける"),
    ]


def test_the_intent_is_one_of_the_accepted(tmp_path: Path) -> None:
    data = load(write(tmp_path / "a.jsonl", ROWS), split="all")
    drawn = [i for i in data.instances if i.plausible == (1, 2, 3)]
    assert len(drawn) == 40
    assert {i.gold for i in drawn} == {1, 2, 3}
    single = next(i for i in data.instances if i.id == "arta-52")
    assert (single.gold, single.plausible) == (2, (2,))
    assert "5" not in data.notes[0]
    assert "4 of 44" in data.notes[1]


def test_the_draw_depends_on_seed_and_row_alone(tmp_path: Path) -> None:
    def golds(rows: list[dict[str, Any]], **options: Any) -> dict[str, int]:
        data = load(write(tmp_path / "a.jsonl", rows), split="all", **options)
        return {i.id: i.gold for i in data.instances}

    first = golds(ROWS)
    assert golds(ROWS[::-1]) == first
    assert golds(ROWS, limit=12).items() <= first.items()
    assert golds(ROWS, seed=1) != first


def test_splits_are_a_partition_by_utterance(tmp_path: Path) -> None:
    rows = [*ROWS, row(60, "公園") | {"utterance": ROWS[0]["utterance"]}]
    source = write(tmp_path / "a.jsonl", rows)
    parts = {s: load(source, split=s) for s in ("train", "dev", "test")}
    ids = [i.id for d in parts.values() for i in d.instances]
    assert sorted(ids) == sorted(i.id for i in load(source, split="all").instances)
    assert load(source).digest == parts["test"].digest
    assert len({d.actions for d in parts.values()}) == 1
    home = {i.id: i.split for i in load(source, split="all").instances}
    assert home["arta-0"] == home["arta-60"]


def test_a_folder_of_files_is_read_whole(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", ROWS[:30])
    write(tmp_path / "b.jsonl", ROWS[30:])
    assert len(load(f"arta:{tmp_path}", split="all")) == len(ROWS)


def test_other_actions_are_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", ROWS)
    with pytest.raises(InputError) as refused:
        load(source, actions=tmp_path / "mine.jsonl")
    assert "--actions" in str(refused.value)


@pytest.mark.parametrize(
    ("bad", "line", "words"),
    [
        ({"category": "桜"}, 45, "'utterance' is missing"),
        ({"utterance": "花見がしたい"}, 45, "'category' is missing"),
        (row(70, "桜", multilabel="公園"), 45, "'multilabel' is wrong"),
        (row(3, "桜"), 45, "'arta-3' comes twice"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, bad: dict[str, Any], line: int, words: str) -> None:
    source = write(tmp_path / "a.jsonl", [*ROWS, bad])
    with pytest.raises(InputError) as caught:
        load(source)
    assert caught.value.place == f"{tmp_path / 'a.jsonl'}:{line}"
    assert words in caught.value.message


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the ARTA corpus is not here")
def test_the_corpus() -> None:
    data = load(f"arta:{CORPUS}", split="all")
    assert len(data.actions) == 70
    assert len(data) == 1400
    assert all(i.gold in i.plausible for i in data.instances)
    assert not any("〇" in a.text for a in data.actions)
    assert 0.5 < len(load(f"arta:{CORPUS}")) / 1400 < 0.7
