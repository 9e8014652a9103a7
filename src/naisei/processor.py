"""What the processor can do, as Linux tells it."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

#: Instructions by which numeric libraries choose how they compute.
_TELLING = ("avx2", "fma", "avx512f", "avx_vnni", "avx512_vnni", "amx_int8")


@cache
def processor() -> tuple[str, tuple[str, ...]]:
    """Its name, and which of the instructions it has that libraries choose their ways by; of
    another system than Linux the architecture alone."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        told = ""
    lines = (line.partition(":") for line in told.split("\n\n", 1)[0].splitlines())
    known = {name.strip(): value.strip() for name, _, value in lines}
    flags = known.get("flags", "").split()
    name = known.get("model name", platform.machine())
    return name, tuple(flag for flag in _TELLING if flag in flags)
