"""Messages of a conversation about an action, and the handler that performs a turn."""

from __future__ import annotations

import asyncio
import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import JsonValue

from naisei.core import (
    Act,
    AskUser,
    Effect,
    Handler,
    MemoryLog,
    Observation,
    Usage,
    Where,
)
from naisei.postgres import is_address, without_password
from naisei.runs.lock import retry_while_locked
from naisei.runs.log import RunLog

R = TypeVar("R")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Request:
    """The input of an action: the request, questions and answers. id: permanent unique id of
    conversation and request, usable as an idempotency key."""

    text: str
    asked: tuple[tuple[str, str], ...] = ()
    id: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the user. guess: the action that would be taken now, if known. step: permanent
    unique name of conversation, request and question; an answer that names it counts once. options:
    answers that are always understood, the last one being that nothing is to be done. Free answers
    are understood, too."""

    text: str
    guess: str = ""
    step: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision to act, not yet carried out. thought: the agent's reason, if any."""

    action: str
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Declined:
    """No action was carried out. reason: `no request` (thanks, a greeting, or a withdrawn request),
    `none fits` (the user wants none of the actions), or `not confirmed` (an action that needs a yes
    got a no, or twice another answer)."""

    reason: str
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Acted(Generic[R]):
    """A completed action. result: its function's result. again: it was carried out before; `result`
    is then the logged one, or `None` if it is not JSON."""

    action: str
    result: R | None
    again: bool = False


class Asking(Exception):
    """The flow reached an unanswered question."""

    waits = True


@dataclass
class ActingTurn(Handler, Generic[R]):
    """One turn of a conversation, performed: `AskUser` and `Act`.

    act: carries out an action by its number. id: id of the request. answer: answers the first
    unlogged question. ask: asks the user all others. pending: the waiting question and its step.
    """

    act: Callable[[int, Request], R]
    request: str
    id: str = ""
    answer: str | None = None
    ask: Callable[[str], str | Awaitable[str]] | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)
    pending: tuple[str, str] | None = None
    done: list[R] = field(default_factory=list)

    def perform(self, effect: Effect[Any], where: Where) -> Any:
        if isinstance(effect, Act):
            request = Request(self.request, tuple(self.asked), self.id)
            result = self.act(int(effect.action["execute"]), request)
            return self._awaited(result) if isinstance(result, Awaitable) else self._acted(result)
        assert isinstance(effect, AskUser)
        if self.ask is not None:
            answer = self.ask(effect.question)
            if isinstance(answer, Awaitable):
                return self._record_answer(effect, answer)
        elif self.answer is not None:
            answer, self.answer = self.answer, None
        else:
            self.pending = effect.question, where.step
            raise Asking
        self.asked.append((effect.question, answer))
        return answer

    def restore(self, effect: Effect[Any], result: Any, where: Where) -> None:
        if isinstance(effect, AskUser):
            self.asked.append((effect.question, result))

    def _acted(self, result: Any) -> Observation:
        self.done.append(result)
        return Observation(reward=1.0, done=True, info={"result": plain(result)})

    async def _awaited(self, result: Awaitable[Any]) -> Observation:
        return self._acted(await result)

    async def _record_answer(self, effect: AskUser, answer: Awaitable[str]) -> str:
        said = await answer
        self.asked.append((effect.question, said))
        return said


def plain(result: Any) -> JsonValue:
    """Return the result as logged; `None` if it is not JSON."""
    try:
        found: JsonValue = json.loads(json.dumps(result, ensure_ascii=False))
    except (TypeError, ValueError):
        return None
    return found


def kept_at(state: str | Path) -> RunLog:
    """Return the log with the state of an integration. state: a SQLite file, or `postgresql://…`
    shared by several processes, with a name after `#` if the database holds several integrations.

    Raises:
        InputError: the log cannot be opened, or the extra `postgres` is not installed.
    """
    if not is_address(str(state)):
        return RunLog(Path(state))
    from naisei.runs.postgres import postgres_log

    address, _, name = str(state).partition("#")
    return postgres_log(address, f"door-{name}", place=Path(without_password(address)))


#: Maximum number of conversations in memory when no file is given; the least recently used are
#: dropped.
HELD = 10_000


class Bounded(OrderedDict[str, V]):
    """A cache of the last `HELD` entries."""

    def __setitem__(self, key: str, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > HELD:
            self.popitem(last=False)


class Notes:
    """Notes by key, stored in the log of `kept_at` or in memory."""

    def __init__(self, state: str | Path | None) -> None:
        self._state = state
        self._log: RunLog | None = None
        self._opening = threading.Lock()
        self._held: Bounded[JsonValue] = Bounded()

    def log(self) -> RunLog | None:
        """The log, or `None` in memory. It stays open, since opening verifies all of it.

        Raises:
            InputError: it cannot be opened.
        """
        with self._opening:
            if self._log is None and self._state is not None:
                self._log = kept_at(self._state)
                weakref.finalize(self, self._log.close)
            return self._log

    async def aopen(self) -> None:
        """Open the log now, without blocking the event loop."""
        if self._log is None:
            await asyncio.to_thread(self.log)

    def get(self, key: str) -> Any:
        """Return the note, or `None`."""
        log = self.log()
        return self._held.get(key) if log is None else log.get(key)

    def texts(self, key: str) -> list[str]:
        found = self.get(key)
        return [str(each) for each in found] if isinstance(found, list) else []

    def put(self, key: str, note: JsonValue) -> None:
        """Store a note. Raises `LogBusy` if another program locks the file."""
        log = self.log()
        if log is None:
            self._held[key] = note
        else:
            log.put(key, note)

    async def aput(self, key: str, note: JsonValue) -> None:
        """Like `put`, without blocking the event loop while the file is locked."""
        await self.aopen()
        await retry_while_locked(lambda: self.put(key, note))


def spent(log: MemoryLog) -> Usage:
    """Return the total cost of a log's effects."""
    costs = [event.usage for event in log.events if event.usage is not None]
    return Usage(
        calls=sum(cost.calls for cost in costs),
        input_tokens=sum(cost.input_tokens for cost in costs),
        output_tokens=sum(cost.output_tokens for cost in costs),
    )
