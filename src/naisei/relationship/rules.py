"""How a conversation is held: everything its flow depends on besides the pair."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from naisei.memory.stream import Weights
from naisei.relationship.clock import Clock

__all__ = ["Rules"]


class Rules(BaseModel):
    """Options of the relationship reflection document, §8, and what it leaves open.

    sessions, turns: utterances of a session, ≥ 1 each. reflection: `off`; `session`: at the
    start of each session; `turn`: after each utterance. inject: whether a reading goes into the
    speaker's next prompt. directions: after an utterance, `next` reads the next speaker's
    direction and `both` reads both; the first reflection of a session always reads both.
    recent: entries from which the questions are made. evidence_chars: of the evidence.
    importance: by a `rule`, or by the `model`, in one call for `importance_every` utterances.
    summary: whether each session leaves one to the next.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sessions: Annotated[int, Field(ge=1)] = 2
    turns: Annotated[int, Field(ge=1)] = 8
    reflection: Literal["off", "session", "turn"] = "off"
    inject: bool = True
    directions: Literal["next", "both"] = "next"
    recent: Annotated[int, Field(ge=1)] = 10
    evidence_chars: Annotated[int, Field(ge=200)] = 2200
    weights: Weights = Weights()
    importance: Literal["rule", "model"] = "rule"
    importance_every: Annotated[int, Field(ge=1)] = 8
    summary: bool = True
    clock: Clock = Clock()
