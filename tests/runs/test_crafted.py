"""Run directories of others: whatever is in them, one message or what is there, and no harm."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from benchmarks.attack.crafted import FILES, ROWS, craft, make_clarify_run, wrong

_NAMES = [*ROWS, *FILES]
#: Those that ended in a bug, a hang or in other people's files; the rest by `-m slow`.
_ALWAYS = {
    "endless view events",
    "trigger",
    "seconds is text",
    "request is null",
    "request is deep",
    "chat of odd messages",
    "result of an episode is a number",
    "escape codes in the failure",
    "summary of odd values",
    "log.sqlite is a link",
    "lock.holder is a link",
    "report.html is a link",
    "config.json is a pipe",
    "config.json is endless",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "run"
    make_clarify_run(path)
    return path


@pytest.mark.parametrize(
    "name", [n if n in _ALWAYS else pytest.param(n, marks=pytest.mark.slow) for n in _NAMES]
)
def test_a_crafted_run_does_no_harm(tmp_path: Path, whole: Path, name: str) -> None:
    assert set(_NAMES) >= _ALWAYS
    shutil.copytree(whole, tmp_path / "run")
    craft(tmp_path / "run", name)
    assert list(wrong(tmp_path / "run")) == []
