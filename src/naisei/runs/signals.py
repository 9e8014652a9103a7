"""Ctrl-C and SIGTERM while a run is going: the first stops cleanly, the second at once."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["stopping_on_signals"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping_on_signals(stop: Callable[[], None], stop_now: Callable[[], None]) -> Iterator[None]:
    """Within, the first signal calls `stop` and later ones `stop_now`, in the event loop.

    Does nothing outside the main thread: there signals are the host's business.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    asked = False

    def on_signal(*_: object) -> None:
        nonlocal asked
        loop.call_soon_threadsafe(stop_now if asked else stop)
        asked = True

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
