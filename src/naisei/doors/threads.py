"""The threads of an `AskBeforeAct`: maps messages to requests and steps."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Generic, TypeVar

from naisei.core import EpisodeBusy, InputError, MemoryLog, Where
from naisei.core.events import claimed
from naisei.doors.exchange import ActingTurn, Bounded, Notes, Request
from naisei.lang import say
from naisei.runs.log import RunLog

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Opened(Generic[R]):
    """A conversation while a message is processed. note: stored data of the request. message: the
    caller's message id. begins: whether the message is a new request."""

    turn: ActingTurn[R]
    log: RunLog | MemoryLog
    where: Where
    message: str
    note: dict[str, Any]
    begins: bool


class Threads(Generic[R]):
    """Conversations stored in `notes`. act: carries out an action by its number."""

    def __init__(self, act: Callable[[int, Request], R], notes: Notes) -> None:
        self._act, self._notes = act, notes
        self._logs: Bounded[MemoryLog] = Bounded()

    def exclusive(self, thread: str) -> AbstractContextManager[None]:
        """Hold the exclusive write lock on a conversation, across processes."""
        if (log := self._notes.log()) is not None:
            return log.writing(f"said:{thread}")
        busy = EpisodeBusy(f"something is being said in {thread!r} just now")
        return claimed((id(self), thread), busy)

    def opened(self, thread: str, text: str, step: str, message: str) -> Opened[R]:
        """Return the request of a message. Raises `InputError` for an answer to an unknown
        question."""
        n = int(self._notes.get(f"thread:{thread}") or 0)
        note = dict(self._notes.get(_key(thread, n)) or {})
        told = self._notes.get(f"message:{thread}:{message}") if message else None
        answer, begins = None, False
        if step:
            n = int(step.partition(".")[0]) if re.match(r"\d{1,9}\.", step) else n
            note = dict(self._notes.get(_key(thread, n)) or {})
            known = self._answer(thread, n, note, step)
            if step == note.get("step"):
                answer = text
            elif known != text:
                raise InputError(
                    say("この質問の答えは待っていません", "that is not being asked now"),
                    place=f"{thread}: {step}",
                )
        elif told is not None:
            n = int(told)
            note = dict(self._notes.get(_key(thread, n)) or {})
        elif note.get("step") and (message or text != note["request"]):
            answer = text
        elif not note.get("open") or text != note["request"]:
            same = text in (note.get("request"), note.get("said"))
            done = note.get("action", "") if same and not message else ""
            begun = {"request": text, "open": True, "step": "", "done": done}
            begins = True
            n, note = n + 1, {**begun, "id": f"{n + 1}.{token_hex(6)}"}
        note["said"] = text
        turn = ActingTurn(self._act, note["request"], id=f"{thread}/{note['id']}", answer=answer)
        return Opened(turn, self._log(thread, n), Where(thread, n), message, note, begins)

    def _log(self, thread: str, n: int) -> RunLog | MemoryLog:
        """Return the log of a request; in memory, only recent ones exist."""
        if (log := self._notes.log()) is not None:
            return log
        key = _key(thread, n)
        if key not in self._logs:
            self._logs[key] = MemoryLog()
        return self._logs[key]

    def _answer(self, thread: str, n: int, note: dict[str, Any], step: str) -> str | None:
        """Return the answer to that step."""
        events = self._log(thread, n).read(Where(thread, n).episode) if note else ()
        here = (e for e in events if e.kind == "ask" and f"{note['id']}.{e.where.step}" == step)
        return next((str(e.result) for e in here), None)

    def keep(self, opened: Opened[R]) -> None:
        thread, n = opened.where.instance, opened.where.trial
        self._notes.put(_key(thread, n), dict(opened.note))
        if n > int(self._notes.get(f"thread:{thread}") or 0):
            self._notes.put(f"thread:{thread}", n)
        if opened.message:
            self._notes.put(f"message:{thread}:{opened.message}", n)


def _key(thread: str, n: int) -> str:
    return f"request:{Where(thread, n).episode}"


def last_request(
    messages: Sequence[tuple[str, str]], whose: str, is_ours: Callable[[str], bool]
) -> tuple[str, list[tuple[str, str]]] | None:
    """Return the request of the last message, with its questions and answers; `None` if that
    message is not the user's.

    is_ours: whether we asked a question with this mark (`mark_of`).
    """
    said: list[str] = []
    asking = False
    for role, text in messages:
        if role == "user":
            if not said or asking:
                said.append(text)
            else:
                said[-1] = f"{said[-1]}\n{text}"
            asking = False
        elif role in ("assistant", "tool"):
            asking = bool(said) and is_ours(mark_of(whose, [*said, text]))
            said = [*said, text] if asking else []
    if not said or asking or messages[-1][0] != "user":
        return None
    return said[0], list(zip(said[1::2], said[2::2], strict=True))


def mark_of(whose: str, said: Sequence[str]) -> str:
    """Return the mark of a question in its conversation, ignoring white space."""
    whole = json.dumps([whose, *("".join(text.split()) for text in said)], ensure_ascii=False)
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()
