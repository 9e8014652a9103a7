"""The rules of the task: everything in which two configurations of the paper differ."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Rules"]


class Rules(BaseModel):
    """How an episode is played.

    trials: tries per instance (the k of Pass@k), ≥ 1. quota: questions per trial, ≥ 0
    (2 in the paper). clarify: False takes asking away altogether (Table 2, w/o Clarify).
    no_repeats: an action executed in an earlier trial is wrong and may not be executed
    again; an agent that does so wastes its trial. forbidden: what happens to a question
    that asks for the presence of an object or outright for the wanted action: `count`
    records it and lets the user answer, `refuse` answers it with the refusal.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    trials: int = Field(default=3, ge=1)
    quota: int = Field(default=2, ge=0)
    clarify: bool = True
    no_repeats: bool = True
    forbidden: Literal["count", "refuse"] = "count"
