"""Serving: a socket, uvicorn, the address told once connections are taken; work in threads."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from naisei.core import Handler, InputError, Where
from naisei.lang import say

__all__ = ["Server", "ThreadHandler", "bound", "hold_signals", "uvicorn_config"]


class ThreadHandler(Handler):
    """Performs effects in a thread. Its inner handler's `perform` is a plain function."""

    def __init__(self, inner: Handler) -> None:
        self._inner = inner

    async def perform(self, effect: Any, where: Where) -> Any:
        return await asyncio.to_thread(self._inner.perform, effect, where)

    def restore(self, effect: Any, result: Any, where: Where) -> None:
        self._inner.restore(effect, result, where)


#: Seconds that requests in flight have to end after SIGTERM or Ctrl-C.
_GRACE = 10


class Server(uvicorn.Server):
    """ready: is told its address when it listens; a port of 0 is any free one. stopping: is
    called before requests in flight are waited for: streams that never end must end now."""

    def __init__(
        self,
        config: uvicorn.Config,
        ready: Callable[[str], None] | None = None,
        stopping: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(config)
        self._ready, self._stopping = ready, stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self._ready is not None and self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            self._ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._stopping is not None:
            self._stopping()
        await super().shutdown(sockets=sockets)


def uvicorn_config(app: object, *, grace: int = _GRACE) -> uvicorn.Config:
    """No access log: paths hold ids of what is private."""
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http="h11",
        ws="none",
        lifespan="off",
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
    """A socket at this address. Raises `InputError` where nobody can listen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
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


def hold_signals() -> None:
    """uvicorn sends itself the signal once more when it is done: that must end nothing."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
