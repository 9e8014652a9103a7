"""`check_before_say` and `reflect_after_failure`: the gate and the memo, with persistent state."""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, JsonValue

from naisei import lang
from naisei.core import (
    Chat,
    Effect,
    EffectFailed,
    Flow,
    Handler,
    InputError,
    Remember,
    Where,
    World,
    arun,
    run,
    system,
    user,
)
from naisei.director.gate import Gate
from naisei.director.gate_calls import Call
from naisei.director.schemas import Turn
from naisei.doors.exchange import Notes
from naisei.lang import Language, say
from naisei.memory import Memory, memory_policy
from naisei.models.gateway import ModelHandler
from naisei.models.registry import AnyModel, as_model
from naisei.runs.spans import traced

F = TypeVar("F", bound=Callable[..., Any])
_LOG = logging.getLogger("naisei.doors")
#: Maximum number of lines per conversation for repetition checks, and of notes per memory policy.
_LINES, _NOTES = 40, 10
#: Maximum number of characters of an input, outcome or failure that the reflector reads.
_SHOWN = 2_000


@dataclass(frozen=True, kw_only=True)
class CheckBeforeSay(Gate):
    """Wraps any function in `naisei.director.gate`, with the earlier lines in a file.

    Plain and async functions, generators and async generators; the decorated function keeps its
    type. If it has a parameter `reasons`, it receives why its last draft was rejected.

    Args:
        thread: name of the conversation, whose lines the repetition checks read.
        state: SQLite file, or `postgresql://…`, for the spoken lines; in memory by default.
        others: see `naisei.director.Gate`.

    Raises:
        InputError: an unknown character, or incompatible options.
    """

    thread: str = "main"
    state: str | Path | None = None
    history: None = field(default=None, init=False)
    notes: Notes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "notes", Notes(self.state))

    @property
    def _key(self) -> str:
        return f"lines:{self.thread}"

    async def _past_lines(self, call: Call) -> list[str]:
        if not call.blocking:
            await self.notes.aopen()
        return self.notes.texts(self._key)

    async def _finished(self, done: Turn, call: Call) -> None:
        if done.text is not None:
            lines: list[JsonValue] = [*self.notes.texts(self._key), done.text]
            if call.blocking:
                self.notes.put(self._key, lines[-_LINES:])
            else:
                await self.notes.aput(self._key, lines[-_LINES:])
        await super()._finished(done, call)


check_before_say = CheckBeforeSay


class Tried(BaseModel):
    """How a try went. failure: why it failed; empty if it did not. outcome: in words."""

    failure: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class _Try(Effect[Tried]):
    """Calls the function with this memo."""

    kind: ClassVar[str] = "try"
    memo: str = ""

    def request(self) -> JsonValue:
        return {"memo": self.memo}

    def encode(self, result: Tried) -> JsonValue:
        return result.model_dump()

    def decode(self, data: JsonValue) -> Tried:
        return Tried.model_validate(data)


def _tries(given: str, notes: _NotesMemory, trials: int, language: Language) -> Flow[bool]:
    """Try until a call succeeds or the trials are used up, with a new memo after each failure.
    Returns whether the last try succeeded."""
    for left in reversed(range(trials)):
        tried = yield from _Try(notes.memory.recall())
        if not tried.failure:
            return True
        try:
            note = yield from reflect(given, tried, notes.memory.previous(), language)
        except EffectFailed as failed:
            # Use the function's output unchanged.
            _LOG.warning("no reflection: %s", failed)
            return False
        yield from Remember(note)
        if not left:
            break
    return False


def reflect(given: str, tried: Tried, memo: str, language: Language) -> Flow[str]:
    """Write a new memo from a failure. given: the function's arguments."""
    words = _WORDS[language]
    parts = [
        f"{words[0]}\n{given[:_SHOWN]}",
        f"{words[1]}\n{tried.outcome[:_SHOWN] or words[4]}",
        f"{words[2]}\n{tried.failure[:_SHOWN]}",
        f"{words[3]}\n{memo or words[4]}",
    ]
    told = lang.render("naisei.doors", "reflect.v1", language)
    note = yield from Chat("reflector", [system(told), user("\n\n".join(parts))])
    return note.strip()


_WORDS = {
    "ja": ("入力", "出したもの", "失敗の理由", "これまでのメモ", "（なし）"),
    "en": ("Input", "What came out", "Why it failed", "The memo so far", "(none)"),
}


@dataclass
class _NotesMemory(Handler):
    """Runs a memory policy on the notes of a key. blocking: synchronous."""

    notes: Notes
    key: str
    memory: Memory
    blocking: bool

    def __post_init__(self) -> None:
        self._written = self.notes.texts(self.key)
        for note in self._written:
            self.memory.add(note)

    def perform(self, effect: Remember, where: Where) -> Awaitable[None] | None:
        self.memory.add(effect.item)
        self._written = [*self._written, str(effect.item)][-_NOTES:]
        if not self.blocking:
            return self.notes.aput(self.key, [*self._written])
        self.notes.put(self.key, [*self._written])
        return None


@dataclass
class _Call:
    """Calls a function again with a new memo, and returns its last outcome."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    keyword: str
    failed: Callable[[Any], str | bool] | None
    result: Any = None
    error: Exception | None = None
    streams: bool = field(default=False)

    def perform(self, effect: _Try) -> Tried:
        try:
            out = self.function(*self.args, **self._kwargs_with_memo(effect))
            if self.streams:
                out = list(out)
        except Exception as error:
            return self._raised(error)
        return self._ended(out)

    async def aperform(self, effect: _Try) -> Tried:
        try:
            out = self.function(*self.args, **self._kwargs_with_memo(effect))
            out = [part async for part in out] if self.streams else await out
        except Exception as error:
            return self._raised(error)
        return self._ended(out)

    def arguments_text(self) -> str:
        """Return the arguments as text."""
        named = [f"{name}={value!r}" for name, value in self.kwargs.items()]
        shown = [str(a) if isinstance(a, str) else repr(a) for a in self.args]
        return "\n".join([*shown, *named])

    def outcome(self) -> Any:
        """Return the result of the last call, or raise its exception."""
        if self.error is not None:
            raise self.error
        return self.result

    @contextmanager
    def first(self) -> Iterator[None]:
        """Context in which an error of ours does not hide the function's exception."""
        try:
            yield
        except Exception as fault:
            if self.error is None or fault is self.error:
                raise
            _LOG.warning("no reflection: %s", fault)

    def _kwargs_with_memo(self, effect: _Try) -> dict[str, Any]:
        return {**self.kwargs, self.keyword: effect.memo}

    def _raised(self, error: Exception) -> Tried:
        self.result, self.error = None, error
        return Tried(failure=f"{type(error).__name__}: {error}")

    def _ended(self, out: Any) -> Tried:
        self.result, self.error = out, None
        shown = "".join(map(str, out)) if self.streams else str(out)
        why = self.failed(shown if self.streams else out) if self.failed is not None else ""
        if why is True:
            why = say("失敗と判定された", "it was judged a failure")
        return Tried(failure=why or "", outcome=shown)


def reflect_after_failure(
    *,
    model: AnyModel,
    state: str | Path | None = None,
    per: str = "",
    failed: Callable[[Any], str | bool] | None = None,
    trials: int = 2,
    memory: str = "tur",
    keyword: str = "memo",
    language: Language | None = None,
) -> Callable[[F], F]:
    """Decorator that writes a memo after a failure and calls the function again with it, now and in
    every later call for the same user or task.

    Plain and async functions, generators and async generators (buffered until a try ends). The
    function takes the memo as `keyword`, empty at first. Exceptions of the last try pass through.
    If reflection fails, that is logged, and the outcome of the try is passed through.

    Args:
        model: the reflector: `provider:name`, or any model that `ask_before_act` takes.
        state: SQLite file, or `postgresql://…`, for the memos; in memory by default.
        per: name of the parameter that identifies the user or task; without it, the function has a
            single memo.
        failed: function from the return value (a stream's whole text) to the failure reason, true
            or empty. An exception is always a failure.
        trials: maximum number of calls, ≥ 1.
        memory: memory policy: `tur` (one memo, rewritten) or `reflexion` (the last three).
        language: language of the reflector's instructions and memos; by default the user's.

    Raises:
        InputError: an unknown policy, trials below 1, or a function without the parameters.
    """
    if trials < 1:
        raise InputError(say("1 以上にしてください", "must be 1 or more"), place="trials")
    made_of, reflector = memory_policy(memory), as_model(model)
    notes = Notes(state)

    def decorated(function: F) -> F:
        signature = inspect.signature(function)
        for name in (keyword, per):
            if name and name not in signature.parameters:
                raise InputError(
                    say(f"引数 {name} がありません", f"it has no parameter {name}"),
                    place=getattr(function, "__qualname__", repr(function)),
                )

        def begun(
            args: tuple[Any, ...], kwargs: dict[str, Any], *, blocking: bool = True
        ) -> tuple[_Call, _NotesMemory]:
            task = getattr(function, "__qualname__", type(function).__qualname__)
            whose = str(signature.bind_partial(*args, **kwargs).arguments.get(per, ""))
            kept = _NotesMemory(notes, f"memo:{task}:{whose}", made_of(), blocking)
            return _Call(function, args, kwargs, keyword, failed), kept

        def tries(call: _Call, kept: _NotesMemory) -> Flow[bool]:
            return _tries(call.arguments_text(), kept, trials, language or lang.language())

        def going(call: _Call, kept: _NotesMemory) -> None:
            chat = ModelHandler(reflector, blocking=True)
            with call.first():
                run(
                    tries(call, kept),
                    traced(World({_Try: call.perform, Chat: chat, Remember: kept})),
                )

        async def agoing(args: tuple[Any, ...], kwargs: dict[str, Any], streams: bool) -> _Call:
            await notes.aopen()
            call, kept = begun(args, kwargs, blocking=False)
            call.streams = streams
            chat = ModelHandler(reflector, blocking=False)
            world = traced(World({_Try: call.aperform, Chat: chat, Remember: kept}))
            with call.first():
                await arun(tries(call, kept), world)
            return call

        @wraps(function)
        def plain(*args: Any, **kwargs: Any) -> Any:
            call, kept = begun(args, kwargs)
            going(call, kept)
            return call.outcome()

        @wraps(function)
        def stream(*args: Any, **kwargs: Any) -> Iterator[Any]:
            call, kept = begun(args, kwargs)
            call.streams = True
            going(call, kept)
            yield from call.outcome()

        @wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            return (await agoing(args, kwargs, streams=False)).outcome()

        @wraps(function)
        async def astream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            call = await agoing(args, kwargs, streams=True)
            for part in call.outcome():
                yield part

        wrapped: Any = plain
        if inspect.isasyncgenfunction(function):
            wrapped = astream
        elif inspect.iscoroutinefunction(function):
            wrapped = awaited
        elif inspect.isgeneratorfunction(function):
            wrapped = stream
        made: F = wrapped
        return made

    return decorated
