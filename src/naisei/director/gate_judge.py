"""The judge of a gate: a function of the caller's, or a model by its name."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any, TypeVar

from naisei.core import Chat, Handler, InstrumentFailure, Message, NaiseiError, Where
from naisei.director.gate_calls import Call
from naisei.director.profile import Character
from naisei.director.schemas import ASPECTS, Scores
from naisei.director.state import TalkState

__all__ = ["AnyJudge", "JudgeQuestion", "judge_handler"]

T = TypeVar("T")


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
        return _Model(judge, blocking=blocking)

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
        question = self._question(effect)
        return self._waited(question) if self._blocking else self._awaited(question)

    def _waited(self, question: JudgeQuestion) -> Scores:
        faults = _Faults()
        while faults.bearable:
            with faults:
                given = self._judge(question)
                return _read(_background().wait(given) if inspect.isawaitable(given) else given)
        raise faults.failure

    async def _awaited(self, question: JudgeQuestion) -> Scores:
        faults = _Faults()
        while faults.bearable:
            with faults:
                # In a thread, since a plain function would hold up the caller's loop.
                given = await asyncio.to_thread(self._judge, question)
                return _read(await given if inspect.isawaitable(given) else given)
        raise faults.failure


class _Faults:
    """Whatever a foreign judge does wrong, it has not measured the line; one fault is borne."""

    def __init__(self) -> None:
        self._met: list[Exception] = []

    @property
    def bearable(self) -> bool:
        return len(self._met) < 2

    @property
    def failure(self) -> InstrumentFailure:
        last = self._met[-1]
        return InstrumentFailure(
            f"the judge gave nothing usable, twice; last: {type(last).__name__}: {last}"
        )

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception) or isinstance(error, NaiseiError):
            return False
        self._met.append(error)
        return True


def _read(given: Any) -> Scores:
    """Scores in any of the forms that a judge may give.

    Raises:
        ValueError: none of them (pydantic's and the model layer's errors among them).
    """
    if isinstance(given, Scores):
        return given
    if isinstance(given, str):
        # The model layer takes a second to import; most judges do without it.
        from naisei.models.structured import Garbage, Violation, read

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


class _Model(Handler):
    """A model of the model layer, whose connections live in a loop of their own, so that they
    outlast the loops of whoever calls the gate."""

    def __init__(self, spec: str, *, blocking: bool) -> None:
        self._spec, self._blocking = spec, blocking

    def perform(self, effect: Chat[Any], where: Where) -> Any:
        gateway = _gateway(self._spec)
        todo = gateway.perform(effect, where)
        return _background().wait(todo) if self._blocking else _background().awaited(todo)


@cache
def _gateway(spec: str) -> Any:
    from naisei.models.connection import RetryPolicy
    from naisei.models.gateway import Gateway
    from naisei.models.registry import open_roles

    # Somebody waits for the line: a judge that does not answer is given up sooner than in a run.
    return Gateway(
        open_roles(None, {"judge": spec}), patience=RetryPolicy(attempts=4, resends=0, knocks=1)
    )


class _Background:
    """An event loop in a thread that ends with the process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="naisei-gate", daemon=True).start()

    def wait(self, todo: Awaitable[T]) -> T:
        return asyncio.run_coroutine_threadsafe(_coroutine(todo), self._loop).result()

    def awaited(self, todo: Awaitable[T]) -> Awaitable[T]:
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_coroutine(todo), self._loop))


async def _coroutine(todo: Awaitable[T]) -> T:
    return await todo


_lock = threading.Lock()
_made: list[_Background] = []


def _background() -> _Background:
    with _lock:
        if not _made:
            _made.append(_Background())
        return _made[0]
