"""The real command line, for the director's commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from naisei.cli.main import main


@dataclass(frozen=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[Any]:
        """Each line of stdout as JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, in English, with no settings of anybody."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NAISEI_LANG", "en")
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("NAISEI_MODEL", "NAISEI_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def naisei(at_home: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """`naisei ARGS`, in this process."""

    def run(*args: Any) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in args])
        out, err = capsys.readouterr()
        return Done(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def start(at_home: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts `naisei ARGS` in a process of its own; what is left of it is killed."""
    begun: list[subprocess.Popen[bytes]] = []

    def run(*args: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "naisei", *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ),
        )
        begun.append(process)
        return process

    yield run
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def alone(start: Callable[..., subprocess.Popen[bytes]]) -> Callable[..., Done]:
    """`naisei ARGS` in a process of its own, with this on stdin, to its end."""

    def run(*args: Any, stdin: str = "") -> Done:
        process = start(*args)
        out, err = process.communicate(stdin.encode(), timeout=120)
        return Done(process.returncode, out.decode(), err.decode())

    return run
