"""What cannot be used is told with its place and a remedy, and leaves nothing behind."""

from pathlib import Path

import pytest

from commandline import Naisei
from naisei.core import InputError
from naisei.relationship.pairs import load_pairs, parse

PAIR = """
schema = "naisei.pair.v1"
id = "two"
title = "二人"
[a]
name = "青木"
persona = "店長。"
[b]
name = "赤井"
persona = "店員。"
"""
ONE = 'schema = "naisei.persona.v1"\nname = "{}"\npersona = "店員。"\n'


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("赤井", "青木"), "both are called '青木'"),
        (('name = "赤井"', 'nmae = "赤井"'), "b.nmae"),
        (('name = "赤井"\n', ""), "b.name: Field required"),
        (('persona = "店員。"', "persona = 3"), "b.persona"),
        (('persona = "店員。"', 'persona = "  "'), "b.persona"),
        (('id = "two"', 'id = "二人"'), "id:"),
        (('title = "二人"', 'title = "二人"\nlanguage = "fr"'), "language"),
        (('title = "二人"', 'title = "二人"\nrelationship = "foes"'), "relationship"),
        (("naisei.pair.v1", "naisei.pair.v9"), "unknown schema 'naisei.pair.v9'"),
        (('[b]\nname = "赤井"\npersona = "店員。"', ""), "b: Field required"),
        (("[a]", "[a"), "is not TOML"),
    ],
)
def test_a_bad_pair_names_its_key(change: tuple[str, str], told: str) -> None:
    assert change[0] in PAIR
    with pytest.raises(InputError) as error:
        parse(PAIR.replace(*change), place="two.toml")
    assert told in str(error.value) and str(error.value).startswith("two.toml")
    assert error.value.remedy


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(InputError) as error:
        parse(PAIR.replace('persona = "店員。"', "").replace('persona = "店長。"', "age = 3"))
    assert all(key in str(error.value) for key in ("a.persona", "a.age", "b.persona"))


@pytest.mark.parametrize(
    ("files", "given", "told"),
    [
        ({}, ["nobody"], "unknown pair 'nobody'"),
        ({}, ["gone.toml"], "no such file"),
        ({"a.toml": ONE.format("青木")}, ["a.toml"], "has no partner"),
        ({"a.toml": ONE.format("青木")}, ["a.toml", "a.toml"], "both are called '青木'"),
        ({}, ["siblings", "siblings"], "two pairs have the id 'siblings'"),
        ({"a.toml": 'name = "青木"\n'}, ["a.toml"], "no schema is named"),
        ({"a.toml": ""}, ["a.toml"], "no schema is named"),
    ],
)
def test_bad_personas_end_a_run_before_it_begins(
    naisei: Naisei, tmp_path: Path, files: dict[str, str], given: list[str], told: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "m.jsonl").write_text('{"reply": "はい。"}\n', "utf-8")
    done = naisei("relationship", "run", "--model", "scripted:m.jsonl", "--personas", *given)
    assert done.code == 2 and told in done.err and "Traceback" not in done.err
    assert not (tmp_path / "runs").exists()


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "sjis.toml").write_bytes(PAIR.encode("cp932"))
    for encoding in ("cp932", "utf-16", "utf-16-be", "utf-8-sig"):
        (tmp_path / "pair.toml").write_bytes(PAIR.encode(encoding))
        assert load_pairs([str(tmp_path / "pair.toml")])[0].names == {"a": "青木", "b": "赤井"}
    (tmp_path / "pair.toml").write_bytes(PAIR.encode() + b"# \xe9\x00\x00\x01\x81" * 9)
    with pytest.raises(InputError, match="no text file"):
        load_pairs([str(tmp_path / "pair.toml")])


def test_two_single_personas_make_a_pair(tmp_path: Path) -> None:
    for name in ("青木", "赤井"):
        (tmp_path / f"{name}.toml").write_text(ONE.format(name), "utf-8")
    files = [str(tmp_path / f"{name}.toml") for name in ("青木", "赤井")]
    (pair,) = load_pairs(files)
    assert pair.names == {"a": "青木", "b": "赤井"} and pair.language == "ja"


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--turns", "0"], "--turns"),
        (["--sessions", "0"], "--sessions"),
        (["--turns", "-3"], "--turns"),
        (["--turns", "many"], "--turns"),
        (["--start", "yesterday"], "--start"),
        (["--gap-days", "-1"], "--gap-days"),
        (["--directions", "up"], "--directions"),
        (["--embedder", "nothing-like-that"], "no embedder"),
        (["--model", "scripted:gone.jsonl"], "gone.jsonl"),
    ],
)
def test_bad_flags(naisei: Naisei, tmp_path: Path, flags: list[str], told: str) -> None:
    (tmp_path / "m.jsonl").write_text('{"reply": "はい。"}\n', "utf-8")
    model = [] if "--model" in flags else ["--model", "scripted:m.jsonl"]
    done = naisei("relationship", "run", *model, *flags)
    assert done.code == 2 and told in done.err and "Traceback" not in done.err
    assert not (tmp_path / "runs").exists()


def test_without_a_model_it_says_how_to_give_one(naisei: Naisei, tmp_path: Path) -> None:
    done = naisei("relationship", "run")
    assert done.code == 2 and "--model" in done.err and "scripted:" in done.err
    assert "naisei relationship demo" in done.err and list(tmp_path.iterdir()) == []


def test_a_run_of_another_system_has_nothing_to_export(naisei: Naisei, tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text('{"reply": "えー！ほんと？"}\n', "utf-8")
    talk = ["director", "talk", "--turns", "1", "--no-judge", "--model", "scripted:m.jsonl"]
    assert naisei(*talk, "--run-dir", "other").code == 0
    done = naisei("relationship", "export", "other")
    assert done.code == 2 and "not of relationship" in done.err
    assert naisei("relationship", "export", "nowhere").code == 2
