"""What a run of talks is: everything that changes its results, frozen."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from naisei.director.rules import TalkRules

__all__ = ["TalkConfig"]


class TalkConfig(BaseModel):
    """Talks of one cast about one topic.

    topic: empty, the first line sets it. cast: ids, display names or paths of TOML profiles, in
    the order in which they speak.
    talks: how many, each an episode. models: role (`speaker`, `judge`) → `provider:name`.
    sampling: role → parameters. seed: of the intervals.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    topic: str = ""
    scene: str = ""
    turns: int = Field(default=8, ge=1)
    talks: int = Field(default=1, ge=1)
    cast: Annotated[tuple[str, ...], Field(min_length=1)] = ("yana", "ayu")
    rules: TalkRules = TalkRules()
    models: dict[str, str] = {}
    sampling: dict[str, dict[str, float | int]] = {}
    seed: int = 0
