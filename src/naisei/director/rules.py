"""The rules of a talk: what changes how a line is let out."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from naisei.director.judge import Judging
from naisei.lang import Language

__all__ = ["POLICIES", "Policy", "TalkRules"]

#: When the retries are used up. best: the best draft goes out, as WARN. refuse: nothing is
#: said. person: a person gives the line.
Policy = Literal["best", "refuse", "person"]
POLICIES: tuple[Policy, ...] = ("best", "refuse", "person")


class TalkRules(BaseModel):
    """retries: new drafts after the first. judging: `None` for the hard rules alone.

    language: of the prompts, and of the reasons that the writer is told.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    retries: int = Field(default=2, ge=0)
    policy: Policy = "best"
    judging: Judging | None = Judging()
    language: Language = "ja"
