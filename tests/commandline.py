"""`naisei ARGS` as a person gives it: in this process, or, where the process is the point, in
one of its own. The fixtures of `conftest.py` hand these out."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from naisei.cli.main import main
from waiting import PATIENCE


class Done(NamedTuple):
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> Any:
        """The result object: the last line of stdout as JSON."""
        return json.loads(self.out.rstrip("\n").split("\n")[-1])

    @property
    def objects(self) -> list[Any]:
        """Each line of stdout as JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


class Naisei:
    """`naisei(*ARGS, stdin="", **ENVIRONMENT)` in this process: a tenth of a process's time."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *args: object, stdin: str = "", **env: str) -> Done:
        self._capsys.readouterr()
        given = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
        # The whole environment comes back: `--lang` and `--debug` set variables.
        with patch.dict(os.environ, env), patch("sys.stdin", given), pytest.raises(SystemExit) as e:
            main([str(a) for a in args])
        return Done(_code(e.value), *self._capsys.readouterr())


def _code(ended: SystemExit) -> int:
    return ended.code if isinstance(ended.code, int) else int(ended.code is not None)


class Start:
    """`start(*ARGS, **ENVIRONMENT)`: a process of its own, running; `close` kills what is left.

    Its streams are text; stdin is a pipe.
    """

    def __init__(self) -> None:
        self._begun: list[subprocess.Popen[str]] = []

    def __call__(self, *args: object, **env: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "naisei", *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, **env},
        )
        self._begun.append(process)
        return process

    def close(self) -> None:
        for process in self._begun:
            process.kill()
            process.communicate()


class Alone:
    """`alone(*ARGS, stdin="", **ENVIRONMENT)`: a process of its own, to its end."""

    def __init__(self, start: Start) -> None:
        self._start = start

    def __call__(self, *args: object, stdin: str = "", **env: str) -> Done:
        process = self._start(*args, **env)
        out, err = process.communicate(stdin, timeout=PATIENCE)
        return Done(process.returncode, out, err)
