"""One conversation in memory: its flow runs as a task; a page looks on and answers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import JsonValue
from starlette.exceptions import HTTPException

from naisei.core import EffectFailed, Event, InputError, ReplayDivergence, arun
from naisei.core.plain import plain
from naisei.lang import say, speaking
from naisei.runs.directory import RunDirectory
from naisei.runs.task import EpisodeRow
from naisei.web.conversations.kind import (
    WHERE,
    ConversationConfig,
    ConversationContext,
    ConversationKind,
    PendingQuestion,
)

__all__ = ["Conversation", "State", "Status"]


#: going: the flow works. asking: it waits for the person. done: it came to its end. failed: an
#: instrument failed, and it can be tried again. stale: it was begun under other code or
#: settings; it can be read, but not gone on with.
State = Literal["going", "asking", "done", "failed", "stale"]
_LOG = logging.getLogger("naisei.web")
#: Seconds that an answer may take to be in the log.
_ACK = 30
#: Seconds of work that nobody needs to be told of.
_SOON = 0.05


@dataclass(frozen=True, slots=True)
class Status:
    """Where a conversation stands. asked: what waits for the person. note: what is being done,
    in words. problem: why it failed."""

    state: State = "going"
    asked: PendingQuestion | None = None
    note: str = ""
    problem: str = ""

    @property
    def step(self) -> str:
        """What an answer has to name; empty while nothing is asked."""
        return self.asked.step if self.asked else ""


class Conversation:
    """Made by `Conversations`. An `EventLog` for its flow.

    id: names it in addresses. config: the kind's. events: all, oldest first. status: see
    `Status`. result: what the flow returned, as JSON.
    """

    def __init__(
        self,
        id: str,
        kind: ConversationKind[Any],
        frozen: ConversationConfig,
        directory: RunDirectory,
    ) -> None:
        self.id, self.kind = id, kind
        self.title, self.language = frozen.title, frozen.language
        self.config: Any = kind.config.model_validate(frozen.settings)
        self.directory = directory
        self.events: list[Event] = directory.log.read(WHERE.episode)
        self.result: JsonValue = None
        self.status = Status()
        self.followers = 0
        self.touched = time.monotonic()
        self._open = False
        self._turn = 0
        self._moved = asyncio.Event()
        self._logged: dict[str, asyncio.Event] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more can happen."""
        return self.status.state in ("done", "stale")

    # What pages do.

    async def answer(self, step: str, fields: Mapping[str, str]) -> None:
        """Give the person's answer to what was asked at `step`; returns once it is kept.

        The same words to the same step again are no mistake: the first may have been kept by a
        server that was killed before it could say so.

        Raises:
            HTTPException: nothing is asked there, or the answer cannot be used.
        """
        self.touched = time.monotonic()
        asked = self.status.asked
        if asked is None or asked.step != step:
            if any(e.where.step == step and e.result == fields.get("text") for e in self.events):
                return
            raise HTTPException(
                409,
                say(
                    "いまはこの答えを待っていません（ページを読み込み直してください）",
                    "this is not what is being asked now; please reload the page",
                ),
            )
        value = asked.read(asked.effect, fields)
        kept = self._logged[step] = asyncio.Event()
        self._set_status(Status("going"))
        asked.answered.set_result(value)
        try:
            async with asyncio.timeout(_ACK):
                await kept.wait()
        except TimeoutError:
            raise HTTPException(503, say("保存できませんでした", "it could not be kept")) from None
        finally:
            self._logged.pop(step, None)

    async def follow(self, after: int) -> AsyncIterator[tuple[int, list[Event], Status | None]]:
        """What happens from event number `after` on: the number of the last event told, the
        events that are new, and the status if it is new.

        Ends when the conversation is over, cannot go on, or is put away.
        """
        told, turn, until = min(after, len(self.events)), -1, 0.0
        self.followers += 1
        try:
            while True:
                moved = self._moved
                if self.status.state == "going" and (left := until - time.monotonic()) > 0:
                    # What takes no time is told with what comes of it.
                    with suppress(TimeoutError):
                        async with asyncio.timeout(left):
                            await moved.wait()
                    continue
                new = self.events[told:]
                told += len(new)
                status = self.status if turn != self._turn else None
                turn = self._turn
                if new or status:
                    yield told, new, status
                if not self._open or self.over:
                    return
                await moved.wait()
                until = time.monotonic() + _SOON
        finally:
            self.followers -= 1
            self.touched = time.monotonic()

    def retry(self, context: ConversationContext) -> None:
        """Go on where it failed."""
        if self.status.state == "failed":
            self.start(context)

    # What `Conversations` and the person's handler do.

    def start(self, context: ConversationContext) -> None:
        """Run the flow, from the log as far as that goes."""
        self._open = True
        row = self.directory.log.rows().get(WHERE.episode)
        if row is not None and row.scored:
            self.result = row.result
            self._set_status(Status("done"))
            return
        self._set_status(Status("going"))
        self._task = asyncio.create_task(self._play(context))

    def ask(self, asked: PendingQuestion) -> None:
        """The flow has come to something that the person answers."""
        self._set_status(Status("asking", asked))

    def note(self, text: str) -> None:
        """Say what is being done."""
        if self.status.state == "going":
            self._set_status(replace(self.status, note=text))

    def append(self, event: Event) -> None:
        self.directory.log.append(event)
        self.events.append(event)
        if (kept := self._logged.get(event.where.step)) is not None:
            kept.set()
        self._move()

    def upto(self, event: Event) -> list[Event]:
        """The events as they stood when this one had come."""
        return [each for each in self.events if each.where.path <= event.where.path]

    def read(self, episode: str) -> list[Event]:
        return list(self.events)

    def writing(self, episode: str) -> AbstractContextManager[None]:
        return self.directory.log.writing(episode)

    async def leave(self) -> None:
        """Stop working on it. What is in the log stays; whoever follows is let go."""
        self.dismiss()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def dismiss(self) -> None:
        """Let go whoever follows."""
        self._open = False
        self._move()

    async def _play(self, context: ConversationContext) -> None:
        try:
            with speaking(self.language):
                async with self.kind.open(self.config, context) as scene:
                    result = await arun(
                        scene.flow, scene.world, log=self, where=WHERE, limits=self.kind.limits
                    )
            self.result = plain(result.model_dump(mode="json"))
            self.directory.log.finish(EpisodeRow(WHERE, self.result))
            status = Status("done")
        except EffectFailed as failed:
            lost = [e.usage for e in failed.unlogged if e.usage is not None]
            failure = f"{type(failed).__name__}: {failed}"
            self.directory.log.finish(EpisodeRow(WHERE, None, failure), lost)
            status = Status("failed", problem=str(failed))
        except ReplayDivergence as diverged:
            _LOG.warning("%s", diverged)
            status = Status("stale", problem=str(diverged))
        except InputError as error:
            remedy = f" ({error.remedy})" if error.remedy else ""
            status = Status("failed", problem=error.message + remedy)
        except Exception:
            _LOG.exception("conversation %s", self.kind.name)
            status = Status("failed", problem=say("内部エラーです", "an internal error"))
        self._set_status(status)

    def _set_status(self, status: Status) -> None:
        self.status = status
        self._turn += 1
        self._move()

    def _move(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
