"""What a sitting with the assistant depends on, frozen when it begins."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from naisei.clarify.config import Rules
from naisei.clarify.person import Person
from naisei.clarify.schemas import Scene

__all__ = ["SittingConfig"]


class SittingConfig(BaseModel):
    """scene: the situation, without words yet. person: the notes as they were at the start.
    model: of an agent that needs one. memory: policy; `none` where there is no model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent: str
    scene: Scene
    person: Person
    rules: Rules = Rules()
    model: str | None = None
    memory: str = "none"
    language: Literal["ja", "en"] = "ja"
