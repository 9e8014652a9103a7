"""kill -9 at any moment of a process that writes a log, and at each of its statements: what it
was told is kept is there, no step is there twice, and the log is sound: a kill is no damage. Then
the next process goes on.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from benchmarks.attack.base import Attempt
from benchmarks.attack.statements import seen_by
from naisei.core import Event, InputError, Where
from naisei.runs.log import RunLog
from naisei.runs.task import EpisodeRow

__all__ = ["attack", "killed_at", "write"]

_EPISODES, _EVENTS = 40, 25


def write(path: Path) -> None:
    """Go on with the log from where it stands; a line on stdout for all that is kept."""
    log = RunLog(path)
    for i in range(_EPISODES):
        where = Where(f"e{i}")
        if log.result(where.episode) is not None:
            continue
        for n in range(len(log.read(where.episode)), _EVENTS):
            log.append(Event(where.at(n), "act", "d", {"text": f"{i} {n} 長い文" * 60}, "はい"))
            os.write(1, f"{where.episode} {n}\n".encode())
        log.finish(EpisodeRow(where, {"n": _EVENTS}))
        os.write(1, f"{where.episode} done\n".encode())
        log.put("reached", i)
    log.close()


def killed_at(path: Path, number: int, done: bool) -> None:
    """As `write`, and killed at a statement from 0. done: when it is done, else before it."""

    def act(n: int, sql: str, db: sqlite3.Connection | None, is_done: bool) -> None:
        if n == number and is_done == done:
            os.kill(os.getpid(), signal.SIGKILL)

    with seen_by(act):
        write(path)


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    until = time.monotonic() + seconds
    yield from _at_statements(rng, time.monotonic() + seconds / 2)
    yield from _at_moments(rng, until)


#: Statements from the opening of a log on at which a process is killed: some thirty open a new
#: one, and eight or so are an event.
_STATEMENTS = 70


def _at_statements(rng: random.Random, until: float) -> Iterator[Attempt]:
    """Each process goes on with what the one before left, until all statements were tried."""
    code = (
        "import sys; from pathlib import Path; from benchmarks.attack.kills import killed_at;"
        "killed_at(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == 'True')"
    )
    places = [(n, done) for n in range(_STATEMENTS) for done in (False, True)]
    rng.shuffle(places)
    while places:
        with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
            path, told = Path(folder) / "log.sqlite", set[str]()
            for number, done in [places.pop() for _ in range(min(4, len(places)))]:
                if time.monotonic() > until:
                    return
                command = [sys.executable, "-c", code, str(path), str(number), str(done)]
                ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
                told |= set(ended.stdout.splitlines())
                why = _lost(path, told)
                if ended.returncode != -signal.SIGKILL:
                    why = why or f"not killed, but ended with {ended.returncode}"
                note = f"statement {number}, {'after' if done else 'before'} it: {why}"
                yield Attempt("kill -9 at a statement", "fell" if why else "held", bool(why), note)


def _at_moments(rng: random.Random, until: float) -> Iterator[Attempt]:
    code = (
        "import sys; from pathlib import Path; from benchmarks.attack.kills import write;"
        "print('begun', flush=True); write(Path(sys.argv[1]))"
    )
    while time.monotonic() < until:
        with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
            path, told, ended = Path(folder) / "log.sqlite", set[str](), False
            while not ended and time.monotonic() < until:
                process = subprocess.Popen(
                    [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
                )
                assert process.stdout is not None
                process.stdout.readline()
                time.sleep(rng.random() ** 2 * 0.3)  # any moment will do
                process.send_signal(signal.SIGKILL)
                out, _ = process.communicate()
                ended = process.returncode == 0
                told |= {line for line in out.splitlines() if line}
                why = _lost(path, told)
                yield Attempt("kill -9", "fell" if why else "held", bool(why), why)


def _lost(path: Path, told: set[str]) -> str:
    """What is wrong with the log of a killed process; empty if nothing is."""
    if not path.exists():
        return "no log" if told else ""
    try:
        with closing(RunLog(path)) as log:
            steps = [
                f"{name} {e.where.step}" for name in log.known_episodes() for e in log.read(name)
            ]
            done = [f"{name} done" for name, row in log.rows().items() if row.scored]
    except InputError as error:
        return str(error)
    if len(steps) != len(set(steps)):
        return "a step is there twice"
    return ", ".join(sorted(told - {*steps, *done})[:5])
