"""Players by name."""

from __future__ import annotations

from typing import cast

from naisei import plugins
from naisei.textgame.player import PlayerKind

__all__ = ["GROUP", "player_kind"]

#: Entry-point group of players: a callable `() -> PlayerKind`.
GROUP = "naisei.players"


def player_kind(name: str) -> PlayerKind:
    """The kind of player registered as `name`.

    Raises:
        InputError: unknown name, or it needs something that is not installed.
    """
    return cast(PlayerKind, plugins.load(GROUP, name, what="player", option="--agent")())
