"""The player `hybrid`: the small learned scorer, UCB1, and the navigator."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from naisei.runs.options import Options
from naisei.textgame.hybrid.weights import LinearScorer, read_weights
from naisei.textgame.player import Player, PlayerContext, PlayerKind
from naisei.textgame.trained.judges import NoJudge, RecipeJudge
from naisei.textgame.trained.player import Explore, ImitationPlayer, Penalty

__all__ = ["HybridOptions", "build"]


class HybridOptions(Options):
    """weights: a file; the bundled ones by default. explore: what past choices
    of an action do to its score (`ucb1`, `fading`, `none`). penalty: what becomes of
    cooking and cutting that the cookbook does not ask for (`none`, `soft`, `hard`). navigator:
    whether `navigate to …` is offered."""

    weights: str = ""
    explore: Explore = "fading"
    penalty: Penalty = "hard"
    navigator: bool = True


class _Kind:
    settings: type[BaseModel] = HybridOptions
    roles: tuple[str, ...] = ()

    def new(self, context: PlayerContext) -> Player:
        given = HybridOptions.model_validate(context.settings.model_dump())
        weights = read_weights(Path(given.weights) if given.weights else None)
        return ImitationPlayer(
            LinearScorer(weights),
            NoJudge() if given.penalty == "none" else RecipeJudge(),
            penalty=given.penalty,
            explore=given.explore,
            navigator=given.navigator,
        )


def build() -> PlayerKind:
    """The kind `hybrid`."""
    return _Kind()
