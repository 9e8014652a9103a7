"""Child processes take no module from the folder that the user happens to be in."""

from __future__ import annotations

import ast
import subprocess
from functools import partial
from pathlib import Path

import pytest

import naisei
from naisei.models.pull import _pip
from naisei.textgame.engine.child import writes_files
from naisei.textgame.engine.process import GameProcess
from naisei.textgame.make.many import make_many
from textgame.conftest import FakeSet
from textgame.makers import maker

_TRAPS = ("json", "random", "numpy", "pathlib", "textworld", "pydantic", "naisei", "pip", "logging")


@pytest.fixture
def trapped(english: Path) -> Path:
    """The working folder, full of modules that note their import."""
    note = english / "imported"
    for name in _TRAPS:
        text = f"open({str(note)!r}, 'a').write({name!r}); raise SystemExit('a trap')"
        (english / f"{name}.py").write_text(text)
    return note


def test_an_interpreter(fake: FakeSet, trapped: Path) -> None:
    process = GameProcess()
    try:
        assert process.open(fake.folder / "g0.z8").room == "Room 0"
    finally:
        process.close()
    assert not trapped.exists()


def test_makers_of_games(trapped: Path, tmp_path: Path) -> None:
    jobs = [("a.z8", partial(maker, "a.z8"))]
    assert [made.file for made in make_many(jobs, tmp_path / "out", processes=1)] == ["a.z8"]
    assert not trapped.exists()


def test_pip(trapped: Path) -> None:
    subprocess.run([*_pip(), "--version"], check=True, capture_output=True)
    assert not trapped.exists()


def test_no_other_python_is_started_without_safe_path() -> None:
    """Every list that begins with `sys.executable` goes on with `-P` or `-I`."""
    found = 0
    for path in Path(naisei.__file__).parent.rglob("*.py"):
        if "sys.executable" not in (text := path.read_text("utf-8")):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.List) and node.elts:
                words = [ast.unparse(each) for each in node.elts]
                if words[0] == "sys.executable":
                    found += 1
                    assert words[1] in ("'-P'", "'-I'"), f"{path}:{node.lineno}"
    assert found == 3


@pytest.mark.parametrize(
    "command",
    ["save", "RESTORE", "look. save", "script on", "oops save", "record", "look then record",
     "open box, restore", "recording off", "transcript", "transcripts", "take\\save", "x\nsave"],
)  # fmt: skip
def test_commands_that_touch_files_are_known(command: str) -> None:
    assert writes_files(command)


@pytest.mark.parametrize("command", ["take record", "open safe", "describe", "save2", "unsaved"])
def test_other_commands_are_played(command: str) -> None:
    assert not writes_files(command)
