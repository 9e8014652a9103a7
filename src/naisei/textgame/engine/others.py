"""Game engines from other packages, one per file ending."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, cast

from naisei import plugins
from naisei.entries import entries
from naisei.textgame.schemas import View

#: Entry-point group: file ending without dot → an `Engine` class.
GROUP = "naisei.engines"


class Engine(Protocol):
    """Plays one game after another in its own process, with TextWorld's texts
    (`naisei.textgame.texts`)."""

    @staticmethod
    def needs() -> None:
        """Raises `InputError` if a requirement is not installed."""
        ...

    @staticmethod
    def check(path: Path) -> None:
        """Raises `BrokenGame` for a file that is not this engine's game."""
        ...

    def open(self, path: Path) -> View:
        """Start a game."""
        ...

    def step(self, command: str) -> View:
        """Perform a command."""
        ...


def other_endings() -> list[str]:
    """File endings of plug-in engines, such as `.twx`."""
    return [f".{name}" for name in entries(GROUP)]


def other_engine(path: Path) -> type[Engine] | None:
    """The plug-in engine for a file; `None` for TextWorld or unknown files.

    Raises:
        InputError: its package cannot be imported.
    """
    if path.suffix not in other_endings():
        return None
    return cast(
        type[Engine], plugins.load(GROUP, path.suffix[1:], what=("ゲームエンジン", "games engine"))
    )
