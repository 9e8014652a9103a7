"""The player planner: of cooking games and of games of tidying up."""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic import BaseModel

from naisei.core import Flow
from naisei.runs.options import Options
from naisei.textgame.planner.cooking import CookingPlanner
from naisei.textgame.planner.kitchen import Prior, learned
from naisei.textgame.player import Follows, Player, PlayerContext, PlayerKind
from naisei.textgame.schemas import Decision, View

__all__ = ["ByFamily", "PlannerOptions", "build", "is_tidying"]


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


class PlannerOptions(Options):
    """prior: use what training games taught about houses; without it every way is as good."""

    prior: bool = True


class _Kind:
    settings: type[BaseModel] = PlannerOptions
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        settings = PlannerOptions.model_validate(context.settings.model_dump())
        return ByFamily(
            cooking=lambda: CookingPlanner(learned() if settings.prior else Prior()),
            tidying=lambda: _tidy(context),
        )


def _tidy(context: PlayerContext) -> Player:
    # Its tables are read only by games that need them.
    from naisei.textgame.tidy.kind import TidyPlayer

    return TidyPlayer(context)


def build() -> PlayerKind:
    """The kind `planner`."""
    return _Kind()
