"""Data and actions: from files, folders and names; what is refused is named with its line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import both_languages
from naisei.clarify.data import load, load_actions
from naisei.core import InputError
from naisei.lang import speaking

ROW: dict[str, Any] = {"utterance": "のどがかわいた", "gold": 3}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in rows) + "\n", "utf-8")
    return path


def refused(source: Path | str, **options: Any) -> InputError:
    error = both_languages.refused(lambda: load(str(source), **options))
    assert error.place
    assert error.remedy
    assert "\n" not in str(error)
    return error


def test_a_row_needs_only_utterance_and_gold(tmp_path: Path) -> None:
    data = load(write(tmp_path / "mine.jsonl", ROW, ROW | {"gold": "コップを片付ける。"}))
    assert [(i.id, i.gold) for i in data.instances] == [("mine-1", 3), ("mine-2", 12)]
    assert data.name == "mine.jsonl"
    assert data.actions.name == "ambigact40"


def test_a_full_row(tmp_path: Path) -> None:
    row = ROW | {
        "id": 7,
        "scene": "s",
        "user": {"place": "居間", "holding": ["本"], "reach": "眼鏡、茶", "posture": "眠い"},
        "surroundings": {"台所": "鍋、コップ", "居間": ["机"], "庭": None},
        "plausible": [6, "コップを持ってくる"],
        "ambiguity": "situation_only",
        "speaker": "child",
        "split": "dev",
    }
    one = load(write(tmp_path / "a.jsonl", row)).instances[0]
    assert (one.id, one.scene_id, one.split, one.speaker) == ("7", "s", "dev", "child")
    assert one.plausible == (3, 6)
    assert one.scene.user.holding == ("本",)
    assert one.scene.user.reach == ("眼鏡", "茶")
    assert one.scene.user.posture == "眠い"
    assert one.scene.surroundings == {"台所": ("鍋", "コップ"), "居間": ("机",), "庭": ()}


@pytest.mark.parametrize(
    ("user", "field", "value"),
    [
        ("ソファに座っている", "posture", "ソファに座っている"),
        ({"位置情報": "台所"}, "place", "台所"),
        ({"所持物": ["箸"]}, "holding", ("箸",)),
        ({"周辺物品": "皿,塩"}, "reach", ("皿", "塩")),
        ({"company": ["母"]}, "company", ("母",)),
        (None, "place", ""),
    ],
)
def test_users_come_in_many_shapes(tmp_path: Path, user: Any, field: str, value: Any) -> None:
    one = load(write(tmp_path / "a.jsonl", ROW | {"user": user})).instances[0]
    assert getattr(one.scene.user, field) == value


def test_a_byte_order_mark_blank_lines_and_crlf_do_no_harm(tmp_path: Path) -> None:
    plain = write(tmp_path / "a.jsonl", ROW)
    odd = tmp_path / "b.jsonl"
    line = json.dumps(ROW | {"id": "a-1"}).encode()
    odd.write_bytes(b"\xef\xbb\xbf\r\n" + line + b"\r\n\r\n")
    assert load(odd).digest == load(plain).digest


def test_a_json_array_is_as_good_as_jsonl(tmp_path: Path) -> None:
    rows = [ROW | {"id": str(n)} for n in range(3)]
    lines = write(tmp_path / "a.jsonl", *rows)
    array = tmp_path / "a.json"
    array.write_text(json.dumps(rows, indent=2), "utf-8")
    assert load(array).digest == load(lines).digest


def test_unknown_keys_are_noted(tmp_path: Path) -> None:
    data = load(write(tmp_path / "a.jsonl", ROW | {"surounding": {}}))
    assert data.notes == ("keys that were not read: surounding (1×)",)
    with speaking("ja"):
        assert both_languages.KANA.search(load(tmp_path / "a.jsonl").notes[0])


def test_a_folder_gives_its_test_split_unless_another_is_asked_for(tmp_path: Path) -> None:
    for name in ("train", "dev", "test"):
        write(tmp_path / f"{name}.jsonl", ROW | {"id": name})
    assert [i.id for i in load(tmp_path).instances] == ["test"]
    assert [i.id for i in load(tmp_path, split="dev").instances] == ["dev"]
    assert [i.split for i in load(tmp_path, split="all").instances] == ["train", "dev", "test"]


def test_a_file_can_hold_all_splits(tmp_path: Path) -> None:
    rows = [ROW | {"id": s, "split": s} for s in ("train", "dev", "test")]
    file = write(tmp_path / "a.jsonl", *rows)
    assert len(load(file)) == 3
    assert [i.id for i in load(file, split="train").instances] == ["train"]


def test_a_folder_may_bring_its_own_actions(tmp_path: Path) -> None:
    write(tmp_path / "actions.jsonl", {"id": 1, "text": "窓を開ける"}, {"id": 5, "text": "閉める"})
    write(tmp_path / "test.jsonl", ROW | {"gold": "窓を開ける"})
    data = load(tmp_path)
    assert data.actions.ids == (1, 5)
    assert data.instances[0].gold == 1
    assert "1 to 5" in str(refused(write(tmp_path / "other.jsonl", ROW)))


def test_english_data_gets_english_actions(tmp_path: Path) -> None:
    row = {"utterance": "I'm parched.", "gold": "Bring a cup"}
    data = load(write(tmp_path / "a.jsonl", row))
    assert data.instances[0].gold == 3
    assert data.instances[0].scene.language == "en"


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b'{"utterance": "a", "gold": 3}\n{"utterance": "b", \n', 2, "no JSON"),
        (b'{"utterance": "a", "gold": 3}\n\n["b", 3]\n', 3, "object"),
        (b'{"gold": 3}\n', 1, "'utterance' is missing"),
        (b'{"utterance": "  ", "gold": 3}\n', 1, "'utterance' is wrong"),
        (b'{"utterance": 5, "gold": 3}\n', 1, "'utterance' is wrong"),
        (b'{"utterance": "a"}\n', 1, "'gold' is missing"),
        (b'{"utterance": "a", "gold": 41}\n', 1, "unknown action 41"),
        (b'{"utterance": "a", "gold": 0}\n', 1, "unknown action 0"),
        (b'{"utterance": "a", "gold": true}\n', 1, "unknown action True"),
        (b'{"utterance": "a", "gold": "dance"}\n', 1, "unknown action 'dance'"),
        (b'{"utterance": "a", "gold": [3]}\n', 1, "unknown action"),
        (b'{"utterance": "a", "gold": 3, "plausible": [99]}\n', 1, "unknown action 99"),
        (b'{"utterance": "a", "gold": 3, "plausible": "3"}\n', 1, "'plausible' is wrong"),
        (b'{"utterance": "a", "gold": 3, "id": []}\n', 1, "'id' is wrong"),
        (b'{"utterance": "a", "gold": 3, "language": "fr"}\n', 1, "'language' is wrong"),
        (b'{"utterance": "a", "gold": 3, "user": {"mood": "b"}}\n', 1, "user.mood"),
        (b"PK\x03\x04\x00\x00\x08", 0, "no text"),
        (b"", 0, "empty"),
        (b"\xef\xbb\xbf \n\n", 0, "empty"),
        (b"[]", 0, "no instances"),
        (b'{"utterance": "\\ud800", "gold": 3}\n', 1, "surrogate"),
        (b'{"utterance": "a", "gold": 3}\n{"utterance": "\xff", "gold": 3}\n', 2, "UTF-8"),
        (b'[\n{"utterance": "a", "gold": 3}\n', 3, "no JSON"),
        (b'[{"utterance": "a", "gold": 3}] x', 1, "no JSON"),
        (b'[\n{"utterance": "a" "gold": 3}]', 2, "no JSON"),
        (b"[" * 100_000, 1, "no JSON"),
        (b'{"a":' * 100_000, 1, "no JSON"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(
    tmp_path: Path, content: bytes, line: int, words: str
) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_bytes(content)
    error = refused(file)
    assert error.place.startswith(f"{file}:{line}" if line else str(file))
    assert words in error.message


def test_a_bad_item_of_an_array_is_named_by_its_number(tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text('[{"utterance": "a", "gold": 3},\n\n{"utterance": "b"}]', "utf-8")
    error = refused(file)
    assert error.place == f"{file}#2"
    assert "'gold' is missing" in error.message


def test_an_id_that_comes_twice_names_both_places(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", ROW | {"id": "x"}, ROW, ROW | {"id": "x"})
    error = refused(file)
    assert error.place == f"{file}:3"
    assert f"{file}:1" in error.remedy


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp", "utf-16", "utf-16-le", "utf-8-sig"])
def test_files_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(json.dumps(ROW, ensure_ascii=False).encode(encoding))
    assert load(file).instances[0].scene.utterance == ROW["utterance"]


def test_nothing_there(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "absent.jsonl").message
    assert "no such file" in refused("x" * 5000).message
    (tmp_path / "notes.txt").write_text("nothing", "utf-8")
    assert "holds no data" in refused(tmp_path).message


def test_splits_that_do_not_fit(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", ROW | {"split": "test"})
    assert "its file is for 'train'" in refused(tmp_path, split="train").message
    assert "no dev.jsonl" in refused(tmp_path, split="dev").message
    assert "unknown split" in refused(tmp_path, split="tset").message
    file = write(tmp_path / "one" / "a.jsonl", ROW | {"split": "dev"})
    assert "split" in refused(file, split="test").message


def test_the_bundled_set_gives_test_by_default() -> None:
    data = load("ambigact40-open")
    assert data.name == "ambigact40-open:test"
    assert {i.split for i in data.instances} == {"test"}
    assert data.digest == load("ambigact40-open:test").digest
    assert data.digest == load("ambigact40-open", split="test").digest
    assert load("ambigact40-open:train").name == "ambigact40-open:train"
    assert len({load(f"ambigact40-open:{s}").digest for s in ("train", "dev", "test")}) == 3


def test_a_limit_draws_the_same_whatever_the_seed_and_keeps_the_order() -> None:
    everything = [i.id for i in load("ambigact40-open").instances]
    few = [i.id for i in load("ambigact40-open", limit=10, seed=1).instances]
    assert len(set(few)) == 10
    assert few == sorted(few, key=everything.index)
    assert few == [i.id for i in load("ambigact40-open", limit=10, seed=1).instances]
    assert few == [i.id for i in load("ambigact40-open", limit=10, seed=2).instances]
    assert len(load("ambigact40-open", limit=10**6)) == len(everything)


def test_the_digest_is_of_the_content(tmp_path: Path) -> None:
    a, b, c = (tmp_path / f"{n}.jsonl" for n in "abc")
    row = {"id": "1", "utterance": "水", "gold": 3}
    a.write_text(json.dumps(row), "utf-8")
    b.write_text(json.dumps(dict(reversed(row.items())), ensure_ascii=False, indent=None), "utf-8")
    c.write_text(json.dumps(row | {"gold": 6}), "utf-8")
    assert load(a).digest == load(b).digest
    assert load(a).digest != load(c).digest
    assert load(a).digest == ("cda6b20df54870c5a9c8166f2039e99a3289d9b9f46fca4dea3271e87a261777")


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        ("", {}, "no such file"),
        ("ambigact41", {}, "no such file"),
        ("nowhere:x", {}, "'nowhere' is no registered data set"),
        ("ambigact40-open:tset", {}, "unknown split 'tset'"),
        ("ambigact40-open:dev", {"split": "test"}, "two splits"),
        ("ambigact40-open-en:dev", {"split": "test"}, "two splits"),
        ("ambigact40-open-en:tset", {}, "unknown split 'tset'"),
        ("ambigact40-open", {"limit": 0}, "below 1"),
        ("arta:", {}, "path is missing"),
        ("arta:/no/such/file", {}, "no such file"),
        ("arta:.", {}, "no rows"),
    ],
)
def test_bad_sources_are_refused(
    source: str,
    options: dict[str, Any],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert words in refused(source, **options).message


def test_an_unknown_name_is_told_the_known_ones() -> None:
    known = refused("ambigact40-en").remedy.removeprefix("give a path, or one of: ").split(", ")
    assert {"ambigact40-open", "ambigact40-open-en", "arta"} <= {*known}


def test_a_source_from_outside_the_package(tmp_path: Path) -> None:
    """A package with an entry point is all it takes; seen by a fresh interpreter."""
    (tmp_path / "outside.py").write_text(
        "from naisei.clarify.data import load_actions\n"
        "from naisei.clarify.data.loader import Loaded\n"
        "from naisei.clarify.schemas import Instance, Scene\n"
        "def build(argument, *, split, seed, actions):\n"
        "    one = Instance(id='o', scene=Scene(id='o', utterance=argument), gold=3)\n"
        "    return Loaded((one,), load_actions(actions), (), split or 'test')\n",
        "utf-8",
    )
    info = tmp_path / "outside-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[naisei.datasets]\nouter = outside:build\n", "utf-8")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from naisei.clarify.data import load\n"
        "d = load('outer:hello'); print(d.name, d.instances[0].scene.utterance)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["outer:hello:test", "hello"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"id": 2, "text": "b"}\n{"id": 1, "text": "a"}\n'),
        ("a.json", '[{"id": 1, "text": "a"}, {"id": "2", "text": "b"}]'),
    ],
)
def test_actions_as_lines_and_as_an_array(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content, "utf-8")
    assert [(a.id, a.text) for a in load_actions(file)] == [(1, "a"), (2, "b")]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}\n', "id 1 comes twice"),
        ('{"id": 1, "text": "a"}\n{"id": 2, "text": "a"}\n', "'a' comes twice"),
        ('{"id": 0, "text": "a"}\n', "'id' is wrong"),
        ('{"id": true, "text": "a"}\n', "'id' is wrong"),
        ('{"text": "a"}\n{"id": 1}\n', "'id' is missing"),
        ('{"id": 1}\n{"id": 2, "text": " "}\n', "no text"),
        ('{"id": 1, "text": "a"}\n', "at least two"),
        ('{"id": 1, "text": \n', "no JSON"),
    ],
)
def test_bad_action_sets_are_refused(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(content, "utf-8")
    error = both_languages.refused(lambda: load_actions(file))
    assert words in error.message
    assert error.place.startswith(str(file)) and error.remedy


def test_a_set_given_beside_the_data_goes_first(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(
        '{"id": 9, "ja": "歌う"}\n{"id": 4, "ja": "踊る"}\n', "utf-8"
    )
    (tmp_path / "data.jsonl").write_text('{"utterance": "暇だ", "gold": 9}\n', "utf-8")
    data = load(tmp_path / "data.jsonl", actions=tmp_path / "mine.jsonl")
    assert data.actions.text(data.instances[0].gold) == "歌う"
    assert data.actions.name == "mine"
