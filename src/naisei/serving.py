"""Runs servers in one or several processes until they are stopped."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing

import h11
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from naisei.core import InputError
from naisei.lang import language, say, use
from naisei.lengths import HEADERS_SECONDS, HEADERS_WAITING

#: Seconds for requests in flight to finish after SIGTERM or Ctrl-C.
_GRACE = 10
#: Seconds for a process to start serving, and maximum seconds without a response.
_SILENT = 60
#: Opens an application and closes it on leaving.
Opening = Callable[[], AbstractAsyncContextManager[ASGIApp]]
#: Called with the address once the server accepts connections (port 0: any free one).
Ready = Callable[[str], None]


def serve(
    opening: Opening,
    host: str,
    port: int,
    *,
    workers: int = 1,
    ready: Ready | None = None,
    grace: int = _GRACE,
) -> None:
    """Serve until SIGTERM or Ctrl-C, a normal exit; before serving starts, they interrupt.

    Args:
        opening: must be picklable if there are several processes.
        workers: number of processes that serve the address. One that dies is replaced.
        grace: seconds for requests in flight to finish.

    Raises:
        InputError: the application or the address cannot be opened.
    """
    with closing(bound(host, port)) as listening:
        if workers > 1:
            asyncio.run(_opened_once(opening))  # errors are reported once, here
            config = uvicorn_config(_WorkerApp(opening), grace=grace, workers=workers)
            _Processes(config, listening, ready).run()
            return

        async def go() -> None:
            async with opening() as app:
                await Server(uvicorn_config(app, grace=grace), ready).serve(sockets=[listening])

        asyncio.run(go())


async def _opened_once(opening: Opening) -> None:
    async with opening():
        pass


class _WorkerApp:
    """The application of one process among several, opened when the process starts."""

    def __init__(self, opening: Opening) -> None:
        self._opening, self._language = opening, language()
        self._app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        use(self._language)
        threading.Thread(target=_end_with_parent, daemon=True).start()
        await receive()
        async with self._opening() as self._app:
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


class _Processes(Multiprocess):
    """uvicorn's process manager, which also reports when all processes listen and when one is
    replaced."""

    def __init__(
        self, config: uvicorn.Config, listening: socket.socket, ready: Ready | None
    ) -> None:
        super().__init__(config, [listening])
        self._ready = ready

    def init_processes(self) -> None:
        super().init_processes()
        up = all(process.wait_until_ready(_SILENT) for process in self.processes)
        if up and self._ready is not None:
            self._ready(_address(self.sockets[0]))

    def keep_subprocess_alive(self) -> None:
        for process in self.processes:
            if (code := process.exitcode) is not None:
                said = say(
                    f"プロセス {process.pid} が終わりました (終了コード {code})",
                    f"process {process.pid} ended (exit code {code})",
                )
                print(said, file=sys.stderr, flush=True)
        super().keep_subprocess_alive()


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class Server(uvicorn.Server):
    """ready: see `Ready`."""

    def __init__(self, config: uvicorn.Config, ready: Ready | None = None) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self._ready is not None and self.started and sockets:
            self._ready(_address(sockets[0]))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets=sockets)
        # Otherwise uvicorn raises the signal again, and a normal shutdown looks like an
        # interruption.
        self._captured_signals.clear()


#: Connections without a complete request, oldest first, across all servers of this process.
_waiting: dict[_Connection, None] = {}


class _Connection(H11Protocol):
    """Limits the time for the head of a request, and the number of waiting connections: the oldest
    are closed first."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._late: asyncio.TimerHandle | None = None
        self._wait()
        if len(_waiting) > HEADERS_WAITING:
            next(iter(_waiting))._close()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._done()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._done()
        elif self._late is None:
            _waiting[self] = None
            self._late = self.loop.call_later(HEADERS_SECONDS, self._close)

    def _done(self) -> None:
        _waiting.pop(self, None)
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close(self) -> None:
        self._done()
        self.transport.abort()


def uvicorn_config(app: object, *, grace: int = _GRACE, workers: int = 1) -> uvicorn.Config:
    """Return the configuration. There is no access log, since paths contain private ids."""
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=_Connection,
        ws="none",
        loop="asyncio",
        lifespan="on" if workers > 1 else "off",
        workers=workers,
        timeout_worker_healthcheck=_SILENT,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=1000,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=grace,
        h11_max_incomplete_event_size=32_768,
    )


def bound(host: str, port: int) -> socket.socket:
    """A socket bound to this address. Raises `InputError` if it cannot be bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With an explicit protocol, asyncio sends the end of a response at once; otherwise it waits 40
    # ms for the client's acknowledgement of the beginning.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
    except (OSError, OverflowError) as error:
        listening.close()
        why = error.strerror if isinstance(error, OSError) else "no such port"
        raise InputError(
            say(f"ここでは待ち受けできません: {why}", f"cannot listen there: {why}"),
            place=f"{host}:{port}",
            remedy=say("別の --port を指定してください", "give another --port"),
        ) from error
    return listening
