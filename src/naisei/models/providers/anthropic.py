"""`anthropic:NAME`, with the extra of that name."""

from __future__ import annotations

from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings as RequestSettings

from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import ChatRequest, ModelSettings
from naisei.models.providers._adapter import DirectModel

#: The API wants a bound; without one pydantic-ai would choose a large one and stream.
_BOUND = 4096


def build(name: str, settings: ModelSettings) -> DirectModel:
    """`settings.options["base_url"]` names another endpoint (a proxy).

    Raises:
        InputError: the extra or the key is missing.
    """
    spec = f"anthropic:{name}"
    try:
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider
    except ImportError as error:
        raise InputError(
            say(
                "パッケージ anthropic がインストールされていません",
                "the package anthropic is not installed",
            ),
            place=spec,
            remedy="pip install 'naisei[anthropic]'",
        ) from error
    url = settings.options.get("base_url")
    key = settings.key("ANTHROPIC_API_KEY", str(url) if url else None)
    if key is None:
        raise InputError(
            say("API キーがありません", "no API key"),
            place=spec,
            remedy=say("ANTHROPIC_API_KEY を設定してください", "set ANTHROPIC_API_KEY"),
        )
    client = AsyncAnthropic(
        api_key=key,
        base_url=str(url) if url else None,
        max_retries=0,
        timeout=settings.timeout,
    )

    def structure(request: ChatRequest) -> tuple[ModelRequestParameters, RequestSettings]:
        parameters, wanted = native(request)
        wanted["max_tokens"] = _BOUND
        return parameters, wanted

    return DirectModel(
        spec,
        AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client)),
        base_url=str(client.base_url),
        modes=("json_schema", "prompt") if settings.structured == "json_schema" else ("prompt",),
        structure=structure,
        timeout=settings.timeout,
        close=client.close,
        ignores=("seed", "reasoning_effort"),
    )


def native(request: ChatRequest) -> tuple[ModelRequestParameters, RequestSettings]:
    """Structure by pydantic-ai's native output."""
    if request.mode != "json_schema" or request.schema is None:
        return ModelRequestParameters(), RequestSettings()
    wanted = OutputObjectDefinition(
        json_schema=request.schema.json, name=request.schema.name, strict=True
    )
    parameters = ModelRequestParameters(
        output_mode="native", output_object=wanted, allow_text_output=True
    )
    return parameters, RequestSettings()
