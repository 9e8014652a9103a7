"""The player `planner`."""

from __future__ import annotations

from pydantic import BaseModel

from naisei.runs.options import Options
from naisei.textgame.planner.cooking import CookingPlanner
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
        return CookingPlanner(learned() if settings.prior else Prior())


def build() -> PlayerKind:
    """The kind `planner`."""
    return _Kind()
