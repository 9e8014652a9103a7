"""What a flow asks of a person, and how the answer is read from what was typed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from naisei.core import Effect, InputError
from naisei.lang import say

#: Makes the result of an effect from the fields that the person filled in. Raises `InputError`
#: for what cannot be used: then the effect waits on.
ReadAnswer = Callable[[Any, Mapping[str, str]], Any]


class NotAsked(InputError):
    """An answer to what is not being asked now."""


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """An effect that waits for the person. step: its place in the flow, which an answer names."""

    step: str
    effect: Effect[Any]
    read: ReadAnswer
    answered: asyncio.Future[Any]

    @property
    def choices(self) -> tuple[str, ...]:
        """The answers there are, where not any words will do."""
        found: tuple[str, ...] = getattr(self.read, "choices", ())
        return found


def answer_text(effect: Effect[Any], fields: Mapping[str, str]) -> str:
    """The field `text`: at least one character. What `AskUser` takes."""
    text = fields.get("text", "").strip()
    if not text:
        raise InputError(say("何か書いてください", "please write something"))
    return text
