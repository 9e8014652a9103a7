"""One process at a time on a run directory."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

from filelock import FileLock, Timeout

from naisei.core import InputError
from naisei.lang import say

__all__ = ["RunLock", "holder", "locked"]


class RunLock:
    """Held from construction to `release`; the system releases it if the process is killed.

    Raises:
        InputError: another process holds it; names its pid and host.
    """

    def __init__(self, directory: Path) -> None:
        self._lock = FileLock(directory / "lock")
        self._holder = directory / "lock.holder"
        try:
            self._lock.acquire(timeout=0.3)  # `locked` may hold it for a moment
        except Timeout:
            who = holder(directory)
            raise InputError(
                say(
                    f"別のプロセスがこの実行を進めています: {who}",
                    f"another process is working on this run: {who}",
                ),
                place=str(directory),
                remedy=say(
                    "終わるのを待つか、止めるか、別の --run-dir を指定してください",
                    "wait for it, stop it, or give another --run-dir",
                ),
            ) from None
        # Beside the lock, since opening the lock file may empty it.
        self._holder.write_text(f"pid {os.getpid()} on {socket.gethostname()}", encoding="utf-8")

    def release(self) -> None:
        self._holder.unlink(missing_ok=True)
        self._lock.release()


def holder(directory: Path) -> str:
    """Who holds the lock, as it wrote down: `pid 123 on host`."""
    for _ in range(10):
        try:
            if text := (directory / "lock.holder").read_text(encoding="utf-8"):
                return text
        except FileNotFoundError:
            pass
        time.sleep(0.02)  # it has just taken the lock and is about to write its name
    return "unknown"


def locked(directory: Path) -> bool:
    """Whether a process is working on the run now."""
    lock = FileLock(directory / "lock")
    try:
        with lock.acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # a folder that cannot be written: nobody works there
        return False
