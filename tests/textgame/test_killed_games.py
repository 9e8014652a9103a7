"""A run that is stopped or killed goes on where it was; what was played is not played again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from commandline import Naisei, Start
from naisei.runs.log import RunLog
from textgame.conftest import FakeSet

FLAGS = ["textgame", "run", "--agent", "random", "--max-steps", "20", "--seed", "1", "--quiet"]


def flags(fake: FakeSet, where: str) -> list[str]:
    return [*FLAGS, "--games", str(fake.folder), "--run-dir", where, "--concurrency", "2", "--json"]


def finished(where: str) -> set[str]:
    log = RunLog(Path(where) / "log.sqlite", read_only=True)
    found = {row.where.instance for row in log.rows().values() if row.scored}
    log.close()
    return found


def wait_for(fake: FakeSet, commands: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while len(fake.asked) < commands and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def orphans() -> list[str]:
    """Interpreters whose environment names this test's folder and that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            environment = (entry / "environ").read_bytes()
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if str(Path.cwd()).encode() in environment and b"engine.child" in command:
            found.append(entry.name)
    return found


@pytest.mark.parametrize(
    "how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_stopped_then_resumed_as_if_nothing_had_been(
    fake: FakeSet,
    naisei: Naisei,
    start: Start,
    monkeypatch: pytest.MonkeyPatch,
    how: signal.Signals,
) -> None:
    whole = naisei(*flags(fake, "whole"))
    assert whole.code == 0, whole.err
    fake.log.unlink()

    monkeypatch.setenv("FAKE_DELAY", "0.05")
    process = start(*flags(fake, "run"))
    wait_for(fake, 56, process)
    process.send_signal(how)
    process.communicate(timeout=30)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    done = finished("run")
    assert 0 < len(done) < 6
    if Path("/proc").is_dir():
        deadline = time.monotonic() + 20
        while orphans() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not orphans(), "the interpreters end with the run"

    came = len(fake.asked)
    resumed = naisei("runs", "resume", "run", "--quiet", "--json")
    assert resumed.code == 0, resumed.err
    assert not {game for game, _, _ in fake.asked[came:]} & done
    for part in ("metrics", "intervals", "n", "n_unscored", "n_pending"):
        assert resumed.result[part] == whole.result[part], part
    assert Path("run/results.jsonl").read_bytes() == Path("whole/results.jsonl").read_bytes()


@pytest.mark.slow
def test_a_hanging_interpreter_does_not_outlive_a_killed_run(fake: FakeSet, start: Start) -> None:
    if not Path("/proc").is_dir():
        pytest.skip("processes are looked up in /proc")
    fake.fault("g0.hang-1")
    process = start(*flags(fake, "run"))
    deadline = time.monotonic() + 60
    # the other game may be far ahead of this one: only the fault itself tells that it came
    while list(fake.faults.iterdir()) and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    assert not list(fake.faults.iterdir()), "it hangs now"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 20
    while orphans() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not orphans()
