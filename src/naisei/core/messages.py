"""What passes between a flow and a language model: messages and sampling parameters."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from pydantic import JsonValue

__all__ = ["Message", "Role", "Sampling", "assistant", "system", "user"]

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation with a model."""

    role: Role
    content: str

    def to_json(self) -> JsonValue:
        return {"role": self.role, "content": self.content}


def system(content: str) -> Message:
    """Instructions."""
    return Message("system", content)


def user(content: str) -> Message:
    """What the model is given or told."""
    return Message("user", content)


def assistant(content: str) -> Message:
    """What the model said."""
    return Message("assistant", content)


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters; `None` leaves a parameter to the role or the endpoint.

    temperature: ≥ 0. top_p: (0, 1]. max_tokens: ≥ 1, of the reply. seed: any integer.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Only what is set."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}

    def over(self, base: Sampling) -> Sampling:
        """These parameters where set, else those of `base`."""
        mine = self.to_json()
        return Sampling(**{**base.to_json(), **mine})  # type: ignore[arg-type]
