"""A random player, the lowest baseline of every table."""

from __future__ import annotations

from random import Random

from pydantic import BaseModel

from naisei.core import Flow
from naisei.plugins import Options
from naisei.textgame.player import Player, PlayerContext, PlayerKind
from naisei.textgame.schemas import Decision, View


class RandomPlayer:
    """Uniform over the candidates, seeded by run and game."""

    def __init__(self, context: PlayerContext) -> None:
        self._random = Random(f"{context.seed}/{context.game}")

    def decide(self, view: View) -> Flow[Decision]:
        return Decision(action=self._random.choice(view.candidates))
        yield  # makes this a generator


class _Kind:
    settings: type[BaseModel] = Options
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        return RandomPlayer(context)


def build() -> PlayerKind:
    """The player kind `random`."""
    return _Kind()
