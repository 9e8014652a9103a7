"""Calls of a gated function: its drafts, whole or sentence by sentence, and its judge."""

from __future__ import annotations

import asyncio
import inspect
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from pydantic import JsonValue

from naisei.core import (
    Chat,
    Effect,
    Handler,
    InstrumentFailure,
    Message,
    NaiseiError,
    Status,
)
from naisei.director.character import Character
from naisei.director.config import TalkRules
from naisei.director.draft import best, checked
from naisei.director.schemas import ASPECTS, Draft, Outcome, Scores, Turn
from naisei.director.spoken import speakable
from naisei.director.state import TalkState
from naisei.models.gateway import ModelHandler, background

T = TypeVar("T")


@dataclass(frozen=True)
class Write(Effect[str]):
    """Request a draft of the gated function. reasons: why the previous one was rejected."""

    kind: ClassVar[str] = "write"
    reasons: tuple[str, ...] = ()

    def request(self) -> JsonValue:
        return {"reasons": list(self.reasons)}

    def encode(self, result: str) -> JsonValue:
        return result


class Call:
    """One call of a gated function, which may run again for a new draft.

    blocking: the caller is synchronous, so nothing may be awaited.
    """

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
        self._otherwise, self.blocking = otherwise, blocking
        self._drafts: list[list[str]] = []
        self._streams: type[Any] | None = None

    @property
    def line(self) -> str:
        """The latest draft after automatic fixes, as the judge sees it."""
        return speakable("".join(self._drafts[-1]))[1]

    async def write(self, request: Write) -> str:
        """Return a whole draft."""
        return "".join([piece async for piece in self.pieces(request.reasons)])

    async def pieces(self, reasons: tuple[str, ...]) -> AsyncIterator[str]:
        """Yield a draft in chunks, whether the function returns text, an iterator, or an awaitable
        of either."""
        out = self._called(reasons)
        if inspect.isawaitable(out):
            if self.blocking:
                if inspect.iscoroutine(out):
                    out.close()
                raise TypeError("this function gives an awaitable: define it with `async def`")
            out = await out
        self._drafts.append([])
        if hasattr(out, "__aiter__"):
            self._streams = AsyncIterator
            async for piece in out:
                yield self._recorded(piece)
            return
        whole = isinstance(out, str) or not hasattr(out, "__iter__")
        self._streams = None if whole else Iterator
        for piece in [out] if whole else out:
            yield self._recorded(piece)

    def _called(self, reasons: tuple[str, ...]) -> Any:
        kwargs = dict(self._kwargs)
        if self._keyword and (self._drafts or self._keyword not in kwargs):
            kwargs[self._keyword] = reasons
        return self._generate(*self._args, **kwargs)

    def _recorded(self, piece: Any) -> str:
        if not isinstance(piece, str):
            raise TypeError(f"a generate function gives text, not {type(piece).__name__}")
        self._drafts[-1].append(piece)
        return piece

    def parts(self, turn: Turn) -> list[str]:
        """The accepted text in parts: the draft's chunks if no fix changed it."""
        text = self._otherwise if turn.text is None else turn.text
        if turn.chosen is not None and "".join(self._drafts[turn.chosen]) == text:
            return self._drafts[turn.chosen]
        return [text] if text else []

    def result(self, turn: Turn) -> Any:
        """The accepted text in the function's return type: text, or an iterator of parts."""
        parts = self.parts(turn)
        if self._streams is Iterator:
            return iter(parts)
        return _replayed(parts) if self._streams is AsyncIterator else "".join(parts)


def _takes(generate: Callable[..., Any], keyword: str) -> bool:
    """Whether the function has a parameter of this name; `**kwargs` does not count, since it may be
    forwarded to a function without the parameter."""
    try:
        found = inspect.signature(generate).parameters.get(keyword)
    except (TypeError, ValueError):
        return False
    return found is not None and found.kind in (found.POSITIONAL_OR_KEYWORD, found.KEYWORD_ONLY)


def at_once(stream: AsyncIterator[str]) -> Iterator[str]:
    """Iterate an async stream that never awaits, without an event loop."""
    while True:
        try:
            part = now(stream.__anext__())
        except StopAsyncIteration:
            return
        yield part


def now(todo: Awaitable[T]) -> T:
    """The result of a coroutine that never awaits."""
    try:
        next(todo.__await__())
    except StopIteration as done:
        result: T = done.value
        return result
    raise RuntimeError("a synchronous call cannot wait")


async def _replayed(parts: list[str]) -> AsyncIterator[str]:
    for part in parts:
        yield part


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """The question to a judge. text: the line after automatic fixes; history: the earlier lines;
    messages: the complete prompt, for a language model that answers with JSON of `Scores`."""

    text: str
    character: Character
    history: tuple[str, ...]
    topic: str
    scene: str
    messages: tuple[Message, ...]


AnyJudge = str | Callable[[JudgeQuestion], Any]


def judge_handler(
    judge: AnyJudge, call: Call, character: Character, state: TalkState
) -> Handler | Callable[[Chat[Any]], Any]:
    """Performs the judge's `Chat` effects."""
    if isinstance(judge, str):
        return ModelHandler(judge, blocking=call.blocking)

    def perform(effect: Chat[Any]) -> Any:
        question = JudgeQuestion(
            call.line, character, state.lines, state.topic, state.scene, effect.messages
        )
        scores = _judged(judge, question, blocking=call.blocking)
        return now(scores) if call.blocking else scores

    return perform


async def _judged(
    judge: Callable[[JudgeQuestion], Any], question: JudgeQuestion, *, blocking: bool
) -> Scores:
    """Scores from a judge function; calls it once more if they are invalid.

    Raises:
        InstrumentFailure: the scores were invalid twice; any error of the function counts as
            invalid.
    """
    failure: Exception = ValueError()
    for _ in range(2):
        try:
            if blocking:
                answer = judge(question)
                answer = background().wait(answer) if inspect.isawaitable(answer) else answer
            else:
                # In a thread, since a plain function would block the caller's loop.
                answer = await asyncio.to_thread(judge, question)
                answer = await answer if inspect.isawaitable(answer) else answer
            return _scores(answer)
        except Exception as error:
            if isinstance(error, NaiseiError) and not isinstance(error, InstrumentFailure):
                raise
            failure = error
    raise InstrumentFailure(
        f"the judge gave nothing usable, twice; last: {type(failure).__name__}: {failure}"
    ) from failure


def _scores(given: Any) -> Scores:
    """Convert any accepted form to scores.

    Raises:
        ValueError: the form is not accepted (includes pydantic's and the model layer's errors).
    """
    if isinstance(given, Scores):
        return given
    if isinstance(given, str):
        # The model layer takes a second to import; most judges do not need it.
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


_END = re.compile(r"[。！？!?\n]+[」』）)]*")


class SentenceGate:
    """One turn of a streaming function. `let_out` yields sentences as soon as they pass."""

    def __init__(self, character: Character, state: TalkState, rules: TalkRules) -> None:
        self._character, self._state, self._rules = character, state, rules
        self._drafts: list[Draft] = []
        self._said = self._held = ""
        self._open, self._done = True, False
        self._latency: float | None = None

    async def let_out(self, call: Call) -> AsyncIterator[str]:
        """Yield accepted sentences of `call`'s drafts until a draft is complete or the retries are
        exhausted."""
        began = time.monotonic()
        async for out in self._sentences(call):
            if out:
                self._latency = self._latency or time.monotonic() - began
                yield out

    async def _sentences(self, call: Call) -> AsyncIterator[str]:
        while not self._done:
            self._held, self._open = "", True
            async for piece in call.pieces(self._drafts[-1].reasons if self._drafts else ()):
                yield self._feed(piece)
                if not self._open:
                    break
            yield self._end()

    def _feed(self, piece: str) -> str:
        """Add text and return the sentences that may be said now."""
        self._held += piece
        out = ""
        # The last mark may continue in the next chunk (「！」「？」), so wait for more text.
        while self._open and (found := _END.search(self._held)) and found.end() < len(self._held):
            out += self._let(self._held[: found.end()], self._held[found.end() :])
        return out

    def _end(self) -> str:
        """End the draft and return the sentences that may still be said."""
        out = self._let(self._held, "") if self._open and (self._held or not self._said) else ""
        if self._open or self._said or len(self._drafts) > self._rules.retries:
            self._done = True
        chosen = best(self._drafts) if self._rules.policy == "best" else None
        if self._done and not self._said and chosen is not None:
            out = self._said = self._drafts[chosen].text
        return out

    def turn(self) -> Turn:
        """How the turn ended."""
        rejected = self._drafts[-1].status is Status.RETRY
        outcome = "refused" if not self._said else "said"
        if self._said and rejected and len(self._drafts) > self._rules.retries:
            outcome = "best"
        status = self._drafts[-1].status if outcome == "said" and not rejected else Status.WARN
        return Turn(
            number=1,
            speaker=self._character.id,
            outcome=cast(Outcome, outcome),
            status=Status.RETRY if outcome == "refused" else status,
            text=self._said or None,
            drafts=tuple(self._drafts),
            chosen=None,
            latency=self._latency,
        )

    def _let(self, sentence: str, rest: str) -> str:
        draft = checked(
            self._said + sentence,
            self._character,
            self._state,
            self._rules.language,
            self._rules.rules,
        )
        if draft.status is Status.RETRY or not rest:
            self._drafts.append(draft)
        if draft.status is Status.RETRY:
            self._open = False
            return ""
        self._said, self._held = self._said + sentence, rest
        return sentence
