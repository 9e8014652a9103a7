"""Households: what is remembered of one request helps in the next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from naisei.clarify.config import HouseholdsConfig
from naisei.clarify.households.data import load_homes
from naisei.clarify.households.memory import LINES, NAMES, RECALLED, WINDOW, home_memory
from naisei.clarify.schemas import Past
from naisei.clarify.system import HOUSEHOLDS
from naisei.core import InputError
from naisei.system.execute import RunOptions

FACTS = {
    "first": "さっぱりしたくてな。",
    "why": "風呂のあとは、いつもきゅっとやるんだ。",
    "what_for": "氷を入れて飲むんだ。",
    "state": "湯上がりでほてってる。",
    "whom": "自分のだよ。",
    "name": "透きとおったやつ",
    "not": {"3": "それじゃ気分が出ない。", "6": "ぬるいのは好かん。", "7": "いまは何も見ない。"},
    "true": ["風呂あがりだ", "氷を入れたい", "冷たいのがいい", "ほてっている"],
    "false": ["テレビを見たい", "お腹がすいている", "片付けたい", "出かけるところだ"],
}


def _request(n: int, utterance: str, wanted: int = 23, person: str = "父") -> dict[str, Any]:
    return {
        "n": n,
        "day": n,
        "person": person,
        "utterance": utterance,
        "user": {"name": person, "place": "居間", "posture": "首にタオルを掛けている"},
        "surroundings": {
            "キッチン": ["棚のグラス", "棚のコップ", "ペットボトルの水"],
            "居間": ["床のリモコン"],
        },
        "plausible": [3, 6, 7, 23],
        "wanted": [wanted],
        "habit": 1,
        "facts": FACTS,
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    said = ["ふう、いい湯だった。", "やれやれ、生き返った。", "さて、と。", "ああ、ほかほかだ。"]
    home = {
        "household": "t1",
        "people": [{"name": "父", "speaker": "elder"}],
        "requests": [_request(n, text) for n, text in enumerate(said, start=1)],
    }
    path = tmp_path / "homes.jsonl"
    path.write_text(json.dumps(home, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _past(n: int, person: str = "父", right: int = 23) -> Past:
    return Past(n=n, day=n, person=person, situation=f"夜、居間「{n}」", right=(right,))


def test_each_memory_keeps_what_its_policy_says() -> None:
    kept = {}
    for name in NAMES:
        memory = home_memory(name)
        for n in range(1, 21):
            memory.add(_past(n, right=1 + n % 15).model_dump(mode="json"))
        kept[name] = memory.recall("朝、居間「暑い」", None, n=21, day=21)
    assert {name: len(past) for name, past in kept.items()} == {
        "none": 0,
        "reflexion": WINDOW,
        "tur": LINES,
        "stream": RECALLED,
    }
    memo = home_memory("tur")
    for n in (1, 2):
        memo.add(_past(n).model_dump(mode="json"))
    assert [p.n for p in memo.recall("", None, n=3, day=3)] == [2]
    with pytest.raises(InputError):
        home_memory("elephant")


@pytest.mark.parametrize("memory", ["reflexion", "tur", "stream"])
def test_a_habit_learnt_once_is_known_the_next_time(
    data: Path, tmp_path: Path, memory: str
) -> None:
    found = {}
    for policy in ("none", memory):
        config = HouseholdsConfig(data=str(data), agent="bayes", memory=policy, embedder="ngram")
        done = HOUSEHOLDS.run(config, RunOptions(quiet=True), run_dir=tmp_path / policy)
        found[policy] = {m.name: m.value for m in done.summary.metrics}
        curve = done.summary.tables[0]
        assert [row[0] for row in curve.rows] == [1, 2, 3, 4]
    spent = {p: m["questions"] + m["wrong_acts"] for p, m in found.items()}
    assert spent[memory] < spent["none"]
    assert found[memory]["score_known_habit"] > found["none"]["score_known_habit"]


def test_a_broken_household_is_told(tmp_path: Path) -> None:
    path = tmp_path / "homes.jsonl"
    path.write_text('{"household": "x", "people": []}\n', encoding="utf-8")
    with pytest.raises(InputError, match="requests"):
        load_homes(str(path))
    with pytest.raises(InputError):
        load_homes(str(tmp_path / "none.jsonl"))
