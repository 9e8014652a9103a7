"""The web app on loopback, in a thread of its own; and a page that repeats what it is told."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from naisei.core import AskUser, Event, Flow, InstrumentFailure, Say
from naisei.runs.conversation import Prepared
from naisei.runs.lines import Line
from naisei.serving import Server, bound, uvicorn_config
from naisei.web.app import build_app
from naisei.web.conversations.kind import ConversationContext, ConversationKind
from naisei.web.options import WebOptions
from naisei.web.pages import Page
from naisei.web.pages import pages as all_pages
from naisei.web.state import ServerState, holding, open_server, server_of
from waiting import PATIENCE


class EchoConfig(BaseModel):
    times: int = 3


class Echoed(BaseModel):
    heard: list[str]


def echo(times: int) -> Flow[Echoed]:
    heard: list[str] = []
    while len(heard) < times:
        text = yield from AskUser("")
        heard.append(text)
        yield from Say(f"{text}!", "echo")
    return Echoed(heard=heard)


@asynccontextmanager
async def _open(config: EchoConfig, context: ConversationContext) -> AsyncIterator[Prepared]:
    base = await context.world({})

    def said(effect: Say) -> None:
        if effect.text.startswith("壊れる") and not (context.folder / "mended").exists():
            raise InstrumentFailure("the loudspeaker is broken")

    yield Prepared(echo(config.times), base.having({AskUser: context.human(), Say: said}))


def _lines(config: EchoConfig, id: str, event: Event) -> Sequence[Line]:
    request: Any = event.request
    return (Line(request["text"]),) if event.kind == "say" else ()


async def _begin(request: Request) -> Response:
    times = int(request.query_params.get("times", "3"))
    conversations = server_of(request).conversations
    conversation = await conversations.begin(
        request.state.visitor, _KIND, EchoConfig(times=times), title="<b>echo</b>"
    )
    return RedirectResponse(f"/echo/{conversation.id}", 303)


async def _show(request: Request) -> Response:
    conversation = await server_of(request).conversations.find(
        request.state.visitor, request.path_params["id"], _KIND
    )
    said = [e.request["text"] for e in conversation.events if e.kind == "say"]
    return Response(
        "\n".join(said),
        headers={"x-step": conversation.status.step, "x-state": conversation.status.state},
    )


_KIND: ConversationKind[EchoConfig] = ConversationKind(
    name="echo", config=EchoConfig, open=_open, lines=_lines
)
ECHO = Page(
    name="echo",
    title=("こだま", "Echo"),
    about=("同じことを言う", "Says it again."),
    icon="M4 4h16",
    order=99,
    routes=[
        Route("/echo", _begin, methods=["POST"]),
        Route("/echo/{id}", _show),
    ],
    kinds=(_KIND,),
)


class WebServer:
    """Serves until it is left. alone: else another process of the server holds the folder."""

    def __init__(
        self, options: WebOptions, *, pages: Sequence[Page] | None = None, alone: bool = True
    ) -> None:
        self._alone = alone
        self._options = options
        self._pages = (*all_pages(), ECHO) if pages is None else pages
        self._listening = threading.Event()
        self._server: Server | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.crash: BaseException | None = None
        self.state: ServerState | None = None

    async def _serve(self) -> None:
        try:
            with holding(self._options.state) if self._alone else nullcontext():
                await self._held()
        except BaseException as error:
            self.crash = error  # raised again where the server is entered
            self._listening.set()

    async def _held(self) -> None:
        async with open_server(self._options, pages=self._pages) as self.state:
            config = uvicorn_config(build_app(self.state), grace=1)
            config.host, config.port = "127.0.0.1", 0
            self._server = Server(config)
            task = asyncio.create_task(self._server.serve())
            while not self._server.started and not task.done():
                await asyncio.sleep(0.01)
            self._listening.set()
            await task

    def __enter__(self) -> WebServer:
        self._thread.start()
        self._listening.wait(PATIENCE)
        if self.crash is not None:
            raise self.crash
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.should_exit = True
        self._thread.join(timeout=PATIENCE)
        assert not self._thread.is_alive(), "the server did not stop"

    @property
    def url(self) -> str:
        assert self._server is not None
        host, port = self._server.servers[0].sockets[0].getsockname()[:2]
        return f"http://{host}:{port}"

    def client(self, **headers: str) -> httpx2.Client:
        """A browser without script: it keeps cookies and follows redirects."""
        return httpx2.Client(
            base_url=self.url,
            headers=headers,
            timeout=PATIENCE,
            trust_env=False,
            follow_redirects=True,
        )

    @contextmanager
    def visitor(
        self, cookies: httpx2.Cookies | None = None, **headers: str
    ) -> Iterator[httpx2.Client]:
        """A client that has been to the first page and may change things. cookies: of somebody
        who has been here before."""
        with self.client(**headers) as client:
            if cookies is not None:
                client.cookies = cookies
            client.headers["x-csrf-token"] = csrf(client.get("/").text)
            yield client


def main(state: Path, port: int) -> None:
    """Serve until killed; says its address on stdout."""
    options = WebOptions(state=state, runs=state.with_name("runs"), port=port)
    listening = bound(options.host, options.port)

    async def go() -> None:
        async with open_server(options, pages=(*all_pages(), ECHO)) as server:
            config = uvicorn_config(build_app(server), grace=1)
            await Server(config, lambda url: print(url, flush=True)).serve(sockets=[listening])

    with holding(options.state):
        asyncio.run(go())


def csrf(page: str) -> str:
    """The proof that a page carries."""
    return page.partition('<meta name="csrf" content="')[2].partition('"')[0]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
