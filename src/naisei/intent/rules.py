"""What decides how the assistant behaves, apart from the documents and the models."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_serializer

from naisei.intent.contacts import Contacts
from naisei.intent.profile import Profile
from naisei.intent.thresholds import Thresholds
from naisei.lang import Language

__all__ = ["Role", "Rules", "Setting"]

#: The models' parts. One that has no model is played by rules.
Role = Literal["evaluator", "rewriter", "answerer"]


class Rules(BaseModel):
    """budget: questions back per request. asking, rewriting: off for ablations: then it always
    searches, or searches for the words joined. k: hits that an answer may rest on. depth: hits
    that the rule-based evaluation looks at. options: topics offered at most. unsupported:
    sentences of a model that the sources do not bear out are marked, or left out. min_coverage,
    full_coverage, least_coverage, min_distance: when the documents hold an answer, see
    `naisei.intent.evidence`.
    language: of prompts and messages. roles: those that a model plays.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    budget: int = Field(default=3, ge=0, le=20)
    asking: bool = True
    rewriting: bool = True
    k: int = Field(default=5, ge=1, le=50)
    depth: int = Field(default=30, ge=1, le=200)
    options: int = Field(default=6, ge=2, le=9)
    unsupported: Literal["mark", "drop"] = "mark"
    min_coverage: float = Field(default=0.5, ge=0, le=1)
    full_coverage: float = Field(default=0.9, ge=0, le=1)
    least_coverage: float = Field(default=0.2, ge=0, le=1)
    min_distance: float = Field(default=2.1, ge=0)
    thresholds: Thresholds = Thresholds()
    language: Language = "ja"
    roles: frozenset[Role] = frozenset()

    @field_serializer("roles")
    def _ordered(self, roles: frozenset[Role]) -> list[Role]:
        return sorted(roles)  # a set has another order in every process


class Setting(BaseModel):
    """The rules, and what is known of the person and of whom to ask."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: Rules = Rules()
    profile: Profile = Profile()
    contacts: Contacts = Contacts()
