"""The body of a request, with a bound on its size and on the time it takes to arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from naisei.http.refused import Refused
from naisei.lang import say

__all__ = ["Body", "too_large"]

Message = MutableMapping[str, Any]


class Body:
    """`receive` of ASGI with a bound on the bytes and on the time until they are all there.

    Raises `Refused` where whoever reads the body will let it pass to the error handlers.
    """

    def __init__(
        self, receive: Callable[[], Awaitable[Message]], limit: int, timeout: float
    ) -> None:
        self._receive, self._left = receive, limit
        self._deadline = asyncio.get_running_loop().time() + timeout
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:  # what comes now is the end of the connection, at any time
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            said = say(
                "リクエストを最後まで受信できませんでした", "the request did not arrive in time"
            )
            raise Refused(408, said) from None
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise Refused(413, too_large())
            self._whole = not message.get("more_body", False)
        return message


def too_large() -> str:
    return say("リクエストが大きすぎます", "the request is too large")
