"""A real process killed with SIGKILL while it appends, and resumed."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from waiting import PATIENCE

WORKER = Path(__file__).with_name("killed_worker.py")
WIDTH = 3  # as in the worker


def start(folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, str(WORKER), str(folder)])


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def finish(folder: Path) -> None:
    assert start(folder).wait(timeout=PATIENCE) == 0


def contents(folder: Path) -> dict[str, tuple[object, object]]:
    events = [json.loads(line) for line in lines(folder / "log.jsonl")]
    found = {str(e["where"]["path"]): (e["request"], e["result"]) for e in events}
    assert len(found) == len(events)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_processes_resume(tmp_path: Path) -> None:
    clean, killed = tmp_path / "clean", tmp_path / "killed"
    clean.mkdir()
    killed.mkdir()
    finish(clean)
    calls = lines(clean / "calls.txt")
    assert len(calls) == len(set(calls)) == len(contents(clean))

    chance, kills = random.Random(0), 0
    for part in (0.2, 0.5, 0.8):
        worker = start(killed)
        deadline = time.monotonic() + PATIENCE
        while len(lines(killed / "log.jsonl")) < part * len(calls) and worker.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.003))
        if worker.poll() is None:
            worker.kill()
            kills += 1
        worker.wait()
    assert kills >= 2, "the worker was too fast to be killed"
    finish(killed)

    assert (killed / "result.json").read_text() == (clean / "result.json").read_text()
    assert contents(killed) == contents(clean)
    # At most the calls in flight were made twice.
    made = lines(killed / "calls.txt")
    assert set(made) == set(calls)
    assert len(made) - len(calls) <= kills * WIDTH
