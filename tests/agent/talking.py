"""A conversation with a persona, driven to the end of what somebody says."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from naisei.agent.opening import TalkConfig, opened
from naisei.core import AskUser, Event, Now, arun
from naisei.memory.stream import KeptStream
from naisei.models.registry import base_world
from naisei.runs.conversation import recorded
from naisei.runs.directory import open_log

NOW = datetime(2026, 4, 13, 10, 0)


def recorded_events(run: Path) -> list[Event]:
    """The events of a conversation that was recorded, of all its parts."""
    with closing(open_log(run, read_only=True)) as log:
        return [event for part in recorded(log, "conversation") for event in part]


class _Over(Exception):
    pass


class Log:
    """Events in memory."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.events = [*events]

    def append(self, event: Event) -> None:
        self.events.append(event)

    def read(self, episode: str) -> list[Event]:
        return []


def talked(
    config: TalkConfig,
    says: Sequence[str],
    folder: Path,
    kept: KeptStream | None = None,
    past: Sequence[Event] = (),
) -> list[Event]:
    """says: remarks and answers, in order. past: events of an earlier part."""
    left, log = [*says], Log()

    def person(effect: AskUser) -> str:
        if not left:
            raise _Over
        return left.pop(0)

    async def go() -> None:
        async with base_world(config.models, embedder=config.embedder) as base:
            world = base.having({Now: lambda effect: NOW})
            async with opened(
                config, world, past, folder=folder, people=folder, kept=kept, human=person
            ) as ready:
                with contextlib.suppress(_Over):
                    await arun(ready.flow, ready.world, log=log)

    asyncio.run(go())
    return log.events


def lines(events: Sequence[Event]) -> list[str]:
    """What the persona said at the end of each turn."""
    return [e.request["text"] for e in _said(events)]  # type: ignore[index,call-overload,misc]


def last(events: Sequence[Event]) -> Any:
    """What is committed with its last line."""
    return _said(events)[-1].request["meta"]  # type: ignore[index,call-overload]


def _said(events: Sequence[Event]) -> list[Event]:
    said = [event for event in events if event.kind == "say"]
    return [e for e in said if e.request["speaker"] != "thought"]  # type: ignore[index,call-overload]


def done(events: Sequence[Event]) -> list[str]:
    return [e.result["text"] for e in events if e.kind == "act"]  # type: ignore[index,call-overload,misc]


def questions(events: Sequence[Event]) -> list[str]:
    asked = [e.request["question"] for e in events if e.kind == "ask"]  # type: ignore[index,call-overload]
    return [str(question) for question in asked if question]
