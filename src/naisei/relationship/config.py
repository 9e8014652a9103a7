"""What a run of conversations is: everything that changes its results, frozen."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from naisei.relationship.rules import Rules

__all__ = ["ROLES", "RelationshipConfig"]

#: Who asks a model for what: the lines; the questions and the vector; the notes on a session;
#: the importance of utterances, where a model rates it.
ROLES = ("speaker", "questioner", "reflector", "summariser", "rater")


class RelationshipConfig(BaseModel):
    """Conversations of one pair or several.

    personas: ids of shipped pairs or paths of TOML files. dialogues: conversations of each pair,
    each an episode. models: role → `provider:name`. sampling: role → parameters. embedder: by
    its own name, never `auto`; `none` for ranks without relevance.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    personas: Annotated[tuple[str, ...], Field(min_length=1)] = ("engineers",)
    dialogues: Annotated[int, Field(ge=1)] = 1
    rules: Rules = Rules()
    models: dict[str, str] = {}
    sampling: dict[str, dict[str, float | int]] = {}
    embedder: str = "ngram"
    seed: int = 0

    @property
    def needed(self) -> tuple[str, ...]:
        """The roles that will be asked."""
        reflecting = self.rules.reflection != "off"
        asked = {
            "speaker": True,
            "questioner": reflecting,
            "reflector": reflecting,
            "summariser": self.rules.summary and self.rules.sessions > 1,
            "rater": reflecting and self.rules.importance == "model",
        }
        return tuple(role for role in ROLES if asked[role])
