"""A chat model on pydantic-ai's direct requests: one request, one attempt, no agent.

With the failures of pydantic-ai and of the SDK below it, in the classes of `naisei.models.base`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

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
from naisei.models.base import (
    BadReply,
    ChatReply,
    ChatRequest,
    Mode,
    Transient,
    Unusable,
    check_allowed,
)
from naisei.models.providers._endpoint import is_transport, of_body, of_connection, of_status, short

# Failures of pydantic-ai and of the SDK below it, in the words of `naisei.models.base`.
#
# Read from the exceptions (their `__cause__`): a status, else how far the connection came.


def failure(error: Exception) -> Transient | Unusable | None:
    """What `error` means; `None`: a bug."""
    if isinstance(error, ModelHTTPError):
        return of_status(error.status_code, error.body or error, wish=_wish(error))
    if isinstance(error, UnexpectedModelBehavior):
        return BadReply(f"no chat completion: {short(error)}")
    if isinstance(error, ModelAPIError):
        return of_connection(error)
    if isinstance(error, UserError):
        return Unusable(short(error), of_form=True)
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
            if (known := failure(error)) is None:
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
