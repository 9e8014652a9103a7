"""The kind of player `self-taught`: what was learned is loaded, and not changed."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel

from naisei.runs.options import Options
from naisei.textgame.learning.knowledge import Knowledge, load
from naisei.textgame.learning.player import SelfTaught
from naisei.textgame.player import Player, PlayerContext, PlayerKind

__all__ = ["SelfTaughtOptions", "build"]


class SelfTaughtOptions(Options):
    """knowledge: a file that `naisei textgame learn` wrote; without one it knows nothing."""

    knowledge: str = ""


class _Kind:
    settings: type[BaseModel] = SelfTaughtOptions
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        given = SelfTaughtOptions.model_validate(context.settings.model_dump())
        known = _loaded(given.knowledge) if given.knowledge else Knowledge()
        # What one game teaches helps within it, and is forgotten at its end.
        return SelfTaught(known.model_copy(deep=True), caution=known.caution)


@lru_cache(maxsize=4)
def _loaded(path: str) -> Knowledge:
    return load(Path(path))


def build() -> PlayerKind:
    """The kind `self-taught`."""
    return _Kind()
