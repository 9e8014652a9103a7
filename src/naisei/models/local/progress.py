"""How far a pull is: a bar on a terminal, a line now and then elsewhere. Always on stderr."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from rich.progress import (
    BarColumn,
    DownloadColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as Bar

from naisei.terminal import Console

__all__ = ["Progress", "Quiet", "Shown"]


class Progress(Protocol):
    """Told by a pull what goes on. Texts come in Japanese and in English."""

    def begin(self, label: str, total: int, done: int) -> None:
        """total, done: bytes of the file, and of it already here."""
        ...

    def advance(self, size: int) -> None:
        """`size` more bytes are in; negative when some were thrown away."""
        ...

    def note(self, ja: str, en: str) -> None: ...


class Quiet:
    """Says nothing."""

    def begin(self, label: str, total: int, done: int) -> None:
        pass

    def advance(self, size: int) -> None:
        pass

    def note(self, ja: str, en: str) -> None:
        pass


class Shown:
    """For a person on stderr; a context manager.

    language: `ja` or `en`, of the notes.
    """

    def __init__(self, *, language: str = "en") -> None:
        self.language = language
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self._task = self._bar.add_task("", start=False, visible=False)
        self._label, self._total, self._done, self._tenth = "", 1, 0, 0

    def __enter__(self) -> Shown:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def begin(self, label: str, total: int, done: int) -> None:
        self._label, self._total, self._done = label, max(total, 1), done
        self._tenth = 10 * done // self._total
        self._bar.reset(self._task, total=total, completed=done, description=label, visible=True)

    def advance(self, size: int) -> None:
        self._done += size
        self._bar.update(self._task, completed=self._done)
        tenth = 10 * self._done // self._total
        if tenth != self._tenth and not self.console.is_terminal:
            self.console.print(f"{self._label}: {10 * tenth}% ({self._done / 1e6:.0f} MB)")
        self._tenth = tenth

    def note(self, ja: str, en: str) -> None:
        self.console.print(ja if self.language == "ja" else en)
