"""The document assistant's server under people who send a line again until it is answered: its
process is killed, or of two processes on one database one of them, or the database.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from benchmarks.attack.base import Attempt
from benchmarks.chaos import databases
from benchmarks.chaos.fire import PATIENCE, Case, Fell, Ground, patiently
from naisei.intent.serve.people import open_log
from servers.assistant_process import Talker, all_answered_once, started, workers
from servers.intent_server import indexed

_TALKERS = 8


def _index(ground: Ground) -> Path:
    def make() -> Path:
        place = ground.folder / "assistant"
        place.mkdir()
        return indexed(place)

    found: Path = ground.once("assistant", make)
    return found


def server(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """One process, with files."""
    args = ["--index", str(_index(ground)), "--state", str(folder / "state")]
    process, url = started(*args)
    talkers = [Talker(url) for _ in range(_TALKERS)]
    try:
        with ThreadPoolExecutor(_TALKERS) as pool:
            going = [pool.submit(talker.talk) for talker in talkers]
            for _ in range(rng.randint(1, 3)):
                _reached(rng, talkers)
                process.kill()
                process.communicate()
                process, _ = started(*args, "--port", url.rpartition(":")[2])
            said = [each.result() for each in going]
        _judge(url, talkers, said, folder / "state", None)
        yield Attempt("server killed", "held")
    finally:
        process.kill()
        process.communicate()


def servers(rng: random.Random, ground: Ground, folder: Path) -> Iterator[Attempt]:
    """Two processes on one database."""
    there = databases.server(ground)
    store = there.database()
    args = ["--index", str(_index(ground)), "--state", str(folder / "state")]
    process, url = started(*args, "--store", store, "--workers", "2")
    talkers = [Talker(url) for _ in range(_TALKERS)]
    try:
        with ThreadPoolExecutor(_TALKERS) as pool:
            going = [pool.submit(talker.talk) for talker in talkers]
            _reached(rng, talkers)
            if rng.random() < 0.7 and (alive := workers(process)):
                os.kill(rng.choice(alive), signal.SIGKILL)
            else:
                there.kill()
                there.start()
            said = [each.result() for each in going]
        _judge(url, talkers, said, folder / "state", store)
        yield Attempt("one of two servers killed", "held")
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Fell("BROKEN", "it does not end") from None


def _reached(rng: random.Random, talkers: list[Talker]) -> None:
    first = rng.randint(1, len(talkers))
    patiently(lambda: sum(bool(talker.session) for talker in talkers) >= first)
    time.sleep(rng.random() * 0.3)  # any moment will do


def _judge(
    url: str, talkers: list[Talker], said: list[list[str]], state: Path, store: str | None
) -> None:
    """Every line is there once, with its answer; in the log, too, which is sound."""
    try:
        all_answered_once(url, talkers, said)
    except AssertionError as error:
        raise Fell("LOST", f"a line or its answer: {error}") from error
    with closing(open_log(state, store, read_only=True)) as log:
        if damages := log.verified().damages:
            raise Fell("SILENTLY WRONG", f"the log: {damages[0]}")
        for talker in talkers:
            asked = log.select(
                "SELECT kind, count(*) FROM events WHERE instance = ? GROUP BY kind",
                (talker.session,),
            )
            counts = {kind: n for kind, n in asked if kind in ("ask", "say")}
            if counts != {"ask": 3, "say": 3}:
                raise Fell("PAID TWICE", f"three lines in the log as {counts}")


KINDS: dict[str, Case] = {"server": server, "servers": servers}
NEEDS = {"servers": databases.missing}
