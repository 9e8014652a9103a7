"""Questions of a flow to a person, and parsing of the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from naisei.core import Effect, Handler, InputError, Where
from naisei.lang import say

#: Parses the person's fields into the result of an effect. Raises `InputError` for invalid input;
#: the effect then keeps waiting.
ReadAnswer = Callable[[Any, Mapping[str, str]], Any]


class NotAsked(InputError):
    """An answer to a question that is not pending."""


@dataclass(frozen=True, slots=True)
class PendingQuestion:
    """An effect that waits for the person. step: its position in the flow; answers refer to it."""

    step: str
    effect: Effect[Any]
    read: ReadAnswer
    answered: asyncio.Future[Any]

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed answers, if not free text."""
        found: tuple[str, ...] = getattr(self.read, "choices", ())
        return found


def answer_text(effect: Effect[Any], fields: Mapping[str, str]) -> str:
    """Parses the answer to `AskUser`: the field `text`, at least one character."""
    text = fields.get("text", "").strip()
    if not text:
        raise InputError(say("何か書いてください", "please write something"))
    return text


class HumanHandler(Handler):
    """Performs effects by asking the person; waits for each answer."""

    def __init__(self, ask: Callable[[PendingQuestion], None], read: ReadAnswer) -> None:
        self._ask, self._read = ask, read

    async def perform(self, effect: Effect[Any], where: Where) -> Any:
        answered = asyncio.get_running_loop().create_future()
        self._ask(PendingQuestion(where.step, effect, self._read, answered))
        return await answered


class OneOf:
    """Parses one of several fixed answers."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def __call__(self, effect: Effect[Any], fields: Mapping[str, str]) -> str:
        if (text := fields.get("text", "").strip()) in self.choices:
            return text
        known = say("、", ", ").join(self.choices)
        raise InputError(say(f"{known} のどれかです", f"must be one of {known}"))
