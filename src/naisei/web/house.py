"""What one server holds: the options, the visitors, the conversations, and the models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from starlette.requests import Request

from naisei.core import Embed, InputError, Sampling, World
from naisei.http.server import ThreadHandler
from naisei.lang import say
from naisei.models.world import base_world
from naisei.runs.lock import RunLock, holder, locked
from naisei.web.options import WebOptions
from naisei.web.pages import Page
from naisei.web.pages import pages as all_pages
from naisei.web.sittings.kind import Room
from naisei.web.sittings.person import Person, Read, words
from naisei.web.sittings.sitting import Sitting
from naisei.web.sittings.sittings import Sittings
from naisei.web.visitors import Visitor, Visitors

__all__ = ["House", "house_of", "open_house"]

T = TypeVar("T")


class House:
    """Made by `open_house`."""

    def __init__(
        self,
        options: WebOptions,
        visitors: Visitors,
        stack: AsyncExitStack,
        pages: Sequence[Page],
    ) -> None:
        self.options, self.visitors, self.pages = options, visitors, pages
        self._stack = stack
        self._worlds: dict[str, World] = {}
        self._kept: dict[str, Any] = {}
        self._opening = asyncio.Lock()
        self.sittings = Sittings(
            options.state / "sittings",
            {kind.name: kind for page in pages for kind in page.kinds},
            self._room,
            most=options.open_sittings,
            idle=options.idle,
        )

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """Something that lives as long as the server, made when first asked for: a page's cache.
        Nothing of a visitor's belongs there."""
        if name not in self._kept:
            self._kept[name] = make()
        found: T = self._kept[name]
        return found

    def folder(self, visitor: Visitor) -> Path:
        """The visitor's own folder, for what is kept beside conversations; made if need be."""
        folder = self.options.state / "visitors" / visitor.id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    async def world(
        self,
        models: Mapping[str, str],
        *,
        sampling_of: Mapping[str, Sampling] | None = None,
        embedder: str = "auto",
        resends_of: Mapping[str, int] | None = None,
    ) -> World:
        """A base world (Chat, Embed, Now) for role → model; the same for the same arguments, and
        open until the server ends. Embeddings are made in a thread.

        Raises:
            InputError: a model that cannot be opened.
        """
        if models:  # importing the model stack takes a second, in which nobody is to wait
            await asyncio.to_thread(import_module, "naisei.models.gateway")
        key = repr((sorted(models.items()), sampling_of, embedder, resends_of))
        async with self._opening:
            if key not in self._worlds:
                base = await self._stack.enter_async_context(
                    base_world(
                        dict(models),
                        settings=self.options.settings,
                        sampling_of=sampling_of,
                        embedder=embedder,
                        resends_of=resends_of,
                    )
                )
                embed = base.handler(Embed(("",)))
                self._worlds[key] = base.having({Embed: ThreadHandler(embed)})
        return self._worlds[key]

    def _room(self, visitor: Visitor, sitting: Sitting) -> Room:
        def person(read: Read | None = None) -> Person:
            return Person(sitting, read or words)

        return Room(
            world=self.world,
            person=person,
            note=sitting.note,
            folder=self.folder(visitor),
            language=sitting.language,
            options=self.options,
        )


@asynccontextmanager
async def open_house(
    options: WebOptions, *, pages: Sequence[Page] | None = None
) -> AsyncIterator[House]:
    """Everything that a server needs, closed on leaving. pages: all there are, by default.

    Raises:
        InputError: a folder that cannot be used, or that another server uses.
    """
    state = options.state
    try:
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        why = f"cannot be made: {error.strerror}"
        raise InputError(why, place=str(state), remedy="give another --state") from error
    if locked(state):
        raise InputError(
            say(
                f"別のサーバーがこのフォルダーを使っています: {holder(state)}",
                f"another server uses this folder: {holder(state)}",
            ),
            place=str(state),
            remedy=say(
                "止めるか、別の --state を指定してください", "stop it, or give another --state"
            ),
        )
    lock = RunLock(state)
    try:
        visitors = Visitors.kept_in(state, options.token)
        async with AsyncExitStack() as stack:
            house = House(options, visitors, stack, all_pages() if pages is None else pages)
            try:
                yield house
            finally:
                await house.sittings.close()
    finally:
        lock.release()


def house_of(request: Request) -> House:
    """The house of the server that a request came to."""
    house: House = request.app.state.house
    return house
