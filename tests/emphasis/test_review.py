"""Suggestions for editors, and accepted or rejected one by one."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from naisei.core import InputError
from naisei.emphasis.corpus.read import read_document
from naisei.emphasis.review import accepted, listed, suggested
from naisei.emphasis.tag import Suggestions, TagOptions, marked, suggest, tag
from naisei.emphasis.taggers.registry import FirstSentence

TEXT = "# 猫\r\n\r\n😀猫は眠い。犬は起きる。\r\n\r\n犬が3匹いる。\r\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.md"
    path.write_bytes(TEXT.encode())
    return path


@pytest.fixture
def found(file: Path) -> Suggestions:
    return suggest(read_document(file), FirstSentence())


def test_reasons(found: Suggestions) -> None:
    first, second = suggested(found)
    assert "in the title: 猫" in first.reason
    assert "has a number" not in first.reason
    assert "has a number" in second.reason
    assert "title" not in second.reason
    assert second.marked == "**犬が3匹いる。**"


def test_textlint_counts_as_javascript(found: Suggestions) -> None:
    [entry] = json.loads(listed(found, "textlint"))
    source = TEXT.encode("utf-16-le")
    for message, one in zip(entry["messages"], suggested(found), strict=True):
        start, end = message["range"]
        there = source[2 * start : 2 * end].decode("utf-16-le")
        assert message["fix"] == {"range": [start, end], "text": f"**{there}**"}
        assert one.marked == f"**{there}**"
        line = TEXT.split("\r\n")[message["line"] - 1].encode("utf-16-le")
        column = message["column"] - 1
        assert line[2 * column :].decode("utf-16-le").startswith(there)
        assert message["loc"]["end"]["column"] == column + 1 + end - start


def test_diagnostics_begin_at_zero(found: Suggestions, file: Path) -> None:
    shown = json.loads(listed(found, "lsp"))
    assert shown["uri"] == file.as_uri()
    last = shown["diagnostics"][-1]
    assert last["range"]["start"] == {"line": 4, "character": 0}
    [edit] = last["data"]["edits"]
    assert edit == {"range": last["range"], "newText": "**犬が3匹いる。**"}


@pytest.mark.parametrize(
    ("answers", "kept"),
    [("ny", [1]), ("yn", [0]), ("a", [0, 1]), ("q", []), ("yq", [0]), ("?nn", [])],
)
def test_accepted(found: Suggestions, answers: str, kept: list[int]) -> None:
    left = iter(answers)
    every = [one.stretch for one in suggested(found)]
    chosen = accepted(found, lambda: next(left))
    assert chosen == [every[i] for i in kept]
    assert next(left, None) is None
    assert marked(found, chosen)[0].count(b"**") == 2 * len(kept)


def test_nothing_is_written_when_the_input_ends(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    out = tmp_path / "b.md"
    with pytest.raises(InputError, match="ended"):
        tag(TagOptions(file=file, out=out, review=True), FirstSentence())
    assert not out.exists()


def test_json_from_the_command(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tag(TagOptions(file=file, format="textlint"), FirstSentence())
    assert len(json.loads(capsys.readouterr().out)[0]["messages"]) == 2
    with pytest.raises(InputError, match="--review"):
        tag(TagOptions(file=file, format="textlint", review=True), FirstSentence())


@pytest.mark.slow
def test_the_hook_takes_several_files(file: Path, tmp_path: Path) -> None:
    manifest = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
    [entry] = re.findall(r"^  entry: (.+)$", manifest.read_text(encoding="utf-8"), re.MULTILINE)
    other = tmp_path / "a b.md"
    other.write_bytes(TEXT.encode())
    run = [*shlex.split(entry), str(file), str(other)]
    # As in the environment that pre-commit makes: its commands come first.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    given = {**os.environ, "PATH": path}
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=given)
    assert done.stdout.count('"filePath"') == 2
    absent = [*run[:-2], str(tmp_path / "no.md"), str(other)]
    missing = subprocess.run(absent, capture_output=True, env=given)
    assert missing.returncode == 2
