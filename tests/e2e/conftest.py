"""The real command line: in this process where that is enough, else in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.helpers import Done
from naisei.cli.main import main


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test works in a folder of its own, in English, with no settings of anybody."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NAISEI_LANG", "en")
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("NAISEI_MODEL", "NAISEI_DEBUG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def naisei(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """`naisei ARGS`, in this process."""

    def run(*args: Any) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in args])
        out, err = capsys.readouterr()
        return Done(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `naisei ARGS` in a process of its own; what is left of it is killed."""
    begun: list[subprocess.Popen[str]] = []

    def run(*args: Any, **env: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "naisei", *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **env},
        )
        begun.append(process)
        return process

    yield run
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def alone(start: Callable[..., subprocess.Popen[str]]) -> Callable[..., Done]:
    """`naisei ARGS` in a process of its own, to its end."""

    def run(*args: Any, **env: str) -> Done:
        process = start(*args, **env)
        out, err = process.communicate(timeout=300)
        return Done(process.returncode, out, err)

    return run
