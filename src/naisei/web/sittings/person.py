"""The person at the page, as a handler: an effect waits until somebody has answered it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException

from naisei.core import Effect, Handler, Where
from naisei.lang import say

if TYPE_CHECKING:
    from naisei.web.sittings.sitting import Sitting

__all__ = ["Asked", "Person", "Read", "words"]

#: Makes the result of an effect from the fields of the form. Raises `HTTPException` for
#: what cannot be used: then the effect waits on.
Read = Callable[[Any, Mapping[str, str]], Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """An effect that waits for the person. step: its place in the flow, which an answer names."""

    step: str
    effect: Effect[Any]
    read: Read
    answered: asyncio.Future[Any]


def words(effect: Effect[Any], fields: Mapping[str, str]) -> str:
    """The field `text`: at least one character. What `AskUser` takes."""
    text = fields.get("text", "").strip()
    if not text:
        raise HTTPException(422, say("何か書いてください", "please write something"))
    return text


class Person(Handler):
    """Performs effects by asking the person of a sitting. read: `words` by default."""

    def __init__(self, sitting: Sitting, read: Read = words) -> None:
        self._sitting, self._read = sitting, read

    async def perform(self, effect: Effect[Any], where: Where) -> Any:
        answered = asyncio.get_running_loop().create_future()
        self._sitting.ask(Asked(where.step, effect, self._read, answered))
        return await answered
