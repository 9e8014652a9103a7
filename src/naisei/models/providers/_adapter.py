"""A chat model on pydantic-ai's direct requests: one request, one attempt, no agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from pydantic_ai.direct import model_request
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
from naisei.models.base import ChatReply, ChatRequest, Mode
from naisei.models.forbid import check_allowed
from naisei.models.providers._failures import failure

__all__ = ["DirectModel", "Structure"]


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
        timeout: float | None = None,
    ) -> None:
        self.name, self.base_url, self.modes = name, base_url, modes
        self.model_name = model.model_name
        self.client, self._timeout = client, timeout
        self._model, self._structure, self._close = model, structure, close

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send one request; see `ChatModel.complete`."""
        check_allowed(self)
        parameters, settings = self._structure(request)
        _set(settings, request.sampling)
        try:
            async with asyncio.timeout(self._timeout):
                response = await model_request(
                    self._model,
                    _history(request.messages),
                    model_settings=settings,
                    model_request_parameters=parameters,
                )
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


def _reply(response: ModelResponse, model: str) -> ChatReply:
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    return ChatReply(
        text=text,
        finish_reason=response.finish_reason,
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        model=response.model_name or model,
    )
