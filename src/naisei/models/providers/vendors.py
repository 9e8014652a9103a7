"""`anthropic:NAME` and `google:NAME`, each with the extra of that name: direct pydantic-ai
requests, one attempt each, no agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

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
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings as RequestSettings

from naisei.core import InputError, Message
from naisei.lang import say
from naisei.models.base import (
    BadReply,
    ChatReply,
    ChatRequest,
    Mode,
    ModelSettings,
    Transient,
    Unusable,
    check_allowed,
)
from naisei.models.providers._endpoint import is_transport, of_body, of_connection, of_status, short

#: Anthropic's API requires a limit; without one pydantic-ai picks a large one and streams.
_BOUND = 4096
_GOOGLE = "https://generativelanguage.googleapis.com"


def anthropic(name: str, settings: ModelSettings) -> DirectModel:
    """`settings.options["base_url"]` names another endpoint (a proxy).

    Raises:
        ImportError: the extra is missing.
        InputError: the key is missing.
    """
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    url = _url(settings)
    key = _key(f"anthropic:{name}", settings, url, "ANTHROPIC_API_KEY")
    # The gateway retries, not the SDK.
    client = AsyncAnthropic(api_key=key, base_url=url, max_retries=0, timeout=settings.timeout)
    return DirectModel(
        f"anthropic:{name}",
        AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client)),
        settings,
        base_url=str(client.base_url),
        close=client.close,
        given={"max_tokens": _BOUND},
        ignores=("seed", "reasoning_effort"),
    )


def google(name: str, settings: ModelSettings) -> DirectModel:
    """Gemini. `settings.options["base_url"]` names another endpoint (a proxy).

    Raises:
        ImportError: the extra is missing.
        InputError: the key is missing.
    """
    from google.genai import Client
    from google.genai.types import HttpOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    url = _url(settings)
    key = _key(f"google:{name}", settings, url, "GOOGLE_API_KEY", "GEMINI_API_KEY")
    # Without retry options the SDK sends a request once.
    options = HttpOptions(base_url=url or _GOOGLE)
    client = Client(vertexai=False, api_key=key, http_options=options)
    return DirectModel(
        f"google:{name}",
        GoogleModel(name, provider=GoogleProvider(client=client)),
        settings,
        base_url=url or _GOOGLE,
        close=client.aio.aclose,
        given={"timeout": settings.timeout},
        ignores=("reasoning_effort",),
    )


def _url(settings: ModelSettings) -> str | None:
    given = settings.options.get("base_url")
    return str(given) if given else None


def _key(spec: str, settings: ModelSettings, url: str | None, *variables: str) -> str:
    for variable in variables:
        if key := settings.key(variable, url):
            return key
    raise InputError(
        say("API キーがありません", "no API key"),
        place=spec,
        remedy=say(f"{variables[0]} を設定してください", f"set {variables[0]}"),
    )


class DirectModel:
    """A `ChatModel` around a pydantic-ai model whose SDK does not retry by itself.

    Args:
        name: `provider:name`, as the user wrote it.
        model: the pydantic-ai model.
        base_url: the endpoint, for messages, prices and the cache.
        close: closes the HTTP client.
        given: settings of every request.
        ignores: sampling parameters it does not support.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        settings: ModelSettings,
        *,
        base_url: str,
        close: Callable[[], Awaitable[None]],
        given: RequestSettings,
        ignores: tuple[str, ...],
    ) -> None:
        self.name, self.base_url, self.ignores = name, base_url, ignores
        self.modes: tuple[Mode, ...] = ("json_schema", "prompt")
        self.modes = self.modes if settings.structured == "json_schema" else ("prompt",)
        self._model, self._given, self._close = model, given, close
        # The SDK's time-out limits the gap between two chunks only.
        self._timeout = settings.timeout

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send one request; see `ChatModel.complete`."""
        check_allowed(self)
        how: dict[str, Any] = {
            "model_settings": {**self._given, **request.sampling.to_json()},
            "model_request_parameters": _parameters(request),
        }
        try:
            async with asyncio.timeout(self._timeout):
                given = (self._model, _history(request.messages))
                if request.on_text is None:
                    response = await model_request(*given, **how)
                else:
                    async with model_request_stream(*given, **how) as stream:
                        async for _ in stream:
                            request.on_text(_text(stream.get()))
                        response = stream.get()
        except Exception as error:
            if (known := _failure(error)) is None:
                raise
            raise known from error
        return ChatReply(
            text=_text(response),
            finish_reason=response.finish_reason,
            input_tokens=response.usage.input_tokens,
            output_tokens=response.usage.output_tokens,
            cached_input=response.usage.cache_read_tokens,
            reasoning=response.usage.details.get("reasoning_tokens", 0),
            model=response.model_name or self._model.model_name,
        )

    async def aclose(self) -> None:
        await self._close()


def _parameters(request: ChatRequest) -> ModelRequestParameters:
    """Structured output in pydantic-ai's native mode."""
    if request.mode != "json_schema" or request.schema is None:
        return ModelRequestParameters()
    wanted = OutputObjectDefinition(
        json_schema=request.schema.json, name=request.schema.name, strict=True
    )
    return ModelRequestParameters(
        output_mode="native", output_object=wanted, allow_text_output=True
    )


def _history(messages: tuple[Message, ...]) -> list[ModelMessage]:
    history: list[ModelMessage] = []
    for message in messages:
        if message.role == "assistant":
            history.append(ModelResponse(parts=[TextPart(message.content)]))
            continue
        if not history or isinstance(history[-1], ModelResponse):
            history.append(ModelRequest(parts=[]))
        kind = SystemPromptPart if message.role == "system" else UserPromptPart
        cast(list[Any], history[-1].parts).append(kind(message.content))
    return history


def _text(response: ModelResponse) -> str:
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def _failure(error: Exception) -> Transient | Unusable | None:
    """Convert a failure of pydantic-ai or its SDK to our classes; `None`: a bug."""
    if isinstance(error, ModelHTTPError):
        headers = getattr(getattr(error.__cause__, "response", None), "headers", None) or {}
        wish = headers.get("retry-after", getattr(error, "retry_after", None))
        return of_status(error.status_code, error.body or error, wish=wish)
    if isinstance(error, UnexpectedModelBehavior):
        return BadReply(f"no chat completion: {short(error)}")
    if isinstance(error, UserError):
        return Unusable(short(error), of_form=True)
    if not isinstance(error, ModelAPIError) and (known := of_body(error)) is not None:
        # The SDK returns a body that it cannot decode unchanged.
        return known
    if isinstance(error, AgentRunError | OSError) or is_transport(error):
        return of_connection(error)
    return None
