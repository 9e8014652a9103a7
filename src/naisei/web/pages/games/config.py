"""What a game at the page depends on, frozen when it begins."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["PlayConfig"]


class PlayConfig(BaseModel):
    """file: name of the game in the server's folder of games. agent: the player. mode: `watch`,
    the player plays; `play`, the person does, and the player advises. steps: at most."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    agent: str
    mode: Literal["watch", "play"]
    steps: int = Field(ge=1)
    model: str | None = None
