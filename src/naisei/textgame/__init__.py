"""Text games: players that read, plan, and avoid repeating mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "PLAY",
    "RUN",
    "Decision",
    "GameConfig",
    "GameResult",
    "PlayConfig",
    "RunOptions",
    "Step",
    "View",
    "arun",
    "run",
]

if TYPE_CHECKING:
    from naisei.system.execute import RunOptions
    from naisei.textgame.config import GameConfig, PlayConfig
    from naisei.textgame.schemas import Decision, GameResult, Step, View
    from naisei.textgame.system import PLAY, RUN

    run, arun = RUN.run, RUN.arun
else:
    # Imported on demand, since each interpreter process imports this package.
    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(name)
        if name in ("run", "arun"):
            return getattr(import_module("naisei.textgame.system").RUN, name)
        for module in ("textgame.system", "textgame.config", "textgame.schemas", "system.execute"):
            if hasattr(found := import_module(f"naisei.{module}"), name):
                return getattr(found, name)
        raise AttributeError(name)
