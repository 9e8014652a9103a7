"""Waiting for a log that another program holds, beside the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from naisei.core import LogBusy

T = TypeVar("T")
#: Seconds that another program may hold a log while something is to be written, and between two
#: tries.
PATIENCE, AGAIN = 10.0, 0.05


async def retry_while_locked(write: Callable[[], T]) -> T:
    """What `write` returns, once the log is not locked by another program; the event loop goes on
    meanwhile.

    Raises:
        LogBusy: it stays locked.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return write()
        except LogBusy:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(AGAIN)
