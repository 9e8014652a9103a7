"""The state of one server: the options, the visitors, the conversations, and the models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from starlette.requests import Request

from naisei.core import Chat, Embed, World
from naisei.http import ThreadHandler
from naisei.models.registry import base_world
from naisei.runs.lock import server_lock
from naisei.web.conversations.kept import expire
from naisei.web.conversations.kind import (
    ConversationContext,
    PageConversation,
    SamplingHandler,
)
from naisei.web.conversations.store import Conversations
from naisei.web.options import WebOptions
from naisei.web.pages import Page
from naisei.web.pages import pages as all_pages
from naisei.web.visitors import Visitor, Visitors

T = TypeVar("T")
#: The bundled recorded runs, one of each system, read-only.
RECORDED = Path(__file__).parent.parent / "data" / "recorded_runs"


class ServerState:
    """State of a server, made by `open_server`."""

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
        self._cached: dict[str, Any] = {}
        self._opening = asyncio.Lock()
        self.conversations = Conversations(
            options.state / "conversations",
            {kind.name: kind for page in pages for kind in page.kinds},
            self._context,
            store=options.store,
            most=options.open_conversations,
            idle=options.idle,
            shared=options.workers > 1,
        )

    def cached(self, name: str, make: Callable[[], T]) -> T:
        """Return an object that lives as long as the server, made on first use, such as a page's
        cache. It must not hold data of a visitor."""
        if name not in self._cached:
            self._cached[name] = make()
        found: T = self._cached[name]
        return found

    def at_end(self, close: Callable[[], Awaitable[object]]) -> None:
        """Register a callback to await when the server ends."""
        self._stack.push_async_callback(close)

    def folder(self, visitor: Visitor) -> Path:
        """Return the visitor's own folder for data outside conversations. It is created on first
        write (`make_folder`), so a visitor who only reads leaves nothing."""
        return self.options.state / "visitors" / visitor.id

    async def world(
        self,
        models: Mapping[str, str],
        *,
        embedder: str = "auto",
        resends_of: Mapping[str, int] | None = None,
    ) -> World:
        """Return a base world (Chat, Embed, Now) for role → model. Equal arguments share one world,
        which stays open until the server ends. Embeddings are computed in a thread.

        Raises:
            InputError: a model that cannot be opened.
        """
        if models:  # importing the model stack takes a second; do not block others
            await asyncio.to_thread(import_module, "naisei.models.gateway")
        key = repr((sorted(models.items()), embedder, resends_of))
        async with self._opening:
            if key not in self._worlds:
                base = await self._stack.enter_async_context(
                    base_world(
                        dict(models),
                        settings=self.options.settings,
                        embedder=embedder,
                        resends_of=resends_of,
                    )
                )
                embed = base.handler(Embed(("",)))
                self._worlds[key] = base.having({Embed: ThreadHandler(embed)})
        return self._worlds[key]

    def _context(self, visitor: Visitor, conversation: PageConversation) -> ConversationContext:

        async def world(models: Mapping[str, str], **how: Any) -> World:
            base = await self.world(models, **how)
            if not models:
                return base
            chat = SamplingHandler(base.handler(Chat("", ())), conversation.kind.roles)
            return base.having({Chat: chat})

        return ConversationContext(
            world=world,
            human=conversation.human,
            note=conversation.note,
            folder=self.folder(visitor),
            language=conversation.language,
            options=self.options,
        )


@asynccontextmanager
async def open_server(
    options: WebOptions, *, pages: Sequence[Page] | None = None
) -> AsyncIterator[ServerState]:
    """Open everything that a server process needs, and close it on exit; requires `holding` the
    folder. pages: all pages by default.

    Raises:
        InputError: an unusable folder.
    """
    visitors = Visitors.kept_in(options.state, options.token)
    async with AsyncExitStack() as stack:
        shown = all_pages() if pages is None else pages
        server = ServerState(options, visitors, stack, shown)
        try:
            yield server
        finally:
            await server.conversations.close()


@contextmanager
def holding(state: Path) -> Iterator[None]:
    """Lock the folder of a server for this server alone, creating it if needed, and remove data
    unused for long.

    Raises:
        InputError: it cannot be used, or another server uses it.
    """
    lock = server_lock(state)
    try:
        expire(state)
        yield
    finally:
        lock.release()


def server_of(request: Request) -> ServerState:
    """Return the state of the server that received a request."""
    server: ServerState = request.app.state.server
    return server
