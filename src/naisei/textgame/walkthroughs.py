"""How many commands a game's own solution takes, where its maker left one.

textworld writes it into the `.json` beside the game: `metadata.walkthrough`. For figures only:
players never see it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from naisei.textgame.games import Game

__all__ = ["walkthrough", "walkthrough_lengths"]


def walkthrough(path: Path) -> tuple[str, ...] | None:
    """The commands of a game's own solution; `None` if the game has none, or cannot be read."""
    try:
        world = json.loads(path.with_suffix(".json").read_bytes())
        commands = world["metadata"]["walkthrough"]
    except (OSError, ValueError, KeyError, TypeError):
        # That a file is broken is said where the game is loaded.
        return None
    if not isinstance(commands, list) or not commands:
        return None
    return tuple(str(command) for command in commands)


def walkthrough_lengths(games: Iterable[Game]) -> Mapping[str, int]:
    """Game → commands of its own solution, for the games that have one."""
    found = {game.id: walkthrough(game.path) for game in games}
    return {game: len(commands) for game, commands in found.items() if commands}
