"""Engines from other packages, each for the files of one ending."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, cast

from naisei import plugins
from naisei.entries import entries
from naisei.textgame.schemas import View

#: Entry-point group: the ending of an engine's files, without its point → a class of `Engine`s.
GROUP = "naisei.engines"


class Engine(Protocol):
    """Plays one game after another, in a process of its own, with TextWorld's texts
    (`naisei.textgame.texts`)."""

    @staticmethod
    def needs() -> None:
        """Raises `InputError` if something that it plays with is not installed."""
        ...

    @staticmethod
    def check(path: Path) -> None:
        """Raises `BrokenGame` for a file that is not a game of this engine."""
        ...

    def open(self, path: Path) -> View:
        """Begin a game."""
        ...

    def step(self, command: str) -> View:
        """Give a command."""
        ...


def other_endings() -> list[str]:
    """`.twx`, …: of the files that other engines play."""
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
