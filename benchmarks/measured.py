"""Processes that are measured, the loopback server beside them, and data of any size."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

_SERVER = Path(__file__).parents[1] / "tests/servers/openai_server.py"


@dataclass(frozen=True)
class Measured:
    """A process that came to its end. wall, cpu: seconds; peak_mb: resident set, 10⁶ bytes."""

    stdout: str
    wall: float
    cpu: float
    peak_mb: float


def measure(command: Sequence[str], folder: Path, **env: str) -> Measured:
    """Run a command in `folder`, to its end. Raises `SystemExit` if it fails.

    Modules are compiled once and kept in `folder`, as on a machine that is in use.
    """
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    out, err = folder / "stdout", folder / "stderr"
    with out.open("w") as stdout, err.open("w") as stderr:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=stdout, stderr=stderr, cwd=folder, env={**os.environ, **kept, **env}
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        print(err.read_text(), file=sys.stderr)
        raise SystemExit(f"{' '.join(command)} failed ({process.returncode})")
    unit = 1 if sys.platform == "darwin" else 1024
    return Measured(
        out.read_text(), wall, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6
    )


@contextmanager
def server(latency: float) -> Iterator[str]:
    """An OpenAI-compatible server in a process of its own; yields its URL."""
    command = [sys.executable, str(_SERVER), "--latency", str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def instances(n: int, path: Path) -> None:
    """`n` instances into a JSONL file: the bundled ones, repeated under new ids."""
    folder = files("naisei") / "data/ambigact40_open"
    rows = [
        json.loads(line)
        for split in ("train", "dev", "test")
        for line in (folder / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    with path.open("w", encoding="utf-8") as file:
        for number, row in zip(range(n), itertools.cycle(rows), strict=False):
            again = number // len(rows)
            named = {"id": f"{row['id']}-r{again}", "scene": f"{row['scene']}-r{again}"}
            file.write(json.dumps({**row, **named}, ensure_ascii=False) + "\n")
