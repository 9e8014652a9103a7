"""kill -9 at random moments, twice, then the same command again: as if nothing had been."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import Alone, Start
from e2e.helpers import brain, rows, run_flags, write_rows
from naisei.runs.log import RunLog
from servers.openai_server import OpenAIServer

Serve = Callable[..., OpenAIServer]

AT_ONCE = 8
SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4, 5, 6))]


def _logged(run: Path) -> set[str]:
    """The calls that were answered and logged, by their messages."""
    if not (run / "log.sqlite").exists():
        return set()
    log = RunLog(run / "log.sqlite", read_only=True)
    found = {
        _key(event.request["messages"])
        for episode in log.known_episodes()
        for event in log.read(episode)
        if event.kind == "chat" and isinstance(event.request, dict)
    }
    log.close()
    return found


def _key(messages: Any) -> str:
    return json.dumps(messages, ensure_ascii=False, sort_keys=True)


def _asked(server: OpenAIServer) -> list[str]:
    return [_key(request["messages"]) for request in server.requests]


def _kill(process: subprocess.Popen[str], server: OpenAIServer, moment: int, delay: float) -> None:
    """After so many requests, and a little later: the server holds back what comes much later."""
    server.reached(moment, process)
    time.sleep(delay)  # any moment will do
    process.kill()
    process.communicate()
    server.left()


@pytest.mark.parametrize("seed", SEEDS)
def test_killed_twice(
    openai_server: Serve,
    alone: Alone,
    start: Start,
    tmp_path: Path,
    seed: int,
) -> None:
    rng = random.Random(seed)
    data = write_rows(tmp_path / "data.jsonl", rows(24))
    at_once = ["--concurrency", str(AT_ONCE)]
    calm = openai_server(brain)
    whole = alone(*run_flags(data, calm.url, tmp_path / "whole"), *at_once)
    assert whole.code == 0 and whole.result["n"] == 24
    total = calm.calls
    assert len(set(_asked(calm))) == total > 100

    server = openai_server(brain, latency=0.03)
    run = tmp_path / "run"
    flags = [*run_flags(data, server.url, run), *at_once]
    kept: list[tuple[int, set[str]]] = []
    for moment in sorted(rng.sample(range(1, total - 30), 2)):
        server.holds = moment + AT_ONCE
        process = start(*flags)
        _kill(process, server, moment, rng.random() * 0.05)
        kept.append((server.calls, _logged(run)))
    server.holds = None
    last = alone(*flags)

    assert last.code == 0, last.err
    for came, logged in kept:
        assert not logged & set(_asked(server)[came:]), "an answered call was made again"
    assert set(_asked(server)) == set(_asked(calm))
    assert total <= server.calls <= total + 2 * AT_ONCE
    assert (run / "results.jsonl").read_bytes() == (tmp_path / "whole/results.jsonl").read_bytes()
    for part in ("metrics", "intervals", "n", "n_unscored", "n_pending", "tokens", "stopped"):
        assert last.result[part] == whole.result[part], part


def test_a_finished_run_calls_nobody(openai_server: Serve, alone: Alone, tmp_path: Path) -> None:
    data = write_rows(tmp_path / "data.jsonl", rows(3))
    server = openai_server(brain)
    flags = run_flags(data, server.url, tmp_path / "run")
    first = alone(*flags)
    calls = server.calls
    second = alone(*flags)
    assert calls > 0 and server.calls == calls
    assert second.result == first.result
