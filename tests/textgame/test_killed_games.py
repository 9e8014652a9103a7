"""A run that is stopped or killed goes on where it was; what was played is not played again."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from commandline import Naisei, Start
from naisei.runs.log import RunLog
from textgame.conftest import FakeSet
from waiting import PATIENCE, until

FLAGS = ["textgame", "run", "--agent", "random", "--max-steps", "20", "--seed", "1", "--quiet"]


def flags(fake: FakeSet, where: str) -> list[str]:
    return [*FLAGS, "--games", str(fake.folder), "--run-dir", where, "--concurrency", "2", "--json"]


def finished(where: str) -> set[str]:
    log = RunLog(Path(where) / "log.sqlite", read_only=True)
    found = {row.where.instance for row in log.rows().values() if row.scored}
    log.close()
    return found


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
    until(lambda: len(fake.asked) >= 56, process)
    process.send_signal(how)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    done = finished("run")
    assert 0 < len(done) < 6
    if Path("/proc").is_dir():
        until(lambda: not orphans(), say="the interpreters end with the run")

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
    # the other game may be far ahead of this one: only the fault itself tells that it came
    until(lambda: not list(fake.faults.iterdir()), process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    until(lambda: not orphans())
