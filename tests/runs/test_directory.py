"""Run directories: made whole or not at all, continued, refused with the difference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from naisei.core import InputError
from naisei.runs.directory import RunDirectory
from naisei.runs.frozen import Frozen, default_path, named_path


def test_what_is_frozen(tmp_path: Path, toy: Any) -> None:
    with RunDirectory.of(toy.Toy(), tmp_path / "r") as directory:
        assert directory.fresh
    data = json.loads((tmp_path / "r/config.json").read_text())
    assert data["config"] == {"n": 4, "flavour": "plain", "nested": {"ks": [1, 3]}}
    assert data["system"] == "toy" and data["data_hash"] == "data-1"
    assert data["naisei"] and data["python"] and data["libraries"]["pydantic"] and data["created"]
    with RunDirectory.of(toy.Toy(), tmp_path / "r") as again:
        assert not again.fresh
    assert json.loads((tmp_path / "r/config.json").read_text()) == data


def test_another_config_is_refused_with_the_difference(tmp_path: Path, toy: Any) -> None:
    RunDirectory.of(toy.Toy(), tmp_path / "r").close()
    with pytest.raises(InputError) as caught:
        RunDirectory.of(toy.Toy(n=5, flavour="甘い", data_hash="data-2"), tmp_path / "r")
    message = caught.value.message
    assert "n: 4 → 5" in message and 'flavour: "plain" → "甘い"' in message
    assert "data: data-1 → data-2" in message and "nested" not in message
    RunDirectory.of(toy.Toy(), tmp_path / "r").close()  # the lock was released


def test_the_default_directory_follows_config_and_data(toy: Any) -> None:
    paths = {
        default_path(task)
        for task in (toy.Toy(), toy.Toy(), toy.Toy(n=5), toy.Toy(data_hash="data-2"))
    }
    assert len(paths) == 3 and all(p.name.startswith("toy-") for p in paths)


def test_the_default_name_says_agent_and_model_and_keeps_the_digests(toy: Any) -> None:
    frozen = Frozen.of(toy.Toy())
    bare = named_path("toy", [frozen])
    config = {"agent": "llm", "models": {"agent": "openai:gpt/5", "user": "openai:gpt/5"}}
    named = named_path("toy", [frozen.model_copy(update={"config": config})])
    assert named.name.startswith("toy-llm-5-") and named.name[-8:] == bare.name[-8:]
    odd = named_path("toy", [frozen.model_copy(update={"config": {"agent": "../a b" * 99}})])
    assert odd.parent == bare.parent and len(odd.name) < 64


def test_places_that_will_not_do(tmp_path: Path, toy: Any) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thesis.txt").write_text("x")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/config.json").write_text('{"system": 3}')
    for name, message in (
        ("file", "is a file"),
        ("full", "holds files, but no run"),
        ("broken", "no config of a run"),
        ("file/below", "cannot be written"),
    ):
        with pytest.raises(InputError, match=message):
            RunDirectory.of(toy.Toy(), tmp_path / name)
    with pytest.raises(InputError, match="run directory"):
        RunDirectory.look(tmp_path / "none")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["broken", "file", "full"]
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["thesis.txt"]


def test_a_run_can_be_read_where_nothing_can_be_written(
    tmp_path: Path, toy: Any, run_toy: Any
) -> None:
    run_toy(tmp_path / "r")
    for path in (tmp_path / "r").iterdir():
        path.chmod(0o444)
    (tmp_path / "r").chmod(0o555)
    try:
        with RunDirectory.look(tmp_path / "r") as directory:
            assert directory.log.counts()[0] == 4
    finally:
        (tmp_path / "r").chmod(0o755)
