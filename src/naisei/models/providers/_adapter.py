"""A chat model on pydantic-ai's direct requests: one request, one attempt, no agent.

With the failures of pydantic-ai, of the SDK below it and of HTTP, in the three classes of
`naisei.models.base` (`Transient`, `Unreachable`, `Unusable`).
"""

from __future__ import annotations

import asyncio
import math
import re
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import fields
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

import httpx2
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelHTTPError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings as RequestSettings

from naisei.core import Message, Sampling
from naisei.lengths import REPLY, REPLY_STREAM
from naisei.models.base import (
    BadReply,
    ChatReply,
    ChatRequest,
    Mode,
    Transient,
    Unreachable,
    Unusable,
    check_allowed,
)

__all__ = [
    "DirectModel",
    "Structure",
    "bound_response",
    "failure",
    "is_transport",
    "of_body",
    "of_connection",
    "of_status",
    "seconds_until",
    "short",
]


_PASSING = {408, 409, 425, 429}
_HOPELESS = {401, 402, 403, 404}
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "exceeded_current_quota_error")
_STRUCTURE = ("response_format", "json_schema", "json_object", "json schema", "grammar", "guided")
#: Classes of the transport (httpx and its kin) that mean: no connection came about.
_NO_CONNECTION = {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"}


def of_status(
    status: int, said: object, mode: Mode | None, *, wish: str | float | None = None
) -> Transient | Unusable:
    """An answer with a status that is no success.

    said: its body. wish: its `Retry-After`.
    """
    text = f"HTTP {status}: {short(said)}"
    if status == 429 and any(word in str(said) for word in _NO_CREDIT):
        return Unusable(text, hopeless=True)
    if status in _PASSING or status >= 500:
        after = seconds_until(wish) if isinstance(wish, str) else wish
        return Transient(text, retry_after=after)
    if status < 400:
        return BadReply(text)
    refused = mode in ("json_schema", "json_object") and any(
        word in str(said).lower() for word in _STRUCTURE
    )
    named = () if refused or status not in (400, 422) else _named(str(said))
    return Unusable(text, mode_refused=refused, hopeless=status in _HOPELESS, refused=named)


def _named(said: str) -> tuple[str, ...]:
    """The sampling parameters that a refusal speaks of."""
    words = {f.name: f.name for f in fields(Sampling)} | {"max_tokens": "max_(completion_)?tokens"}
    return tuple(name for name, word in words.items() if re.search(rf"\b{word}\b", said))


def of_connection(error: Exception) -> Transient:
    """An exception of the transport, or of an SDK around it."""
    chain = _chain(error)
    names = {type(e).__name__ for e in chain}
    text = short(chain[-1]) if short(error) in ("", "Connection error.") else short(error)
    if names & _NO_CONNECTION:
        # Of the chain's end the refusal itself: asynchronous libraries add their own beneath.
        cause = next((e for e in reversed(chain) if isinstance(e, OSError)), chain[-1])
        return Unreachable(f"no connection: {short(cause)}")
    return Transient(f"the connection failed: {text or type(error).__name__}")


def of_body(error: Exception) -> Transient | Unusable | None:
    """A request that cannot be written, or a reply that cannot be read; `None`: neither."""
    if isinstance(error, UnicodeEncodeError):
        return Unusable(f"the messages cannot be sent as UTF-8: {short(error)}")
    if isinstance(error, ValueError | RecursionError):
        return BadReply(f"the body is no JSON: {short(error)}")
    return None


def is_transport(error: Exception) -> bool:
    """Whether it comes from a library of HTTP."""
    return any(type(e).__module__.partition(".")[0] in _TRANSPORTS for e in _chain(error))


_TRANSPORTS = {"httpx", "httpx2", "httpcore", "httpcore2", "h11", "aiohttp", "openai", "anthropic"}


class _Bounded(httpx2.AsyncByteStream):
    """The body of a response, unpacked, up to `most` bytes. packed: as gzip or zlib."""

    def __init__(self, inner: httpx2.AsyncByteStream, most: int, *, packed: bool) -> None:
        self._inner, self._left, self._most = inner, most, most
        self._unpack = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for block in self._inner:
                # No more of a bomb is unpacked than may be read.
                data = self._unpack.decompress(block, self._left + 1) if self._unpack else block
                self._left -= len(data)
                if self._left < 0:
                    raise BadReply(f"the reply is over {self._most / 1e6:g} MB")
                yield data
        except zlib.error as error:
            raise BadReply(f"the reply cannot be unpacked: {error}") from error

    async def aclose(self) -> None:
        await self._inner.aclose()


async def bound_response(response: httpx2.Response) -> None:
    """A hook of a client for its responses: no more than the limits allow is read of any, and
    none that is packed in a way that was not asked for. Raises `BadReply`, then or while reading.
    """
    packed = response.headers.pop("content-encoding", "identity").strip().lower()
    if packed not in ("", "identity", "gzip", "deflate"):
        raise BadReply(f"the reply is packed as {short(packed)}")
    streamed = "event-stream" in response.headers.get("content-type", "")
    inner = response.stream
    assert isinstance(inner, httpx2.AsyncByteStream)
    response.stream = _Bounded(
        inner, REPLY_STREAM if streamed else REPLY, packed=packed in ("gzip", "deflate")
    )


def _chain(error: BaseException) -> list[BaseException]:
    """The error, what caused it, and so on; the first cause last."""
    out: list[BaseException] = []
    here: BaseException | None = error
    while here is not None and here not in out:
        out.append(here)
        here = here.__cause__ or here.__context__
    return out


def seconds_until(wish: str) -> float | None:
    """A `Retry-After` field (seconds, or an HTTP date) in seconds from now, ≥ 0."""
    try:
        seconds = float(wish)
    except ValueError:
        return _until_date(wish)
    return None if math.isnan(seconds) else max(0.0, seconds)


def _until_date(wish: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(wish).timestamp() - time.time())
    except ValueError:
        return None


def short(said: object) -> str:
    """On one line, and cut."""
    text = " ".join(str(said).split())
    return text if len(text) <= 300 else text[:300] + "…"


# Failures of pydantic-ai and of the SDK below it, in the words of `naisei.models.base`.
#
# Read from the exceptions (their `__cause__`): a status, else how far the connection came.


def failure(error: Exception, mode: Mode | None) -> Transient | Unusable | None:
    """What `error` means for a request that asked for structure by `mode`; `None`: a bug."""
    if isinstance(error, ModelHTTPError):
        return of_status(error.status_code, error.body or error, mode, wish=_wish(error))
    if isinstance(error, UnexpectedModelBehavior):
        return BadReply(f"no chat completion: {short(error)}")
    if isinstance(error, ModelAPIError):
        return of_connection(error)
    if isinstance(error, UserError):
        return Unusable(short(error), mode_refused=mode == "json_schema")
    if (known := of_body(error)) is not None:
        # The SDK lets a body that it cannot decode through as it is.
        return known
    if isinstance(error, AgentRunError | OSError) or is_transport(error):
        return of_connection(error)
    return None


def _wish(error: ModelHTTPError) -> str | float | None:
    """Its `Retry-After`, as the endpoint gave it or as pydantic-ai read it."""
    headers = getattr(getattr(error.__cause__, "response", None), "headers", None) or {}
    given: str | float | None = headers.get("retry-after", getattr(error, "retry_after", None))
    return given


class Structure(Protocol):
    """How a provider asks for structure: parameters and settings of one request."""

    def __call__(self, request: ChatRequest) -> tuple[ModelRequestParameters, RequestSettings]: ...


class DirectModel:
    """A `ChatModel` around a pydantic-ai model whose SDK does not retry by itself.

    Args:
        name: `provider:name`, as the user wrote it.
        model: pydantic-ai's.
        base_url: of the endpoint, for messages, prices and the cache.
        modes: ways of asking for structure, best first.
        structure: how to ask.
        close: closes the HTTP client.
        client: the SDK's, if it is OpenAI's: for what the direct API does not offer.
        ignores: sampling parameters that it does not take.
        timeout: seconds for a whole attempt. The SDK's own bounds the silence between two
            pieces of a reply, and so never ends one that trickles.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        *,
        base_url: str,
        modes: tuple[Mode, ...],
        structure: Structure,
        close: Callable[[], Awaitable[None]],
        client: Any = None,
        ignores: tuple[str, ...] = (),
        timeout: float | None = None,
    ) -> None:
        self.name, self.base_url, self.modes = name, base_url, modes
        self.model_name = model.model_name
        self.client, self.ignores, self._timeout = client, ignores, timeout
        self._model, self._structure, self._close = model, structure, close

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send one request; see `ChatModel.complete`."""
        check_allowed(self)
        parameters, settings = self._structure(request)
        _set(settings, request.sampling)
        try:
            async with asyncio.timeout(self._timeout):
                given = (self._model, _history(request.messages))
                how: Any = {"model_settings": settings, "model_request_parameters": parameters}
                if request.told is None:
                    response = await model_request(*given, **how)
                else:
                    async with model_request_stream(*given, **how) as stream:
                        async for _ in stream:
                            request.told(_text(stream.get()))
                        response = stream.get()
        except Exception as error:
            if (known := failure(error, request.mode)) is None:
                raise
            raise known from error
        return _reply(response, self.model_name)

    async def aclose(self) -> None:
        await self._close()


def _set(settings: RequestSettings, sampling: Sampling) -> None:
    if sampling.temperature is not None:
        settings["temperature"] = sampling.temperature
    if sampling.top_p is not None:
        settings["top_p"] = sampling.top_p
    if sampling.max_tokens is not None:
        settings["max_tokens"] = sampling.max_tokens
    if sampling.seed is not None:
        settings["seed"] = sampling.seed


def _history(messages: tuple[Message, ...]) -> list[ModelMessage]:
    history: list[ModelMessage] = []
    parts: list[ModelRequestPart] = []
    for message in messages:
        if message.role == "assistant":
            if parts:
                history.append(ModelRequest(parts=parts))
                parts = []
            history.append(ModelResponse(parts=[TextPart(message.content)]))
        elif message.role == "system":
            parts.append(SystemPromptPart(message.content))
        else:
            parts.append(UserPromptPart(message.content))
    if parts:
        history.append(ModelRequest(parts=parts))
    return history


def _text(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def _reply(response: ModelResponse, model: str) -> ChatReply:
    return ChatReply(
        text=_text(response),
        finish_reason=response.finish_reason,
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        cached_input=response.usage.cache_read_tokens,
        reasoning=response.usage.details.get("reasoning_tokens", 0),
        model=response.model_name or model,
    )
