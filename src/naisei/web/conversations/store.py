"""All conversations of a server; each is visible only to its visitor."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException

from naisei.core import InputError
from naisei.files import output_error
from naisei.lang import language, say
from naisei.runs.conversation import before_step
from naisei.runs.directory import RunDirectory, remove
from naisei.runs.fork import Fork, begin
from naisei.runs.frozen import Frozen
from naisei.runs.lock import RunInUse, locked
from naisei.web.conversations.kept import Entry, check_room, entries_in
from naisei.web.conversations.kind import (
    WHERE,
    ConversationConfig,
    ConversationContext,
    ConversationKind,
    ConversationRun,
    PageConversation,
)
from naisei.web.html import Refused
from naisei.web.visitors import Visitor

C = TypeVar("C", bound=BaseModel)
T = TypeVar("T")
_ID = re.compile(r"[0-9a-f]{24}")
_LONGEST_TITLE = 80
#: Seconds between checks whether another process continued a conversation; maximum wait for a
#: process working on it, in seconds, for writing and for reading.
_LOOK, _BUSY, _BRIEF = 0.1, 5.0, 0.5


class Conversations:
    """Stored under `folder`. kinds: by name. context: makes the resources for a visitor's
    conversation. store: storage of new logs, see `naisei.runs.directory`. shared: whether other
    processes share the folder; each then holds a conversation only while working on it."""

    def __init__(
        self,
        folder: Path,
        kinds: Mapping[str, ConversationKind[Any]],
        context: Callable[[Visitor, PageConversation], ConversationContext],
        *,
        store: str | None = None,
        most: int = 500,
        idle: float = 900.0,
        shared: bool = False,
    ) -> None:
        self._folder, self._kinds, self._context = folder, kinds, context
        self._store = store
        self._most, self._idle = most, idle
        self._shared = shared
        self._open: dict[str, PageConversation] = {}
        # State when this process released them; `_shared`.
        self._seen: dict[str, PageConversation] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        # Several threads, since a locked log blocks one.
        self._disk = ThreadPoolExecutor(8, thread_name_prefix="conversations")

    async def begin(
        self,
        visitor: Visitor,
        kind: ConversationKind[C],
        config: C,
        *,
        title: str = "",
    ) -> PageConversation:
        """Begin a conversation; its flow is already running when this returns."""
        id = secrets.token_hex(12)
        frozen = ConversationConfig(
            kind=kind.name,
            title=" ".join(title.split())[:_LONGEST_TITLE],
            language=language(),
            settings=config.model_dump(mode="json"),
        )
        path = self._path(visitor, id)

        def made() -> RunDirectory:
            check_room(self._folder, self.folder(visitor))
            return RunDirectory.of(ConversationRun(frozen), path, store=self._store)

        return await self._start(visitor, id, frozen, await self._on_disk(made))

    async def fork(self, visitor: Visitor, id: str, episode: str, step: str) -> PageConversation:
        """Start a new conversation with the same events up to a step, whose question is asked
        again. episode: the part with the step.

        Raises:
            HTTPException: as for `find`. InputError: there is no such step.
        """
        path, new = self.path(visitor, id), secrets.token_hex(12)

        def made() -> tuple[ConversationConfig, RunDirectory]:
            check_room(self._folder, self.folder(visitor))
            with RunDirectory.look(path) as old:
                frozen = old.frozen.config_as(ConversationConfig, path / "config.json")
                part, before = before_step(old.log, WHERE.instance, episode, step)
            title = f"{frozen.title} ({say('分岐', 'fork')})"[:_LONGEST_TITLE]
            frozen = frozen.model_copy(update={"title": title})
            directory = RunDirectory.of(
                ConversationRun(frozen), self._path(visitor, new), store=self._store
            )
            begin(directory.log, Fork(parent=f"@{id}", episode=part, step=step), before, {})
            return frozen, directory

        return await self._start(visitor, new, *await self._on_disk(made))

    async def find(
        self, visitor: Visitor, id: str, kind: ConversationKind[C] | None = None
    ) -> PageConversation:
        """Return a visitor's conversation for reading, reopened from its log if closed (for writing
        see `using`). kind: required kind.

        Raises:
            HTTPException: unknown, or of another visitor (same response).
        """
        conversation = await self._require(visitor, id, work=False)
        if kind is not None and conversation.kind.name != kind.name:
            raise _none()
        return conversation

    @asynccontextmanager
    async def using(self, visitor: Visitor, id: str) -> AsyncIterator[PageConversation]:
        """Like `find`, for writing. While another process keeps working on it, it is read-only."""
        conversation = await self._require(visitor, id, work=True)
        conversation.users += 1
        try:
            yield conversation
        finally:
            conversation.users -= 1
            self._rested(conversation)

    async def moved(
        self, visitor: Visitor, conversation: PageConversation
    ) -> PageConversation | None:
        """Wait for changes of a released conversation; `None` if no other process can continue
        it."""
        path, seen = conversation.directory.path, 0
        while self._shared:
            await asyncio.sleep(_LOOK)
            if self._open.get(str(path), conversation) is not conversation:
                break
            going = conversation.status.state == "going"
            if going and conversation.heard_note():
                return conversation
            try:
                now = path.stat().st_mtime_ns  # changes when a process locks or releases it
            except OSError:
                return None
            if not going and now == seen:
                continue
            held = locked(path)
            if await self._behind(conversation) or (going and not held):
                break
            if not held:  # a holder that is killed changes nothing further
                seen = now
        return await self.find(visitor, conversation.id) if self._shared else None

    async def _behind(self, conversation: PageConversation) -> bool:
        """Whether the log has events that the conversation has not loaded."""

        def count() -> int:
            with RunDirectory.look(conversation.directory.path, check=False) as directory:
                return int(directory.log.select("SELECT count(*) FROM events")[0][0])

        return await self._on_disk(count) != len(conversation.events)

    async def entries(
        self, visitor: Visitor, kind: str | None = None, *, most: int = 50
    ) -> list[Entry]:
        """Return the conversations of a visitor, newest first."""
        return await self._on_disk(lambda: entries_in(self.folder(visitor), kind, most))

    async def forget(self, visitor: Visitor, id: str) -> None:
        """Delete a conversation. Raises the same errors as `find`."""
        path = self.path(visitor, id)
        async with self._opening.setdefault(str(path), asyncio.Lock()):
            if not (path / "config.json").is_file():
                raise _none()
            await self._put_away(str(path))
            self._seen.pop(str(path), None)
            await self._on_disk(lambda: remove(path))

    def folder(self, visitor: Visitor) -> Path:
        """Return the folder of a visitor's run directories."""
        return self._folder / visitor.id

    def path(self, visitor: Visitor, id: str) -> Path:
        """Return the run directory of a visitor's conversation. Raises the same errors as
        `find`."""
        path = self._path(visitor, id)
        if not _ID.fullmatch(id) or not (path / "config.json").is_file():
            raise _none()
        return path

    async def close(self) -> None:
        """Close all conversations."""
        for key in list(self._open):
            await self._put_away(key)
        self._disk.shutdown()

    def _path(self, visitor: Visitor, id: str) -> Path:
        return self._folder / visitor.id / id

    async def _require(self, visitor: Visitor, id: str, *, work: bool) -> PageConversation:
        path = self.path(visitor, id)
        async with self._opening.setdefault(str(path), asyncio.Lock()):
            conversation = self._open.get(str(path))
            if conversation is None and not work and (seen := self._seen.get(str(path))):
                conversation = None if await self._behind(seen) else seen
            if conversation is None:
                conversation = await self._opened(visitor, id, path, _BUSY if work else _BRIEF)
        conversation.touched = time.monotonic()
        return conversation

    async def _opened(
        self, visitor: Visitor, id: str, path: Path, patience: float
    ) -> PageConversation:
        """patience: seconds to wait for another process that works on it."""
        try:
            frozen = ConversationConfig.model_validate(Frozen.read(path / "config.json").config)
        except ValidationError:
            raise _none() from None
        run, until = ConversationRun(frozen), time.monotonic() + patience
        while True:
            try:
                directory = await self._on_disk(lambda: RunDirectory.of(run, path))
                break
            except RunInUse:
                if not self._shared:
                    raise
                if time.monotonic() > until:
                    directory = await self._on_disk(lambda: RunDirectory.look(path, check=False))
                    try:
                        return self._conversation(id, frozen, directory)
                    finally:
                        await self._on_disk(directory.close)
        conversation = await self._start(visitor, id, frozen, directory)
        if self._shared:
            with suppress(TimeoutError):
                async with asyncio.timeout(_BRIEF):
                    await conversation.rest()
        return conversation

    async def _start(
        self, visitor: Visitor, id: str, frozen: ConversationConfig, directory: RunDirectory
    ) -> PageConversation:
        try:
            conversation = self._conversation(id, frozen, directory)
        except BaseException:
            await self._on_disk(directory.close)
            raise
        self._open[str(directory.path)] = conversation
        context = self._context(visitor, conversation)
        open_ = conversation.kind.open
        conversation.start(lambda past: open_(conversation.config, replace(context, past=past)))
        return conversation

    def _conversation(
        self, id: str, frozen: ConversationConfig, directory: RunDirectory
    ) -> PageConversation:
        """Raises `HTTPException` (410) for one that this version does not support."""
        try:
            kind = self._kinds[frozen.kind]
            return PageConversation(id, kind, frozen, directory, self._rested, shared=self._shared)
        except (KeyError, ValidationError):
            raise Refused(
                410,
                "この会話は別のバージョンの naisei で始めたもので、もう開けません",
                "this was begun under another version of naisei and cannot be opened",
            ) from None

    async def _put_away(self, key: str) -> None:
        if (conversation := self._open.pop(key, None)) is not None:
            await conversation.leave()
            await self._on_disk(conversation.directory.close)

    async def _make_room(self) -> None:
        """Close inactive conversations without viewers if they are idle for long or too many."""
        resting = [
            (conversation.touched, key)
            for key, conversation in self._open.items()
            if self._rests(conversation)
        ]
        for touched, key in sorted(resting):
            if len(self._open) <= self._most and touched > time.monotonic() - self._idle:
                return
            # Concurrent requests wait until it is closed, then reopen it.
            async with self._opening.setdefault(key, asyncio.Lock()):
                conversation = self._open.get(key)
                if conversation is not None and self._rests(conversation):
                    await self._put_away(key)

    @staticmethod
    def _rests(conversation: PageConversation) -> bool:
        """Whether it has no viewers and no running work."""
        looked_at = conversation.followers or conversation.users
        return not looked_at and conversation.status.state != "going"

    def _rested(self, conversation: PageConversation) -> None:
        """Release an idle conversation for other processes, or close some conversations."""
        left = self._let_go(conversation) if self._shared else self._make_room()
        task = asyncio.create_task(left)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _let_go(self, conversation: PageConversation) -> None:
        key = str(conversation.directory.path)
        async with self._opening.setdefault(key, asyncio.Lock()):
            free = not conversation.users and conversation.status.state != "going"
            if free and self._open.get(key) is conversation:
                await self._put_away(key)
                self._seen.pop(key, None)
                # On database or lock errors the next request retries.
                if not isinstance(conversation.status.error, InputError):
                    self._seen[key] = conversation
                if len(self._seen) > self._most:
                    del self._seen[next(iter(self._seen))]

    async def _on_disk(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._disk, work)
        except OSError as error:
            # Do not show server paths to visitors.
            raise HTTPException(503, output_error(error, "").message) from error


def _none() -> HTTPException:
    return Refused(404, "そのような会話はありません", "no such conversation")
