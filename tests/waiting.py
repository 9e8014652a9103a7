"""Waiting for what other threads and processes do. Nothing is measured by it: it ends with the
event, however busy the machine is."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

__all__ = ["PATIENCE", "until"]

#: Seconds after which a test that waits has hung: it only ends what would never end.
PATIENCE = 300.0


def until(
    happened: Callable[[], object], alive: subprocess.Popen[str] | None = None, /, say: str = ""
) -> None:
    """Returns once it has happened; fails if `alive` ends before that, or after PATIENCE."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if alive is not None and alive.poll() is not None and not happened():
            raise AssertionError(("the process ended", alive.returncode, alive.communicate()))
        assert time.monotonic() < end, say or "what is waited for does not happen"
        time.sleep(0.005)
