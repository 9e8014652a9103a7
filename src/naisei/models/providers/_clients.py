"""HTTP clients for many requests at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2

#: Requests of one client. Its pool looks through all its connections at each: with 256 on one
#: client, that took a third of the processor's time of a run.
_EACH = 16


class Clients:
    """As many clients as the requests under way need; few requests stay on few connections.

    make: makes a client.
    """

    def __init__(self, make: Callable[[], httpx2.AsyncClient]) -> None:
        self._make = make
        self._clients: list[httpx2.AsyncClient] = []
        self._busy: list[int] = []

    @contextmanager
    def one(self) -> Iterator[httpx2.AsyncClient]:
        """A client for one request."""
        at = next((n for n, busy in enumerate(self._busy) if busy < _EACH), len(self._busy))
        if at == len(self._busy):
            self._clients.append(self._make())
            self._busy.append(0)
        self._busy[at] += 1
        try:
            yield self._clients[at]
        finally:
            self._busy[at] -= 1

    async def aclose(self) -> None:
        for client in self._clients:
            await client.aclose()
