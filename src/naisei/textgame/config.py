"""What a run of games is: everything that changes its results, frozen."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

__all__ = ["GameConfig"]


class GameConfig(BaseModel):
    """Games of one set, played by one kind of player.

    agent: name of the player. games: folder or file of games, or `twc:DIR` and `ftwp:DIR` for the
    public sets' layouts. split: of such a layout. level: of TWC. limit: at most so many games,
    drawn by the seed. trials: plays of each game that know nothing of each other. tries: plays in
    sequence within each trial, until the game is won; a player that reflects has a memo between
    them. max_steps: commands a game lasts; by default 20 for games of tidying up (thesis §3.1)
    and 100 for cooking (§5.3.2). filter: which candidates a player is shown (`none`, `thesis`,
    `strict`). models, sampling: by role.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str = "planner"
    agent_options: dict[str, JsonValue] = {}
    games: str
    split: str = ""
    level: str = ""
    limit: int | None = Field(default=None, ge=1)
    trials: int = Field(default=1, ge=1)
    tries: int = Field(default=1, ge=1)
    max_steps: int | None = Field(default=None, ge=1)
    filter: Literal["none", "thesis", "strict"] = "none"
    models: dict[str, str] = {}
    sampling: dict[str, dict[str, float | int]] = {}
    seed: int = 0
