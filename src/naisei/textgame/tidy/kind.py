"""The player `tidy`."""

from __future__ import annotations

from pydantic import BaseModel

from naisei.textgame.player import Player, PlayerContext, PlayerKind
from naisei.textgame.tidy.player import TidyPlayer
from naisei.textgame.tidy.tuning import Tuning

__all__ = ["build"]


class _Kind:
    settings: type[BaseModel] = Tuning
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        return TidyPlayer(context)


def build() -> PlayerKind:
    """The kind `tidy`."""
    return _Kind()
