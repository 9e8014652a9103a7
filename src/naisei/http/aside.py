"""A handler for servers: what computes is done in a thread, so that nobody else waits for it."""

from __future__ import annotations

import asyncio
from typing import Any

from naisei.core import Handler, Where

__all__ = ["Aside"]


class Aside(Handler):
    """Performs effects in a thread. Its inner handler's `perform` is a plain function."""

    def __init__(self, inner: Handler) -> None:
        self._inner = inner

    async def perform(self, effect: Any, where: Where) -> Any:
        return await asyncio.to_thread(self._inner.perform, effect, where)

    def restore(self, effect: Any, result: Any, where: Where) -> None:
        self._inner.restore(effect, result, where)
