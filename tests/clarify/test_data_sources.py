"""Names, limits, digests, and sources from outside the package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from naisei.clarify.data import load
from naisei.core import InputError


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
    ],
)
def test_bad_sources_are_refused(source: str, options: dict[str, int], words: str) -> None:
    with pytest.raises(InputError) as caught:
        load(source, **options)  # type: ignore[arg-type]
    assert words in caught.value.message
    assert caught.value.place
    assert caught.value.remedy


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        load("ambigact40-en")
    for name in ("ambigact40-open", "ambigact40-open-en", "arta"):
        assert name in caught.value.remedy.removeprefix("give a path, or one of: ").split(", ")


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
