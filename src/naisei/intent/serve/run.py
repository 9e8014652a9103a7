"""Listening: a socket, the house, and an end that loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from naisei.http.server import Server, bound, hold_signals, uvicorn_config
from naisei.intent.config import AssistConfig
from naisei.intent.serve.app import build_app
from naisei.intent.serve.house import open_house
from naisei.intent.serve.options import ServeOptions
from naisei.models.settings import ModelSettings

__all__ = ["serve"]


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
    listening = bound(options.host, options.port)
    hold_signals()

    async def go() -> None:
        async with open_house(options, config, settings=settings) as house:
            await Server(uvicorn_config(build_app(house)), ready).serve(sockets=[listening])

    try:
        asyncio.run(go())
    finally:
        listening.close()
