"""JSON to and from an endpoint that speaks OpenAI's API, by plain HTTP: one attempt a call.

What vLLM, Ollama, llama.cpp and the others speak is a small part of that API. Spoken directly, a
call costs half the CPU that it costs through an SDK (see docs/design/0004-plain-completions.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from naisei.addresses import is_loopback
from naisei.lengths import REPLY, REPLY_STREAM
from naisei.models.base import BadReply
from naisei.models.providers._completion import encode, joined, lines, told_within
from naisei.models.providers._endpoint import (
    SAID,
    no_api,
    of_body,
    of_connection,
    of_status,
    unpacked,
)
from naisei.models.providers._environment import environment_error
from naisei.text_files import json_of

#: The gateway says how many calls there are at a time; the pool must not add a bound.
_NO_BOUND = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
#: Requests of one client. Its pool looks through all its connections at each: with 256 on one
#: client, that took a third of the processor's time of a run.
_EACH = 16


class API:
    """The endpoint at `base_url`. A key is sent as a bearer token.

    timeout: seconds for a whole call; a client's timeout does not bound a slow stream. most: bytes
    of a non-stream reply, unpacked.

    Raises:
        InputError: a proxy or a file of certificates in the environment cannot be used.
    """

    def __init__(self, base_url: str, key: str, timeout: float, *, most: int = REPLY) -> None:
        self.base_url, self.key, self._most = base_url, key, most
        self._timeout, self._answered = timeout, False
        # Loading the certificates takes a tenth of a second, which plain HTTP can save.
        try:
            self._tls = httpx2.create_ssl_context() if base_url.startswith("https:") else False
            self._clients = [self._opened()]
        except (OSError, ValueError, ImportError, httpx2.InvalidURL) as error:
            raise environment_error(error) from error
        self._busy = [0]

    async def call(
        self,
        path: str,
        body: dict[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Any:
        """The value that the endpoint answers to a body, or to a GET without one.

        on_text: called with the text so far of a streamed completion.

        Raises:
            Transient: temporary failure.
            Unusable: the endpoint refuses.
        """
        url = f"{self.base_url.rstrip('/')}/{path}"
        try:
            content = None if body is None else encode(body).encode()
            with self._client() as client:
                async with (
                    asyncio.timeout(self._timeout),
                    client.stream("GET" if body is None else "POST", url, content=content) as reply,
                ):
                    if reply.is_success and "event-stream" in reply.headers.get("content-type", ""):
                        data = await joined(lines(unpacked(reply, REPLY_STREAM)), on_text)
                    else:
                        blocks = [block async for block in unpacked(reply, self._most)]
                        data = self._whole(reply, b"".join(blocks))
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise of_connection(error) from error
        except ValueError as error:
            if (known := of_body(error)) is None:
                raise
            raise known from error
        self._answered = True
        return data

    def _whole(self, reply: httpx2.Response, raw: bytes) -> Any:
        """The value of a non-stream reply."""
        said, headers = raw[:SAID].decode("utf-8", "replace"), reply.headers
        page = no_api(reply.status_code, said, headers.get("location"))
        html = "html" in headers.get("content-type", "")
        # Proxies may put a page between replies of an API for a while.
        if page is not None and not self._answered and (html or not reply.is_success):
            raise page
        if not reply.is_success:
            raise of_status(reply.status_code, said, wish=headers.get("retry-after"))
        if page is not None:
            raise BadReply(str(page))
        data = json_of(raw.decode("utf-8-sig"), foreign=True)
        if isinstance(data, dict) and data.get("error") and not data.get("choices"):
            raise told_within(data["error"])
        return data

    @contextmanager
    def _client(self) -> Iterator[httpx2.AsyncClient]:
        """A client for one call: as many as the calls under way need, few calls on few."""
        at = next((n for n, busy in enumerate(self._busy) if busy < _EACH), len(self._busy))
        if at == len(self._busy):
            self._clients.append(self._opened())
            self._busy.append(0)
        self._busy[at] += 1
        try:
            yield self._clients[at]
        finally:
            self._busy[at] -= 1

    def _opened(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={
                "authorization": f"Bearer {self.key}",
                "content-type": "application/json",
                "accept-encoding": "gzip",
            },
            timeout=self._timeout,
            limits=_NO_BOUND,
            verify=self._tls,
            # A proxy of the environment cannot reach this machine's loopback.
            trust_env=not is_loopback(self.base_url),
        )

    async def aclose(self) -> None:
        for client in self._clients:
            await client.aclose()
