"""kill -9 at any moment, twice, then resume: the same results, nothing answered twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from naisei.runs.directory import RunDirectory
from naisei.runs.log import RunLog
from waiting import PATIENCE, until

CONCURRENCY = 8


def _lines(calls: Path) -> list[str]:
    return calls.read_text().splitlines() if calls.exists() else []


def _logged(run: Path) -> set[str]:
    if not (run / "log.sqlite").exists():
        return set()
    log = RunLog(run / "log.sqlite", read_only=True)
    found = {
        f"{event.where.instance} {event.where.step}"
        for episode in log.known_episodes()
        for event in log.read(episode)
        if event.kind == "chat"
    }
    log.close()
    return found


def _kill_after(process: subprocess.Popen[str], calls: Path, lines: int, delay: float) -> None:
    until(lambda: len(_lines(calls)) >= lines, process)
    time.sleep(delay)  # any moment will do
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=pytest.mark.slow) for s in (2, 3))])
def test_killed_twice(tmp_path: Path, start_toy: Callable[..., Any], seed: int) -> None:
    rng = random.Random(seed)
    n, total = 30, 30 * 6
    whole = start_toy(tmp_path / "whole", tmp_path / "whole.calls", "--n", n, "--latency", 0)
    run, calls = tmp_path / "run", tmp_path / "calls"
    answered: list[tuple[int, set[str]]] = []
    moments = sorted(rng.sample(range(1, total - 20), 2))
    for moment in moments:
        process = start_toy(run, calls, "--n", n)
        _kill_after(process, calls, moment, rng.random() * 0.02)
        answered.append((len(_lines(calls)), _logged(run)))
    last = start_toy(run, calls, "--n", n)
    out, err = last.communicate(timeout=PATIENCE)
    assert last.returncode == 0, err
    whole_out, _ = whole.communicate(timeout=PATIENCE)

    performed = _lines(calls)
    for lines, logged in answered:
        assert logged, "killed before anything was recorded"
        assert not logged & set(performed[lines:]), "a recorded call was made again"
    assert len(set(performed)) == total
    assert len(performed) - total <= len(moments) * CONCURRENCY * 2, "more than those in flight"
    assert (run / "results.jsonl").read_bytes() == (tmp_path / "whole/results.jsonl").read_bytes()
    result, expected = json.loads(out.splitlines()[-1]), json.loads(whole_out.splitlines()[-1])
    assert result | {"run_dir": ""} == expected | {"run_dir": ""}
    assert result["n"] == n and result["tokens"]["agent"]["calls"] == 3 * n


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_signals_stop_cleanly(
    tmp_path: Path, start_toy: Callable[..., Any], number: signal.Signals
) -> None:
    run, calls = tmp_path / "run", tmp_path / "calls"
    process = start_toy(run, calls, "--latency", 0.1)
    until(lambda: len(_lines(calls)) >= 20, process)
    process.send_signal(number)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    result = json.loads(out.splitlines()[-1])
    assert result["stopped"] == "interrupted" and result["n_pending"] > 0
    # What was in flight finished and was logged: not one call is lost.
    assert sorted(_lines(calls)) == sorted(_logged(run))

    again = start_toy(run, calls, "--latency", 0)
    out, _ = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0 and json.loads(out.splitlines()[-1])["n"] == 30
    assert len(_lines(calls)) == len(set(_lines(calls))) == 180


def test_a_killed_process_leaves_no_lock_and_a_living_one_is_named(
    tmp_path: Path, start_toy: Callable[..., Any], toy: Any
) -> None:
    run, calls = tmp_path / "run", tmp_path / "calls"
    first = start_toy(run, calls, "--latency", 100)
    until((run / "lock.holder").exists, first)
    second = start_toy(run, calls)
    _, err = second.communicate(timeout=PATIENCE)
    assert second.returncode == 1 and "process" in err
    assert f"pid {first.pid} on " in err
    first.kill()
    first.communicate()
    with RunDirectory.of(toy.Toy(30), run) as directory:
        assert directory.log.counts()[2] == 0
