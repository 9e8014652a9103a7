"""One call of a gated function: its drafts, in the pieces in which they came."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import JsonValue

from naisei.core import Effect
from naisei.director.mend import mend
from naisei.director.schemas import Turn

__all__ = ["Call", "Write"]


@dataclass(frozen=True)
class Write(Effect[str]):
    """A draft by the gated function. reasons: why the one before was rejected."""

    kind: ClassVar[str] = "write"
    reasons: tuple[str, ...] = ()

    def request(self) -> JsonValue:
        return {"reasons": list(self.reasons)}

    def encode(self, result: str) -> JsonValue:
        if not isinstance(result, str):
            raise TypeError(f"a generate function gives text, not {type(result).__name__}")
        return result


class Call:
    """Calls the function again and again, and gives the accepted draft as it came."""

    def __init__(
        self,
        generate: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        *,
        keyword: str,
        otherwise: str,
    ) -> None:
        self._generate, self._args, self._kwargs = generate, args, kwargs
        self._keyword = keyword if _takes(generate, keyword) else ""
        self._otherwise = otherwise
        self._drafts: list[list[str]] = []
        self._streams: type[Any] | None = None

    @property
    def line(self) -> str:
        """The latest draft with its mends: what the judge is asked about."""
        return mend("".join(self._drafts[-1]))[1]

    def write(self, asked: Write) -> str:
        """A draft of a plain function or a generator."""
        out = self._called(asked)
        if inspect.isawaitable(out):
            if inspect.iscoroutine(out):
                out.close()
            raise TypeError("this function gives an awaitable: define it with `async def`")
        if isinstance(out, str):
            return self._kept([out])
        if not hasattr(out, "__iter__"):
            return self._kept([out])
        self._streams = Iterator
        return self._kept(list(out))

    async def awrite(self, asked: Write) -> str:
        """A draft of an async function or an async generator."""
        out = self._called(asked)
        if inspect.isawaitable(out):
            out = await out
        if hasattr(out, "__aiter__"):
            self._streams = AsyncIterator
            return self._kept([part async for part in out])
        return self._kept([out])

    def parts(self, turn: Turn) -> list[str]:
        """What is let out, in pieces: those of the draft if no mend changed it."""
        text = self._otherwise if turn.text is None else turn.text
        if turn.chosen is not None and "".join(self._drafts[turn.chosen]) == text:
            return self._drafts[turn.chosen]
        return [text] if text else []

    def result(self, turn: Turn) -> Any:
        """What is let out, as the function gives it: text, or an iterator of pieces."""
        parts = self.parts(turn)
        if self._streams is Iterator:
            return iter(parts)
        return _replayed(parts) if self._streams is AsyncIterator else "".join(parts)

    def _called(self, asked: Write) -> Any:
        kwargs = dict(self._kwargs)
        if self._keyword and (self._drafts or self._keyword not in kwargs):
            kwargs[self._keyword] = asked.reasons
        return self._generate(*self._args, **kwargs)

    def _kept(self, parts: list[Any]) -> str:
        for part in parts:
            if not isinstance(part, str):
                raise TypeError(f"a generate function gives text, not {type(part).__name__}")
        self._drafts.append(parts)
        return "".join(parts)


def _takes(generate: Callable[..., Any], keyword: str) -> bool:
    """Whether the function has a parameter of this name; `**kwargs` is no such one, since it
    may be handed on to somebody who does not know it."""
    try:
        found = inspect.signature(generate).parameters.get(keyword)
    except (TypeError, ValueError):
        return False
    return found is not None and found.kind in (found.POSITIONAL_OR_KEYWORD, found.KEYWORD_ONLY)


async def _replayed(parts: list[str]) -> AsyncIterator[str]:
    for part in parts:
        yield part
