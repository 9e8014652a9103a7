"""Waiting for what other threads and processes do. Nothing is measured by it: it ends with the
event, however busy the machine is."""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import pytest

Found = TypeVar("Found")

#: Seconds after which a test that waits has hung: it only ends what would never end.
PATIENCE = 300.0


def until(
    happened: Callable[[], Found], alive: subprocess.Popen[str] | None = None, /, say: str = ""
) -> Found:
    """What it gives once it gives something true. Fails if `alive` ends before that, or after
    PATIENCE."""
    end = time.monotonic() + PATIENCE
    while not (found := happened()):
        if alive is not None and alive.poll() is not None and not happened():
            raise AssertionError(("the process ended", alive.returncode, alive.communicate()))
        assert time.monotonic() < end, say or "what is waited for does not happen"
        time.sleep(0.005)
    return found


def log_refused(patch: pytest.MonkeyPatch) -> threading.Event:
    """Set once a log was refused because another program holds it."""
    from naisei.core import LogBusy
    from naisei.runs.sqlite_rows import SqliteRows

    told, begun = threading.Event(), SqliteRows._begin

    def watched(self: SqliteRows) -> None:
        try:
            begun(self)
        except LogBusy:
            told.set()
            raise

    patch.setattr(SqliteRows, "_begin", watched)
    return told


def naps(patch: pytest.MonkeyPatch) -> list[float]:
    """From now on `asyncio.sleep` in this thread comes back at once; the list that is returned
    gets the seconds that it was asked for."""
    taken: list[float] = []
    here, sleep = threading.current_thread(), asyncio.sleep

    async def nap(seconds: float, result: object = None) -> object:
        if seconds > 0 and threading.current_thread() is here:
            taken.append(seconds)
            seconds = 0
        return await sleep(seconds, result)

    patch.setattr(asyncio, "sleep", nap)
    return taken
