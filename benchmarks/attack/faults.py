"""A disk that is full or broken, and a locked file, at each statement of a log: opening, events,
outcomes, notes, and COMMIT. Each attempt is one clear message, and nothing
of it is in the log; when the fault is over, the same process goes on.
"""

from __future__ import annotations

import errno
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from benchmarks.attack.base import Attempt
from benchmarks.attack.statements import seen_by
from naisei.core import Event, InputError, Usage, Where
from naisei.runs.log import RunLog
from naisei.runs.task import EpisodeRow

#: What SQLite says, and with which code.
FAULTS = {
    "full": ("database or disk is full", sqlite3.SQLITE_FULL),
    "io": ("disk I/O error", sqlite3.SQLITE_IOERR),
    "busy": ("database is locked", sqlite3.SQLITE_BUSY),
}
_EVENTS = 3


class Fault:
    """name: of `FAULTS`. first: the statement that fails, from 0. length: how many fail from there
    on. undoes: whether SQLite takes the transaction back by itself, as it may."""

    def __init__(self, name: str, first: int, length: int = 1, *, undoes: bool = False) -> None:
        self.name, self.first, self.length, self.undoes = name, first, length, undoes
        self.at, self.seen = "", 0

    def __call__(self, n: int, sql: str, db: sqlite3.Connection | None, done: bool) -> None:
        self.seen = n + 1
        if done or not self.first <= n < self.first + self.length:
            return
        self.at = self.at or " ".join(sql.split()[:3])
        if db is None:
            number = errno.ENOSPC if self.name == "full" else errno.EIO
            raise OSError(number, "no room")
        if self.undoes and db.in_transaction:
            sqlite3.Connection.execute(db, "ROLLBACK")
        words, code = FAULTS[self.name]
        error = sqlite3.OperationalError(words)
        error.sqlite_errorcode = code
        raise error

    def __str__(self) -> str:
        undone = ", undone" if self.undoes else ""
        return f"{self.name} at {self.first} ({self.at}) for {self.length}{undone}"


def statements() -> int:
    """How many statements there are where nothing fails."""
    fault = Fault("full", -2)
    if why := tried(fault):
        raise RuntimeError(why)
    return fault.seen


def tried(fault: Fault) -> str:
    """What is wrong with a log that was written under a fault; empty if nothing is."""
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        path = Path(folder) / "log.sqlite"
        try:
            with seen_by(fault):
                refused = _written(path)
            with closing(RunLog(path)) as log:
                return _wrong(log, fault, refused)
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def _again(write: Callable[[], object]) -> list[str]:
    """Until it succeeds; what was said meanwhile."""
    told = []
    for _ in range(30):
        try:
            write()
        except InputError as error:
            told.append(error.message)
        else:
            return told
    raise RuntimeError(f"the log does not go on: {told[-1]}")


def _written(path: Path) -> list[str]:
    opened: list[RunLog] = []
    told = _again(lambda: opened.append(RunLog(path)))
    (log,) = opened
    for event in _events():

        def append(event: Event = event) -> None:
            before = len(log.read("e#0"))
            try:
                log.append(event)
            except InputError:
                if len(log.read("e#0")) != before:
                    raise RuntimeError("refused, and in the log all the same") from None
                raise

        told += _again(append)
    row = EpisodeRow(Where("e"), {"n": _EVENTS})
    told += _again(lambda: log.finish(row, [Usage("agent", "m", 0, 3, 7, 0, 0.5)]))
    told += _again(lambda: log.put("reached", "あ" * 50))
    told += _again(lambda: log.erase(keys=["reached"]))
    told += _again(lambda: log.put("reached", _EVENTS))
    log.close()
    return told


def _events() -> list[Event]:
    usage = Usage("agent", "m", 1, 1, 7, 2, 0.1, sent=({"text": "同じ長い文" * 90},))
    return [
        Event(Where("e", 0, (n,)), "chat", "d", {"text": "同じ長い文" * 90}, "はい", None, usage)
        for n in range(_EVENTS)
    ]


def _wrong(log: RunLog, fault: Fault, refused: list[str]) -> str:
    if (found := log.read("e#0")) != _events():
        shown = [e.where.step for e in found]
        return f"the events are {shown}: {found[:1]}"
    if log.get("reached") != _EVENTS or log.result("e#0") != {"n": _EVENTS}:
        return "a note or an outcome is not as it was acknowledged"
    if len(log.sent("e#0")) != _EVENTS or log.ledger().roles["agent"].attempts != _EVENTS + 3:
        return f"costs are lost or doubled: {log.ledger().roles['agent']}"
    if (
        fault.length > 1
        and fault.at not in ("", "replace")
        and fault.name != "busy"
        and not refused
    ):
        return f"nobody was told of {fault}"
    return ""


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    until = time.monotonic() + seconds
    all_ = statements()
    faults = [
        Fault(name, first, length, undoes=undoes)
        for name in FAULTS
        for first in range(all_)
        for length in (1, 4)
        for undoes in (False, True)
        if not (undoes and name == "busy")
    ]
    rng.shuffle(faults)
    for fault in faults:
        if time.monotonic() > until:
            return
        why = tried(fault)
        yield Attempt(
            f"{fault.name} at a statement", "fell" if why else "held", bool(why), f"{fault}: {why}"
        )
