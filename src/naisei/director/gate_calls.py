"""Calls of a gated function, its drafts piece by piece, and of its judge."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from pydantic import JsonValue

from naisei.core import Chat, Effect, Handler, InstrumentFailure, Message, NaiseiError, Where
from naisei.director.character import Character
from naisei.director.schemas import ASPECTS, Scores, Turn
from naisei.director.spoken import spoken
from naisei.director.state import TalkState
from naisei.models.handler import ModelHandler, background

T = TypeVar("T")


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
        blocking: bool,
    ) -> None:
        self._generate, self._args, self._kwargs = generate, args, kwargs
        self._keyword = keyword if _takes(generate, keyword) else ""
        self._otherwise, self._blocking = otherwise, blocking
        self._drafts: list[list[str]] = []
        self._streams: type[Any] | None = None

    @property
    def line(self) -> str:
        """The latest draft with its mends: what the judge is asked about."""
        return spoken("".join(self._drafts[-1]))[1]

    async def write(self, asked: Write) -> str:
        """A draft of a function of any kind; nothing waits but for the function."""
        out = self._called(asked)
        if inspect.isawaitable(out):
            if self._blocking:
                if inspect.iscoroutine(out):
                    out.close()
                raise TypeError("this function gives an awaitable: define it with `async def`")
            out = await out
        if hasattr(out, "__aiter__"):
            self._streams = AsyncIterator
            return self._recorded([part async for part in out])
        if isinstance(out, str) or not hasattr(out, "__iter__"):
            return self._recorded([out])
        self._streams = Iterator
        return self._recorded(list(out))

    async def pieces(self, reasons: tuple[str, ...]) -> AsyncIterator[str]:
        """A draft of a generator of either kind, piece by piece."""
        out = self._called(Write(reasons))
        self._drafts.append([])
        if hasattr(out, "__aiter__"):
            async for part in out:
                yield self._piece(part)
        else:
            for part in [out] if isinstance(out, str) else out:
                yield self._piece(part)

    def _piece(self, part: Any) -> str:
        if not isinstance(part, str):
            raise TypeError(f"a generate function gives text, not {type(part).__name__}")
        return part

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

    def _recorded(self, parts: list[Any]) -> str:
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


def at_once(stream: AsyncIterator[str]) -> Iterator[str]:
    """An async stream in which nothing waits, for a caller without an event loop."""
    while True:
        try:
            part = now(stream.__anext__())
        except StopAsyncIteration:
            return
        yield part


def now(todo: Awaitable[T]) -> T:
    """The result of what waits for nothing."""
    try:
        next(todo.__await__())
    except StopIteration as done:
        result: T = done.value
        return result
    raise RuntimeError("this waits for something, and nobody can")


async def _replayed(parts: list[str]) -> AsyncIterator[str]:
    for part in parts:
        yield part


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """What a judge is asked. text: the line, mended; history: the lines before; messages: the
    whole question in words, for a language model that answers with JSON of `Scores`."""

    text: str
    character: Character
    history: tuple[str, ...]
    topic: str
    scene: str
    messages: tuple[Message, ...]


AnyJudge = str | Callable[[JudgeQuestion], Any]


def judge_handler(
    judge: AnyJudge, call: Call, character: Character, state: TalkState, *, blocking: bool
) -> Handler:
    """Performs the judge's `Chat` effects; blocking: nobody awaits."""
    if isinstance(judge, str):
        return ModelHandler(judge, blocking=blocking)

    def question(effect: Chat[Any]) -> JudgeQuestion:
        return JudgeQuestion(
            call.line, character, state.lines, state.topic, state.scene, effect.messages
        )

    return _Function(judge, question, blocking=blocking)


class _Function(Handler):
    """Asked once more where what it gives is no judgement; then it is an instrument failure."""

    def __init__(
        self,
        judge: Callable[[JudgeQuestion], Any],
        question: Callable[[Chat[Any]], JudgeQuestion],
        *,
        blocking: bool,
    ) -> None:
        self._judge, self._question, self._blocking = judge, question, blocking

    def perform(self, effect: Chat[Any], where: Where) -> Any:
        asked = self._judged(self._question(effect))
        return now(asked) if self._blocking else asked

    async def _judged(self, question: JudgeQuestion) -> Scores:
        try:
            return await self._heard(question)
        except InstrumentFailure:
            return await self._heard(question)

    async def _heard(self, question: JudgeQuestion) -> Scores:
        """Whatever a foreign judge does wrong, it has not measured the line."""
        try:
            return _read(await self._given(question))
        except NaiseiError:
            raise
        except Exception as error:
            raise InstrumentFailure(
                f"the judge gave nothing usable, twice; last: {type(error).__name__}: {error}"
            ) from error

    async def _given(self, question: JudgeQuestion) -> Any:
        if self._blocking:
            given = self._judge(question)
            return background().wait(given) if inspect.isawaitable(given) else given
        # In a thread, since a plain function would hold up the caller's loop.
        given = await asyncio.to_thread(self._judge, question)
        return await given if inspect.isawaitable(given) else given


def _read(given: Any) -> Scores:
    """Scores in any of the forms that a judge may give.

    Raises:
        ValueError: none of them (pydantic's and the model layer's errors among them).
    """
    if isinstance(given, Scores):
        return given
    if isinstance(given, str):
        # The model layer takes a second to import; most judges do without it.
        from naisei.models.replies import Garbage, Violation, read

        try:
            found = read(given, Scores)
        except (Garbage, Violation) as error:
            raise ValueError(str(error)) from error
        assert isinstance(found, Scores)
        return found
    if isinstance(given, Mapping):
        return Scores.model_validate(dict(given))
    if isinstance(given, Sequence) and len(given) == len(ASPECTS):
        return Scores.model_validate(dict(zip(ASPECTS, given, strict=True)))
    raise ValueError(f"{type(given).__name__} is no judgement")
