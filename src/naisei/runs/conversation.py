"""Live conversations: a flow with a person, over any channel.

A terminal, a page and an HTTP server drive the same `LiveConversation`. Each effect is logged
before the flow continues: a killed process loses nothing, and when the conversation is
reopened the flow is replayed up to its pending question.

A conversation has parts, each an episode of the log (`name#0`, `name#1`, …). Where the program,
the prompts or the settings changed since a part was recorded, its flow can no longer follow the
log. A conversation with `renews` then begins another part from the earlier ones. Otherwise it is
stale: readable, but not resumable.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

from pydantic import JsonValue

from naisei.core import (
    EffectFailed,
    Event,
    Flow,
    InputError,
    Limits,
    ReplayDivergence,
    Where,
    World,
)
from naisei.core.events import plain
from naisei.lang import say, speaking
from naisei.runs.asking import HumanHandler, NotAsked, PendingQuestion, ReadAnswer, answer_text
from naisei.runs.fork import events_before
from naisei.runs.lock import arun_logged, retry_while_locked
from naisei.runs.log import RunLog
from naisei.runs.task import EpisodeRow

#: going: the flow is running. asking: it waits for the person. done: it ended. failed: an
#: instrument failed; a retry is possible. stale: see the module docstring.
State = Literal["going", "asking", "done", "failed", "stale"]
_LOG = logging.getLogger("naisei.conversation")
#: Time limit (seconds) for logging an answer; after a restart the flow replays first.
_ACK = 30
#: Shorter work (seconds) is not announced.
_SOON = 0.05


class Prepared(NamedTuple):
    """A flow ready to start, and its world. The flow returns a pydantic model."""

    flow: Flow[Any]
    world: World


#: Prepares the flow of a part from the events of earlier parts, and cleans up on leaving. On resume
#: it is called again and must give the same flow.
Open = Callable[[Sequence[Event]], AbstractAsyncContextManager[Prepared]]


@dataclass(frozen=True, slots=True)
class ConversationStatus:
    """State of a conversation. asked: the pending question. note: text on the current activity.
    problem: text on the failure; error: the exception."""

    state: State = "going"
    asked: PendingQuestion | None = None
    note: str = ""
    problem: str = ""
    error: Exception | None = None

    @property
    def step(self) -> str:
        """Step that an answer refers to; empty without a question."""
        return self.asked.step if self.asked else ""


def recorded(log: RunLog, name: str) -> list[list[Event]]:
    """Return the events of a conversation by part; at least one part, which may be empty."""
    parts = [log.read(Where(name).episode)]
    while parts[-1] and (events := log.read(Where(name, len(parts)).episode)):
        parts.append(events)
    return parts


def before_step(log: RunLog, name: str, episode: str, step: str) -> tuple[str, list[Event]]:
    """Return the part that contains a step, and the events before it. episode: the part; by
    default the last one.

    Raises:
        InputError: the step does not exist.
    """
    parts = recorded(log, name)
    names = [part[0].where.episode if part else "" for part in parts]
    at = names.index(episode) if episode in names else len(parts) - 1
    return names[at], [e for part in parts[:at] for e in part] + events_before(parts[at], step)


class LiveConversation:
    """One conversation in memory: its flow runs as a task. An `EventLog` for its flow.

    name: name of its episodes in the log. limits: limits for all effects of one part. renews:
    whether a new part begins if the log cannot be replayed.

    events: all events, oldest first. status: see `ConversationStatus`. result: the flow's return
    value as JSON.
    """

    def __init__(
        self,
        log: RunLog,
        name: str,
        *,
        language: Literal["ja", "en"],
        limits: Limits = Limits(),
        renews: bool = False,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        parts = recorded(log, name)
        self.language = language
        self.events: list[Event] = [event for part in parts for event in part]
        self.result: JsonValue = None
        self.status = ConversationStatus()
        self._log, self._limits, self._renews, self._on_event = log, limits, renews, on_event
        self._where = Where(name, len(parts) - 1)
        self._begun = len(self.events) - len(parts[-1])
        self._open: Open | None = None
        self._moves = 0
        self._moved = asyncio.Event()
        # Step → whether the answer was logged.
        self._logged: dict[str, asyncio.Future[bool]] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Whether the conversation is finished."""
        return self.status.state in ("done", "stale")

    async def answer(self, fields: Mapping[str, str], step: str | None = None) -> None:
        """Give the person's answer; returns once it is logged. step: the question it answers; by
        default the pending one. Repeating the same answer to a step is allowed, since a killed
        process may have logged it.

        Raises:
            NotAsked: another question is pending, or another answer was logged.
            InputError: the answer is invalid.
            TimeoutError: it could not be logged, or the flow has not reached its question yet.
        """
        async with asyncio.timeout(_ACK):
            while not (kept := self._answers_at(step)) and self.status.state == "going":
                if self._open is None:  # another process works on it
                    raise TimeoutError
                await self._moved.wait()
            if kept and kept[0] == fields.get("text"):
                return
            if not kept and step is not None and self.status.state == "failed":
                raise TimeoutError
            asked = self.status.asked
            if kept or asked is None or self._open is None or step not in (None, asked.step):
                raise NotAsked(
                    say(
                        "いまはこの答えを待っていません（ページを読み込み直してください）",
                        "this is not what is being asked now; please reload the page",
                    )
                )
            await self._wait_until_logged(asked, asked.read(asked.effect, fields))

    def _answers_at(self, step: str | None) -> list[JsonValue]:
        """Return the logged answers at a step of this part."""
        return [e.result for e in self.events[self._begun :] if e.where.step == step]

    async def _wait_until_logged(self, asked: PendingQuestion, value: Any) -> None:
        """Wait until the answer is in the log. Raises `TimeoutError` if that fails."""
        logged = self._logged[asked.step] = asyncio.get_running_loop().create_future()
        self._set_status(ConversationStatus("going"))
        asked.answered.set_result(value)
        try:
            if not await logged:
                raise TimeoutError
        finally:
            self._logged.pop(asked.step, None)

    async def follow(
        self, after: int
    ) -> AsyncIterator[tuple[int, list[Event], ConversationStatus | None]]:
        """Stream updates from event number `after` on: the last event number, new events, and a
        changed status. Ends when the conversation is over or closed.
        """
        told, moves, until = min(after, len(self.events)), -1, 0.0
        while True:
            moved = self._moved
            if self.status.state == "going" and (left := until - time.monotonic()) > 0:
                # Short work is reported with its result.
                with suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await moved.wait()
                continue
            new = self.events[told:]
            told += len(new)
            status = self.status if moves != self._moves else None
            moves = self._moves
            if new or status:
                yield told, new, status
            if self._open is None or self.over:
                return
            await moved.wait()
            until = time.monotonic() + _SOON

    async def rest(self) -> ConversationStatus:
        """Returns once the flow waits for the person or cannot continue."""
        while self.status.state == "going":
            await self._moved.wait()
        return self.status

    def start(self, open: Open, *, anew: bool = False) -> None:
        """Run the flow, replaying the log first. anew: start a new part."""
        self._open = open
        if anew:
            self._next_part()
        if (result := self._log.result(self._where.episode)) is not None:
            self.result = result
            self._set_status(ConversationStatus("done"))
            return
        self._set_status(ConversationStatus("going"))
        self._task = asyncio.create_task(self._play(open))

    def retry(self) -> None:
        """Retry the failed step."""
        if self.status.state == "failed" and self._open is not None:
            self.start(self._open)

    def human(self, read: ReadAnswer | None = None) -> HumanHandler:
        """Return a handler that lets the person answer an effect."""
        return HumanHandler(self.ask, read or answer_text)

    def ask(self, asked: PendingQuestion) -> None:
        """Publish a question to the person."""
        self._set_status(ConversationStatus("asking", asked))

    def note(self, text: str) -> None:
        """Set the note on the current activity."""
        if self.status.state == "going":
            self._set_status(replace(self.status, note=text))

    def append(self, event: Event) -> None:
        self._log.append(event)
        self.events.append(event)
        self._answered(event.where.step, True)
        if self._on_event is not None:
            self._on_event(event)
        self._move()

    def _answered(self, step: str, logged: bool) -> None:
        if (kept := self._logged.get(step)) is not None and not kept.done():
            kept.set_result(logged)

    def read(self, episode: str) -> list[Event]:
        return self.events[self._begun :]

    def writing(self, episode: str) -> AbstractContextManager[None]:
        return self._log.writing(episode)

    async def leave(self) -> None:
        """Stop the flow and disconnect listeners. The log is not deleted."""
        self.dismiss()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def dismiss(self) -> None:
        """Disconnect listeners."""
        self._open = None
        self._move()

    def _next_part(self) -> None:
        self._begun = len(self.events)
        self._where = Where(self._where.instance, self._where.trial + 1)

    async def _play(self, open: Open) -> None:
        try:
            with speaking(self.language):
                status = await self._played(open)
        finally:  # release callers that wait for an answer to be logged
            for step in self._logged:
                self._answered(step, False)
        self._set_status(status)

    async def _played(self, open: Open) -> ConversationStatus:
        try:
            try:
                await self._parts(open)
            except EffectFailed as failed:
                lost = [e.usage for e in failed.unlogged if e.usage is not None]
                failure = f"{type(failed).__name__}: {failed}"
                unscored = EpisodeRow(self._where, None, failure)
                await retry_while_locked(lambda: self._log.finish(unscored, lost))
                return ConversationStatus("failed", problem=str(failed), error=failed)
            return ConversationStatus("done")
        except ReplayDivergence as diverged:
            _LOG.warning("%s", diverged)
            return ConversationStatus("stale", problem=str(diverged), error=diverged)
        except InputError as error:
            remedy = f" ({error.remedy})" if error.remedy else ""
            return ConversationStatus("failed", problem=error.message + remedy, error=error)
        except Exception as error:
            _LOG.exception("conversation %s", self._where.instance)
            problem = say(
                "思わぬ誤りで止まりました。もう一度試しても同じなら、記録を添えて知らせてください",
                "something unforeseen went wrong: try again; if it stays, report it with the log",
            )
            return ConversationStatus("failed", problem=problem, error=error)

    async def _parts(self, open: Open) -> None:
        """Run the latest part, and a new one if it cannot be replayed."""
        while True:
            try:
                async with open(self.events[: self._begun]) as prepared:
                    result = await arun_logged(
                        prepared.flow,
                        prepared.world,
                        log=self,
                        where=self._where,
                        limits=self._limits,
                        apart=True,
                    )
            except ReplayDivergence as diverged:
                if not self._renews:
                    raise
                _LOG.info("a new part begins: %s", diverged)
                self._next_part()
            else:
                self.result = plain(result.model_dump(mode="json"))
                await retry_while_locked(
                    partial(self._log.finish, EpisodeRow(self._where, self.result))
                )
                return

    def _set_status(self, status: ConversationStatus) -> None:
        self.status = status
        self._moves += 1
        self._move()

    def _move(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
