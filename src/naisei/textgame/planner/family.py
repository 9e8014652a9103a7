"""Which family a game is of, by the first text: cooking, or tidying up. The player follows."""

from __future__ import annotations

import re
from collections.abc import Callable

from naisei.core import Flow
from naisei.textgame.player import Follows, Player
from naisei.textgame.schemas import Decision, View

__all__ = ["ByFamily", "is_tidying"]

_COOKING = re.compile(r"\b(?:cookbook|recipe|hungry|cook\w*|meal|starving|chef)\b", re.I)
_TIDYING = re.compile(
    r"\b(?:clean(?: \w+){0,3} up|clean(?: \w+){0,3} (?:house|place|room|home)|messy|mess|untidy|"
    r"tid(?:y|ied|ying)|out of place|put (?:\w+ ){0,4}away|where (?:it|they) belongs?|"
    r"(?:proper|usual|right|correct|rightful) (?:location|place)s?|spick and span)\b",
    re.I,
)


def is_tidying(first_text: str) -> bool:
    """Whether the words of tidying up outnumber those of cooking. A text with neither is taken
    for cooking, whose player gives up with a reason where there is no cookbook."""
    said = {w.lower() for w in _TIDYING.findall(_intro(first_text))}
    return len(said) > len({w.lower() for w in _COOKING.findall(_intro(first_text))})


def _intro(text: str) -> str:
    """What comes before the first room: its furniture is no hint of what is to be done."""
    return text.partition("-= ")[0] or text


class ByFamily:
    """Becomes one of two players when it sees the first text."""

    def __init__(self, *, cooking: Callable[[], Player], tidying: Callable[[], Player]) -> None:
        self._cooking, self._tidying = cooking, tidying
        self._player: Player | None = None

    def decide(self, view: View) -> Flow[Decision]:
        """As the player that the game's family calls for."""
        if self._player is None:
            make = self._tidying if is_tidying(view.feedback) else self._cooking
            self._player = make()
        return (yield from self._player.decide(view))

    def did(self, action: str) -> bool:
        """Another command was given than the one decided for; whether it can go on from there."""
        return isinstance(self._player, Follows) and self._player.did(action)
