"""The database is killed in the middle of a run, at any moment: the run goes on, or stops with one
message and is resumed; results are those of a run in a file, and nothing recorded is asked again.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from naisei.core import InputError
from naisei.runs.directory import RunDirectory
from naisei.runs.repair import checked
from servers import postgres_server
from waiting import PATIENCE, until

pytestmark = pytest.mark.slow
N, TOTAL = 30, 30 * 6


@pytest.fixture
def server() -> Iterator[postgres_server.PostgresServer]:
    with postgres_server.running() as server:
        yield server


@pytest.fixture
def expected(tmp_path: Path, start_toy: Callable[..., Any]) -> bytes:
    whole = start_toy(tmp_path / "whole", tmp_path / "whole.calls", "--n", N, "--latency", 0)
    _, err = whole.communicate(timeout=PATIENCE)
    assert whole.returncode == 0, err
    return (tmp_path / "whole/results.jsonl").read_bytes()


def _lines(calls: Path) -> list[str]:
    return calls.read_text().splitlines() if calls.exists() else []


def _reached(process: subprocess.Popen[str], calls: Path, lines: int, rng: random.Random) -> None:
    until(lambda: len(_lines(calls)) >= lines, process)
    time.sleep(rng.random() * 0.02)  # any moment will do


def _logged(run: Path) -> set[str]:
    with RunDirectory.look(run) as directory:
        log = directory.log
        return {
            f"{event.where.instance} {event.where.step}"
            for episode in log.known_episodes()
            for event in log.read(episode)
            if event.kind == "chat"
        }


@pytest.mark.parametrize("seed", range(1, 4))
def test_killed_and_started_again_the_run_goes_on(
    server: Any, tmp_path: Path, start_toy: Callable[..., Any], expected: bytes, seed: int
) -> None:
    rng = random.Random(seed)
    run, calls = tmp_path / "run", tmp_path / "calls"
    process = start_toy(run, calls, "--n", N, "--store", server.url)
    for moment in sorted(rng.sample(range(1, TOTAL - 20), 2)):
        _reached(process, calls, moment, rng)
        server.kill()
        server.start()
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert (run / "results.jsonl").read_bytes() == expected
    assert len(_lines(calls)) == len(set(_lines(calls))) == TOTAL
    assert not checked(run).damages


def test_without_it_the_run_stops_with_one_message_and_is_resumed(
    server: Any, tmp_path: Path, start_toy: Callable[..., Any], expected: bytes
) -> None:
    run, calls = tmp_path / "run", tmp_path / "calls"
    process = start_toy(run, calls, "--n", N, "--store", server.url)
    _reached(process, calls, 60, random.Random(0))
    server.kill()
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0 and "cannot be reached" in err.splitlines()[-1]
    with pytest.raises(InputError, match="cannot be reached"):
        RunDirectory.look(run)
    server.start()
    before, logged = len(_lines(calls)), _logged(run)
    again = start_toy(run, calls, "--n", N)
    _, err = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, err
    assert (run / "results.jsonl").read_bytes() == expected and not checked(run).damages
    assert logged and not logged & set(_lines(calls)[before:])
