"""The reply of a language model that decides: flat, closed, and valid by construction."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

__all__ = ["Reply", "reply_schema"]


class Reply(BaseModel):
    """A thought, and then either a question or an action.

    Flat on purpose: unions are refused or mangled by many endpoints, and weak models
    fill a flat form more reliably. `action` is always given: when asking it is the
    best guess so far, from which over-asking is measured.
    """

    model_config = ConfigDict(extra="ignore")

    thought: str
    choice: Literal["clarify", "execute"]
    question: str = ""
    action: int

    @model_validator(mode="after")
    def _a_question_has_words(self) -> Reply:
        if self.choice == "clarify" and not self.question.strip():
            raise ValueError("choice is 'clarify' but the question is empty")
        return self


@lru_cache(maxsize=1024)
def reply_schema(allowed: tuple[int, ...], may_ask: bool) -> type[Reply]:
    """The schema for this step: only actions still allowed, and no question once none may be asked.

    Actions are an enumeration, since endpoints do not enforce integer bounds.
    """
    fields: dict[str, Any] = {
        "thought": (str, Field(description="short reasoning before the decision")),
        "choice": (Literal["clarify", "execute"] if may_ask else Literal["execute"], ...),
        "action": (
            Literal[allowed],
            Field(description="id of the action to execute; when asking, the best guess so far"),
        ),
    }
    if may_ask:  # else the base's optional one stays, for models that fill it all the same
        asked = Field(description="the one question to ask; empty when executing")
        fields["question"] = (str, asked)
    return create_model("Decision", __base__=Reply, **fields)
