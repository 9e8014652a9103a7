"""How many cores are free for the model."""

from __future__ import annotations

import os
import time
from pathlib import Path

__all__ = ["free_cores"]

_STAT = Path("/proc/stat")
_SECONDS = 0.3


def free_cores() -> int:
    """Cores that this process may use and that nobody is using now; at least 1.

    llama.cpp's threads wait for each other in a spin after every layer: one thread on a
    core that another program is using slows all of them (seen on two cores, one busy: 7
    tokens a second with two threads, 41 with one). Where the kernel does not tell (not
    Linux), all cores.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        before = _ticks()
        time.sleep(_SECONDS)
        after = _ticks()
    except (OSError, ValueError, IndexError):
        return cores
    passed = sum(after) - sum(before)
    if passed <= 0:
        return cores
    idle = (after[3] + after[4]) - (before[3] + before[4])
    total = os.cpu_count() or cores
    busy = total * (1 - idle / passed)
    return max(1, min(cores, round(total - busy)))


def _ticks() -> list[int]:
    """user, nice, system, idle, iowait, irq, softirq, steal of all cores together."""
    return [int(field) for field in _STAT.read_text("ascii").splitlines()[0].split()[1:9]]
