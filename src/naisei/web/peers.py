"""Several processes of one server of pages: each visitor is served by one of them.

What somebody follows is live in the process that holds their conversations. A request that came to
another process goes on to it, by a socket in a folder that only this user of the system can enter.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naisei.lang import say
from naisei.web.html import refusal
from naisei.web.visitors import Visitor

#: What any process answers.
_ANYWHERE = ("/enter", "/health", "/settings", "/static/")
#: The scheme by which the visitor came, from one process to the other.
_SCHEME = b"x-naisei-scheme"
#: Of a connection, not of the answer; and what this process says itself.
_OWN = (b"connection", b"keep-alive", b"transfer-encoding", b"date", b"server")
#: Seconds that a process which is being replaced is waited for.
_PATIENCE = 20.0
_TIMEOUT = {"connect": 5.0, "read": None, "write": 60.0, "pool": None}


@dataclass(frozen=True, slots=True)
class Place:
    """Of a process among those of its server. slot: from 0. processes: how many there are.
    folder: of their sockets."""

    slot: int
    processes: int
    folder: Path

    def owner(self, visitor: Visitor) -> int:
        """The slot of the process that holds a visitor's conversations."""
        return int(visitor.id[:8], 16) % self.processes

    def at(self, slot: int) -> str:
        """The address of a process's socket."""
        return str(self.folder / str(slot))

    def bound(self) -> socket.socket:
        """This process's socket. One that was here before may have left it behind."""
        Path(self.at(self.slot)).unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(self.at(self.slot))
        return listening


class ArrivalMiddleware:
    """ASGI middleware before all others: a request of another process is as the visitor sent it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # What comes by a port has an address of ours, whatever its headers say.
        if scope["type"] == "http" and scope.get("server") is None:
            for name, value in scope["headers"]:
                if name == _SCHEME:
                    scope["scheme"] = value.decode("latin-1")
        await self._app(scope, receive, send)


class OwnerMiddleware:
    """ASGI middleware behind `VisitorMiddleware`: a visitor's request goes to the process that
    holds their conversations."""

    def __init__(self, app: ASGIApp, place: Place) -> None:
        self._app, self._place = app, place
        # Not a client: that would keep the cookies of one visitor for the next.
        self._ways = [
            httpx2.AsyncHTTPTransport(
                uds=place.at(slot),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
            )
            for slot in range(place.processes)
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith(_ANYWHERE):
            visitor: Visitor = scope["state"]["visitor"]
            slot = self._place.owner(visitor)
            # Somebody who is new has nothing anywhere yet.
            if slot != self._place.slot and not visitor.cookie:
                await self._sent_on(slot, scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _sent_on(self, slot: int, scope: Scope, receive: Receive, send: Send) -> None:
        whole = asyncio.Event()
        passing = asyncio.create_task(self._answered(slot, scope, receive, send, whole))
        leaving = asyncio.create_task(_left(receive, whole))
        try:
            await asyncio.wait({passing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            if not passing.done():
                passing.cancel()  # nobody is there any more to read it
        with suppress(asyncio.CancelledError):
            await passing

    async def _answered(
        self, slot: int, scope: Scope, receive: Receive, send: Send, whole: asyncio.Event
    ) -> None:
        """whole: is set once the body has been read."""
        try:
            response = await self._asked(slot, scope, receive, whole)
        except httpx2.TransportError:
            said = say(
                "いま処理を引き継いでいます。もう一度お試しください",
                "another process is taking over just now; please try again",
            )
            await refusal(503, said)(scope, receive, send)
            return
        except HTTPException as error:  # of the body: too long, or too slow
            await refusal(error.status_code, error.detail)(scope, receive, send)
            return
        try:
            headers = [(k.lower(), v) for k, v in response.headers.raw if k.lower() not in _OWN]
            await send(
                {
                    "type": "http.response.start",
                    "status": response.status_code,
                    "headers": headers,
                }
            )
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            # An answer that breaks off here breaks off there: the browser asks again.
            async for part in response.stream:
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            await response.aclose()

    async def _asked(
        self, slot: int, scope: Scope, receive: Receive, whole: asyncio.Event
    ) -> httpx2.Response:
        query = scope["query_string"]
        url = httpx2.URL(
            scheme="http",
            host="localhost",
            raw_path=scope["raw_path"] + (b"?" + query if query else b""),
        )
        kept = [(k, v) for k, v in scope["headers"] if k not in (*_OWN, _SCHEME)]
        names = {k for k, _ in scope["headers"]}
        if sends := bool(names & {b"content-length", b"transfer-encoding"}):
            body = _body(receive, whole)
        else:
            whole.set()
        until = time.monotonic() + _PATIENCE
        while True:
            request = httpx2.Request(
                scope["method"],
                url,
                headers=[*kept, (_SCHEME, scope["scheme"].encode())],
                content=body if sends else None,
                extensions={"timeout": _TIMEOUT},
            )
            try:
                return await self._ways[slot].handle_async_request(request)
            except httpx2.ConnectError:
                # It begins again, and nothing of the request has been read yet.
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(0.1)


async def _body(receive: Receive, whole: asyncio.Event) -> AsyncIterator[bytes]:
    more = True
    while more:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            raise httpx2.ReadError("the visitor has left")
        more = message.get("more_body", False)
        yield message.get("body", b"")
    whole.set()


async def _left(receive: Receive, whole: asyncio.Event) -> None:
    """Returns when the visitor has left."""
    await whole.wait()
    while (await receive())["type"] != "http.disconnect":
        pass
