"""The real command line, for the relationship commands, and a model that answers to all of them."""

from __future__ import annotations

import hashlib
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
    def last(self) -> Any:
        """The last line of stdout as JSON."""
        return json.loads(self.out.splitlines()[-1])


def brain(messages: list[dict[str, Any]], schema: dict[str, Any] | None) -> str:
    """Every role: what it says hangs on nothing but the conversation."""
    told = json.dumps(messages, ensure_ascii=False, sort_keys=True)
    draw = hashlib.sha256(told.encode()).digest()
    fields = set((schema or {}).get("properties", {}))
    if "summary" in fields:
        return json.dumps({"summary": f"約束をした。{draw[0]}"}, ensure_ascii=False)
    if "importances" in fields:
        count = messages[-1]["content"].count("\n")
        return json.dumps({"importances": [1 + draw[i] % 10 for i in range(count)]})
    if fields and (schema or {})["properties"]["Power"]["type"] == "string":
        return json.dumps(dict.fromkeys(("Power", "Intimacy", "TaskOriented"), f"{draw[0]}は？"))
    if fields:
        names = ("Power", "Intimacy", "TaskOriented")
        return json.dumps({name: draw[i] % 7 - 3 for i, name in enumerate(names)})
    return f"そうですね、{draw[0]}の件、{draw[1]}日までに直します。"


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
            stdin=subprocess.DEVNULL,
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
