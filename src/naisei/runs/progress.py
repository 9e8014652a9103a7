"""Progress of a run on stderr; Ctrl-C and SIGTERM stop it cleanly, a second one at once."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

_EVERY = 10.0
_REFRESH = 0.1


@dataclass(frozen=True, slots=True)
class Standing:
    """Progress of a run.

    total: all episodes. done: scored episodes. resumed: episodes scored before this call.
    failures: left unscored in this call. usd: `None` if a price is unknown. seconds: duration
    of this call.
    """

    total: int
    done: int = 0
    resumed: int = 0
    failures: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0

    @property
    def eta(self) -> float:
        """Seconds left at the pace of this call; NaN before the first episode ends."""
        ended = self.done - self.resumed + self.failures
        left = self.total - self.done - self.failures
        return self.seconds / ended * left if ended else float("nan")

    def __str__(self) -> str:
        parts = [f"{self.done}/{self.total}"]
        if self.failures:
            parts.append(f"failures {self.failures}")
        parts.append(f"ETA {_clock(self.eta)}")
        parts.append(f"tokens {self.tokens:,}")
        parts.append("$?" if self.usd is None else f"${self.usd:.4f}")
        return " · ".join(parts)


def _clock(seconds: float) -> str:
    if seconds != seconds:
        return "--:--"
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes:02}:{whole % 60:02}"


class Progress(Protocol):
    """Shows progress; `update` may be called thousands of times a second."""

    def start(self, standing: Standing) -> None: ...

    def update(self, standing: Standing) -> None: ...

    def stop(self, standing: Standing) -> None: ...


class LineProgress:
    """Prints a line on stderr every ten seconds, and one at the end if there was progress: for
    logs and pipes."""

    def __init__(self, every: float = _EVERY) -> None:
        self._every = every
        self._last = 0.0

    def start(self, standing: Standing) -> None:
        self._last = time.monotonic()

    def update(self, standing: Standing) -> None:
        if time.monotonic() - self._last >= self._every:
            self._say(standing)

    def stop(self, standing: Standing) -> None:
        if standing.done or standing.failures or standing.tokens:
            self._say(standing)

    def _say(self, standing: Standing) -> None:
        self._last = time.monotonic()
        print(standing, file=sys.stderr, flush=True)


class RichProgress:
    """A progress bar on a terminal."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as Bar

        from naisei.terminal import Console

        # Drawn from `update`, not from a separate thread.
        self._bar = Bar(
            SpinnerColumn(),
            BarColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=None)
        self._last = 0.0

    def start(self, standing: Standing) -> None:
        self._bar.start()
        self._draw(standing)

    def update(self, standing: Standing) -> None:
        if time.monotonic() - self._last >= _REFRESH:
            self._draw(standing)

    def stop(self, standing: Standing) -> None:
        self._draw(standing)
        self._bar.stop()

    def _draw(self, standing: Standing) -> None:
        self._last = time.monotonic()
        ended = standing.done + standing.failures
        self._bar.update(
            self._task, total=standing.total, completed=ended, description=str(standing)
        )
        self._bar.refresh()


def progress(*, quiet: bool = False) -> Progress | None:
    """Return the progress display for stderr: a bar, lines, or nothing if `quiet`."""
    if quiet:
        return None
    return RichProgress() if sys.stderr.isatty() else LineProgress()


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Signal handlers installed before the first of those runs.
_before: dict[signal.Signals, Any] = {}
#: Signal callbacks, one for each run in the main thread.
_stopping: list[Callable[[], None]] = []


@contextmanager
def stopping_on_signals(stop: Callable[[], None], stop_now: Callable[[], None]) -> Iterator[None]:
    """On the first signal call `stop`, on later ones `stop_now`, in the event loop.

    Stops all concurrent runs. Does nothing outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    asked = False

    def asked_again() -> None:
        nonlocal asked
        loop.call_soon_threadsafe(stop_now if asked else stop)
        asked = True

    _stopping.append(asked_again)
    if len(_stopping) == 1:
        _before.update({number: signal.signal(number, _on_signal) for number in _SIGNALS})
    try:
        yield
    finally:
        _stopping.remove(asked_again)
        if not _stopping:
            for number in _SIGNALS:
                signal.signal(number, _before.pop(number))


def _on_signal(*_: object) -> None:
    for ask in (*_stopping,):
        ask()
