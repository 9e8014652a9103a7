"""Listening: a socket, the house, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable

import uvicorn

from naisei.core import InputError
from naisei.intent.config import AssistConfig
from naisei.intent.serve.app import build_app
from naisei.intent.serve.house import open_house
from naisei.intent.serve.options import ServeOptions
from naisei.models.settings import ModelSettings

__all__ = ["serve"]

#: Seconds that requests in flight have to end after SIGTERM or Ctrl-C.
_GRACE = 10


def serve(
    options: ServeOptions,
    config: AssistConfig,
    *,
    settings: ModelSettings | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C. What is in flight then may finish; what does not is kept.

    Args:
        ready: is told the address once connections are taken (a port of 0 is any free one).

    Raises:
        InputError: what cannot be opened or bound.
    """
    listening = _bound(options)
    for number in (signal.SIGINT, signal.SIGTERM):
        # uvicorn sends itself the signal once more when it is done: that must end nothing.
        signal.signal(number, lambda *_: None)

    async def go() -> None:
        async with open_house(options, config, settings=settings) as house:
            await _Server(_config(build_app(house)), ready).serve(sockets=[listening])

    try:
        asyncio.run(go())
    finally:
        listening.close()


class _Server(uvicorn.Server):
    """Tells its address when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None] | None) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self._ready is not None and self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            self._ready(f"http://{f'[{host}]' if ':' in host else host}:{port}")


def _config(app: object) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http="h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        # Paths hold ids of sessions: no access log.
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=1000,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=_GRACE,
        h11_max_incomplete_event_size=32_768,
    )


def _bound(options: ServeOptions) -> socket.socket:
    """Raises `InputError` where nobody can listen."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((options.host.strip("[]"), options.port))
    except (OSError, OverflowError) as error:
        listening.close()
        why = error.strerror if isinstance(error, OSError) else "no such port"
        raise InputError(
            f"cannot listen there: {why}",
            place=f"{options.host}:{options.port}",
            remedy="give another --port",
        ) from error
    return listening
