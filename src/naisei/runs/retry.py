"""Waiting for a log that another program holds, beside the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack
from typing import TypeVar

from naisei.core import Event, EventLog, Flow, Limits, LogBusy, Where, World, arun
from naisei.core.events import writing

T = TypeVar("T")
#: Seconds that another program may hold a log while something is to be written, and between two
#: tries.
PATIENCE, AGAIN = 10.0, 0.05


async def retry_while_locked(write: Callable[[], T]) -> T:
    """What `write` returns, once the log is not locked by another program; the event loop goes on
    meanwhile.

    Raises:
        LogBusy: it stays locked.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return write()
        except LogBusy:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(AGAIN)


async def arun_logged(
    flow: Flow[T],
    world: World,
    *,
    log: EventLog,
    where: Where = Where(),
    limits: Limits = Limits(),
    apart: bool = False,
) -> T:
    """As `naisei.core.arun`, on a log that another program may hold for a while."""
    with ExitStack() as held:
        episode = where.episode
        await retry_while_locked(lambda: held.enter_context(writing(log, episode)))
        events = tuple(await retry_while_locked(lambda: log.read(episode)))
        mine = _WrittenLog(log, events)
        return await arun(flow, world, log=mine, where=where, limits=limits, apart=apart)


class _WrittenLog:
    """The log of an episode that the caller writes and has read: an event is on its way for as
    long as another program holds the log."""

    def __init__(self, log: EventLog, events: Iterable[Event]) -> None:
        self._log, self._events = log, events

    def read(self, episode: str) -> Iterable[Event]:
        return self._events

    def append(self, event: Event) -> Awaitable[None] | None:
        try:
            return self._log.append(event)
        except LogBusy:
            return self._appended(event)

    async def _appended(self, event: Event) -> None:
        storing = await retry_while_locked(lambda: self._log.append(event))
        if storing is not None:
            await storing
