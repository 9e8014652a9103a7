"""A user's own action set."""

from __future__ import annotations

from pathlib import Path

import pytest

from naisei.clarify.data import load, load_actions
from naisei.core import InputError


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"id": 2, "text": "b"}\n{"id": 1, "text": "a"}\n'),
        ("a.json", '[{"id": 1, "text": "a"}, {"id": "2", "text": "b"}]'),
    ],
)
def test_shapes(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content, "utf-8")
    assert [(a.id, a.text) for a in load_actions(file)] == [(1, "a"), (2, "b")]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", '{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}\n', "id 1 comes twice"),
        ("a.jsonl", '{"id": 1, "text": "a"}\n{"id": 2, "text": "a"}\n', "'a' comes twice"),
        ("a.jsonl", '{"id": 0, "text": "a"}\n', "no action id"),
        ("a.jsonl", '{"id": true, "text": "a"}\n', "no action id"),
        ("a.jsonl", '{"text": "a"}\n{"id": 1}\n', "no action id"),
        ("a.jsonl", '{"id": 1}\n{"id": 2, "text": " "}\n', "no text"),
        ("a.jsonl", '{"id": 1, "text": "a"}\n', "at least two"),
        ("a.jsonl", '{"id": 1, "text": \n', "no JSON"),
    ],
)
def test_bad_sets_are_refused(tmp_path: Path, name: str, content: str, words: str) -> None:
    file = tmp_path / name
    file.write_text(content, "utf-8")
    with pytest.raises(InputError) as caught:
        load_actions(file)
    assert words in caught.value.message
    assert caught.value.place.startswith(str(file))
    assert caught.value.remedy


def test_a_set_given_beside_the_data_goes_first(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(
        '{"id": 9, "ja": "歌う"}\n{"id": 4, "ja": "踊る"}\n', "utf-8"
    )
    (tmp_path / "data.jsonl").write_text('{"utterance": "暇だ", "gold": 9}\n', "utf-8")
    data = load(tmp_path / "data.jsonl", actions=tmp_path / "mine.jsonl")
    assert data.actions.text(data.instances[0].gold) == "歌う"
    assert data.actions.name == "mine"
