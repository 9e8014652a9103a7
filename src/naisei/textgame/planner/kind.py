"""The player `planner`: of cooking games and of games of tidying up."""

from __future__ import annotations

from pydantic import BaseModel

from naisei.runs.options import Options
from naisei.textgame.planner.cooking import CookingPlanner
from naisei.textgame.planner.family import ByFamily
from naisei.textgame.planner.prior import Prior, learned
from naisei.textgame.player import Player, PlayerContext, PlayerKind

__all__ = ["PlannerOptions", "build"]


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
    from naisei.textgame.tidy.player import TidyPlayer

    return TidyPlayer(context)


def build() -> PlayerKind:
    """The kind `planner`."""
    return _Kind()
