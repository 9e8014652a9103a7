"""kill -9 at any moment of a process that writes a log, and at each of its statements: what it
was told is kept is there, no step is there twice, and the log is sound: a kill is no damage. Then
the next process goes on. The same while it erases: all of a person or nothing of them is there.
"""

from __future__ import annotations

import os
import random
import shutil
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
from benchmarks.attack.statements import Act, seen_by
from naisei.core import Event, InputError, Where
from naisei.runs.log import RunLog
from naisei.runs.task import EpisodeRow

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
    with seen_by(_killing(number, done)):
        write(path)


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    until = time.monotonic() + seconds
    yield from _while_erasing(rng, time.monotonic() + seconds / 4)
    yield from _at_statements(rng, time.monotonic() + seconds / 3)
    yield from _at_moments(rng, until)


_SECRET, _LEFT, _GONE = "だれにも言わない話" * 40, "残る話" * 90, "e1"


def erasing(path: Path) -> int:
    """A log of three episodes is at `path`; how many statements take away one of them."""
    log = RunLog(path)
    for name, words in (("e0", _LEFT), (_GONE, _SECRET), ("e2", _LEFT)):
        for n in range(3):
            log.append(Event(Where(name).at(n), "act", "d", {"text": words}, f"{words}{n}"))
        log.finish(EpisodeRow(Where(name), {"n": 3}))
    log.close()
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        copy, seen = Path(folder) / "run", list[int]()
        shutil.copytree(path.parent, copy)
        with seen_by(lambda n, *_: seen.append(n)):
            _erase(copy / path.name)
    return seen[-1] + 1


def _erase(path: Path) -> None:
    log = RunLog(path)
    log.erase(instances=[_GONE])
    path.with_name("told").touch()
    log.append(Event(Where("e0").at(3), "act", "d", {"text": _LEFT}, "はい"))
    log.close()


def killed_while_erasing(path: Path, number: int, done: bool) -> str:
    """What is wrong after a kill at a statement of `erasing`, in a copy of the log, or empty.
    done: when it is done, else before it."""
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        run = Path(folder) / "run"
        shutil.copytree(path.parent, run)
        child = os.fork()
        if not child:
            try:
                with seen_by(_killing(number, done)):
                    _erase(run / path.name)
            finally:
                os._exit(1)
        if not os.WIFSIGNALED(os.waitpid(child, 0)[1]):
            return "not killed"
        try:
            return _half_erased(run / path.name)
        except InputError as error:
            return str(error)


def _half_erased(path: Path) -> str:
    told, before = path.with_name("told").exists(), _files(path)
    with closing(RunLog(path, read_only=True)) as log:
        seen = log.known_episodes()
        left = sum(len(log.read(name)) for name in seen)
    if _files(path) != before:
        return "looking left a trace"
    if f"{_GONE}#0" in seen and told:
        return "it was told that it is erased"
    if left not in ((9,) if f"{_GONE}#0" in seen else (6, 7)):
        return f"{left} events of {seen}"
    for again in range(2):
        with closing(RunLog(path)) as log:
            if log.known_episodes() != seen:
                return "another process sees other episodes"
            if f"{_GONE}#0" not in seen and _holds_secret(path):
                return "what was erased is in a file"
            log.append(Event(Where("e2").at(3 + again), "act", "d", {"text": _LEFT}, "はい"))
            log.erase(instances=[_GONE])
            seen = ["e0#0", "e2#0"]
            if log.known_episodes() != seen or _holds_secret(path):
                return "it cannot be erased afterwards"
    strange = _files(path).keys() - {path.name, f"{path.name}.commits", "told"}
    return f"left behind: {strange}" if strange else ""


def _files(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.parent.iterdir()}


def _holds_secret(path: Path) -> bool:
    return any(_SECRET[:9].encode() in content for content in _files(path).values())


def _killing(number: int, done: bool) -> Act:
    def act(n: int, sql: str, db: sqlite3.Connection | None, is_done: bool) -> None:
        if n == number and is_done == done:
            os.kill(os.getpid(), signal.SIGKILL)

    return act


def _while_erasing(rng: random.Random, until: float) -> Iterator[Attempt]:
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        path = Path(folder) / "run" / "log.sqlite"
        path.parent.mkdir()
        places = [(n, done) for n in range(erasing(path)) for done in (False, True)]
        rng.shuffle(places)
        for number, done in places:
            if time.monotonic() > until:
                return
            why = killed_while_erasing(path, number, done)
            note = f"statement {number}, {'after' if done else 'before'} it: {why}"
            yield Attempt("kill -9 while erasing", "fell" if why else "held", bool(why), note)


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
