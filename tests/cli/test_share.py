"""Runs handed on: one HTML file, and the command or the program that makes the run again."""

from __future__ import annotations

import contextlib
import io
import shlex
from pathlib import Path

import pytest

from commandline import Naisei
from naisei.runs.frozen import Frozen
from naisei.system.spelled import as_command, as_python


@pytest.fixture
def run(tmp_path: Path, naisei: Naisei) -> Path:
    path = tmp_path / "run"
    given = ["--agent", "random", "--limit", "4", "--trials", "1", "--no-clarify", "--seed", "5"]
    assert naisei("clarify", "run", *given, "--quiet", "--run-dir", path).code == 0
    return path


def test_the_command_of_a_run_continues_it(run: Path, naisei: Naisei) -> None:
    """Its configuration is the same: a directory refuses another one."""
    frozen = Frozen.read(run / "config.json")
    program, *words = shlex.split(as_command(frozen.system, frozen.config))
    assert program == "naisei" and "--no-clarify" in words
    assert naisei(*words, "--quiet", "--run-dir", run).code == 0
    assert naisei(*words, "--quota", "1", "--quiet", "--run-dir", run).code == 2


def test_the_program_of_a_run_runs(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen = Frozen.read(run / "config.json")
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(as_python(frozen.system, frozen.config), {})
    assert "pass@1" in out.getvalue()
    (made,) = (tmp_path / "runs").glob("*/config.json")
    assert Frozen.read(made).config == frozen.config


def test_failures_are_shared_as_one_file_without_network(
    run: Path, tmp_path: Path, naisei: Naisei
) -> None:
    page = tmp_path / "failures.html"
    assert naisei("runs", "share", run, "--failures", "--output", page).code == 0
    text = page.read_text("utf-8")
    assert 'id="e1"' in text and "<script" not in text and 'src="http' not in text
    assert naisei("runs", "share", run, "--episode", "nothing", "--output", page).code == 2
    assert page.read_text("utf-8") == text
