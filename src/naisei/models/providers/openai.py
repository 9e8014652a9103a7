"""`openai:` and `openai-compatible:`: chat completions at OpenAI, vLLM, Ollama, llama.cpp, …"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import httpx2

from naisei.addresses import is_loopback
from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import (
    BadReply,
    ChatReply,
    ChatRequest,
    Mode,
    ModelSettings,
    Unusable,
    check_allowed,
    check_url,
)
from naisei.models.providers._clients import Clients
from naisei.models.providers._completion import (
    encode,
    joined,
    lines,
    reply_of,
    told_within,
    unheard,
)
from naisei.models.providers._endpoint import (
    SAID,
    bound_response,
    no_api,
    of_body,
    of_connection,
    of_status,
)
from naisei.models.providers._environment import check_environment
from naisei.text_files import json_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI


# A chat model behind OpenAI's chat completions, by plain HTTP: one request, one attempt.
#
# What vLLM, Ollama, llama.cpp and the others speak is a small part of OpenAI's API. Spoken
# directly, a call costs half the CPU that it costs through an SDK, and nothing heavy is
# imported (see docs/design/0004-plain-completions.md).

#: The gateway says how many calls there are at a time; the pool must not add a bound.
_NO_BOUND = httpx2.Limits(max_connections=None, max_keepalive_connections=None)


class CompletionsModel:
    """A `ChatModel` at `base_url` + `/chat/completions`.

    Args:
        name: `provider:name`, as the user wrote it.
        model: its name at the endpoint.
        timeout: seconds for a whole attempt.
        modes: ways of asking for structure, best first.
        limit: what it calls `max_tokens`, until it refuses the name.
    """

    def __init__(
        self,
        name: str,
        model: str,
        *,
        base_url: str,
        key: str,
        timeout: float,
        modes: tuple[Mode, ...],
        limit: str = "max_tokens",
    ) -> None:
        self.name, self.model_name = name, model
        self.base_url, self.modes = base_url, modes
        self._key, self._timeout, self._limit = key, timeout, limit
        self._limits = {"max_tokens", "max_completion_tokens"}
        check_environment(base_url)
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._clients = Clients(self._opened)
        # Loading the certificates takes a tenth of a second, which plain HTTP can save.
        self._tls = httpx2.create_ssl_context() if base_url.startswith("https:") else False
        self._client: AsyncOpenAI | None = None
        self._streams, self._answered = True, False

    def _opened(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={
                "authorization": f"Bearer {self._key}",
                "content-type": "application/json",
                "accept-encoding": "gzip",
            },
            timeout=self._timeout,
            limits=_NO_BOUND,
            verify=self._tls,
            # A proxy of the environment cannot reach this machine's loopback.
            trust_env=not is_loopback(self.base_url),
            event_hooks={"response": [bound_response]},
        )

    @property
    def client(self) -> AsyncOpenAI:
        """OpenAI's SDK on the same endpoint, for what is beside completions (`models check`)."""
        if self._client is None:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient

            self._client = AsyncOpenAI(
                base_url=self.base_url,
                api_key=self._key,
                max_retries=0,
                timeout=self._timeout,
                http_client=DefaultAsyncHttpxClient(
                    trust_env=not is_loopback(self.base_url),
                    event_hooks={"response": [bound_response]},
                ),
            )
        return self._client

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send one request; see `ChatModel.complete`."""
        check_allowed(self)
        limit, told = self._limit, request.told if self._streams else None
        try:
            return await self._asked(request, limit, told)
        except Unusable as error:
            if "max_tokens" in error.refused and len(self._limits) > 1:
                # It calls the parameter otherwise. Where it knows neither name, it is left out.
                self._limits.discard(limit)
                (self._limit,) = self._limits
            if limit == self._limit and (told is None or not error.of_form):
                raise
            if limit == self._limit:
                try:
                    reply = await self._asked(request, limit, None)
                except Unusable:
                    raise error from None
                self._streams = False  # it does not stream: replies come as a whole
                return reply
        return await self.complete(request)

    async def _asked(
        self, request: ChatRequest, limit: str, told: Callable[[str], None] | None
    ) -> ChatReply:
        """One attempt. limit: what `max_tokens` is called. told: is told the text as it comes."""
        given = {limit if key == "max_tokens" else key: v for key, v in request.body().items()}
        body = {"model": self.model_name, **given}
        if told is not None:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        try:
            content = encode(body).encode()
            with self._clients.one() as client:
                async with (
                    asyncio.timeout(self._timeout),
                    client.stream("POST", self._url, content=content) as response,
                ):
                    kind = response.headers.get("content-type", "")
                    if response.is_success and "event-stream" in kind:
                        data = await joined(lines(response.aiter_bytes()), told or unheard)
                    else:
                        data = self._whole(response, await response.aread(), kind)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise of_connection(error) from error
        except ValueError as error:
            if (known := of_body(error)) is None:
                raise
            raise known from error
        reply = reply_of(data, self.model_name, body, structured=request.schema is not None)
        self._answered = True
        return reply

    def _whole(self, response: httpx2.Response, raw: bytes, kind: str) -> Any:
        """The value of a reply that is no stream."""
        said, headers = raw[:SAID].decode("utf-8", "replace"), response.headers
        page = no_api(response.status_code, said, headers.get("location"))
        # Proxies may put a page between replies of an API for a while.
        if page is not None and not self._answered and (not response.is_success or "html" in kind):
            raise page
        if not response.is_success:
            raise of_status(response.status_code, said, wish=headers.get("retry-after"))
        if page is not None:
            raise BadReply(str(page))
        data = json_of(raw.decode("utf-8-sig"), foreign=True)
        if isinstance(data, dict) and data.get("error") and not data.get("choices"):
            raise told_within(data["error"])
        return data

    async def aclose(self) -> None:
        await self._clients.aclose()
        if self._client is not None:
            await self._client.close()


_URL = "https://api.openai.com/v1"
_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompt")


def build(name: str, settings: ModelSettings) -> CompletionsModel:
    """`openai:NAME`. `OPENAI_BASE_URL` is honoured; a key is needed.

    Raises:
        InputError: no name, or no key.
    """
    if not name:
        raise InputError(
            say("モデル名がありません", "a model name is missing"),
            place="openai:",
            remedy=say("openai:NAME の形で書いてください", "write openai:NAME"),
        )
    url = settings.url()
    key = settings.key("OPENAI_API_KEY", url)
    if key is None:
        raise InputError(
            say("API キーがありません", "no API key"),
            place=f"openai:{name}",
            remedy=say(
                "OPENAI_API_KEY を設定してください。キーの要らない接続先には "
                "openai-compatible:NAME と、OPENAI_BASE_URL か --base-url を使います",
                "set OPENAI_API_KEY; for an endpoint without keys use "
                "openai-compatible:NAME with OPENAI_BASE_URL or --base-url",
            ),
        )
    return CompletionsModel(
        f"openai:{name}",
        name,
        base_url=url or _URL,
        key=key,
        timeout=settings.timeout,
        modes=_MODES[_MODES.index(settings.structured) :],
        limit="max_completion_tokens",
    )


def build_compatible(name: str, settings: ModelSettings) -> CompletionsModel:
    """`openai-compatible:NAME`, or `openai-compatible:NAME@http://HOST:PORT/v1`.

    The URL in the name comes before `settings.base_url` and `OPENAI_BASE_URL`. The key is
    optional.

    Raises:
        InputError: no name, or no URL.
    """
    spec = f"openai-compatible:{name}"
    bare, at, tail = name.rpartition("@")
    if at and tail.startswith(("http://", "https://")):
        name, url = bare, check_url(tail, spec)
    else:
        found = settings.url()
        if found is None:
            raise InputError(
                say("接続先の URL がありません", "no base URL"),
                place=spec,
                remedy=say(
                    "OPENAI_BASE_URL を設定するか、--base-url を付けるか、"
                    "openai-compatible:NAME@http://HOST:PORT/v1 の形で書いてください",
                    "set OPENAI_BASE_URL, give --base-url, or write "
                    "openai-compatible:NAME@http://HOST:PORT/v1",
                ),
            )
        url = found
    if not name:
        raise InputError(
            say("モデル名がありません", "a model name is missing"),
            place=spec,
            remedy=say("@ の前に NAME を書いてください", "write NAME before the @"),
        )
    key = settings.key("OPENAI_API_KEY", url) or "none"
    return CompletionsModel(
        spec,
        name,
        base_url=url,
        key=key,
        timeout=settings.timeout,
        modes=_MODES[_MODES.index(settings.structured) :],
    )
