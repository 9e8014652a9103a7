"""The games engine: interpreters in processes of their own, behind one protocol."""

from naisei.textgame.engine.files import needs_textworld, playable, textworld_installed
from naisei.textgame.engine.handler import GameHandler
from naisei.textgame.engine.pool import ProcessPool

__all__ = ["GameHandler", "ProcessPool", "needs_textworld", "playable", "textworld_installed"]
