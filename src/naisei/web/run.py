"""Listening: a socket, the house, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from importlib import import_module

from naisei.http.server import Server, bound, hold_signals, uvicorn_config
from naisei.web.app import build_app
from naisei.web.house import open_house
from naisei.web.options import WebOptions

__all__ = ["serve", "settle"]


def settle() -> None:
    """Before the first request: what is in memory now stays, and collections need not go through
    it again and again."""
    gc.collect()
    gc.freeze()


def serve(options: WebOptions, *, ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGTERM or Ctrl-C. Every conversation is kept, to the last effect.

    Args:
        ready: is told the address once connections are taken (a port of 0 is any free one).

    Raises:
        InputError: what cannot be opened or bound.
    """
    listening = bound(options.host, options.port)
    hold_signals()

    async def go() -> None:
        async with open_house(options) as house:
            if options.model is not None:  # a second that the first to talk need not wait for
                await asyncio.to_thread(import_module, "naisei.models.gateway")
            settle()
            config = uvicorn_config(build_app(house), grace=3)
            await Server(config, ready, house.sittings.dismiss).serve(sockets=[listening])

    try:
        asyncio.run(go())
    finally:
        listening.close()
