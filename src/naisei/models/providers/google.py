"""`google:NAME` (Gemini), with the extra of that name."""

from __future__ import annotations

from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings as RequestSettings

from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import ChatRequest, ModelSettings
from naisei.models.providers._adapter import DirectModel
from naisei.models.providers.anthropic import native

_URL = "https://generativelanguage.googleapis.com"


def build(name: str, settings: ModelSettings) -> DirectModel:
    """`settings.options["base_url"]` names another endpoint (a proxy).

    Raises:
        InputError: the extra or the key is missing.
    """
    spec = f"google:{name}"
    try:
        from google.genai import Client
        from google.genai.types import HttpOptions
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider
    except ImportError as error:
        raise InputError(
            say(
                "パッケージ google-genai がインストールされていません",
                "the package google-genai is not installed",
            ),
            place=spec,
            remedy="pip install 'naisei[google]'",
        ) from error
    given = settings.options.get("base_url")
    url = str(given) if given else None
    key = settings.key("GOOGLE_API_KEY", url) or settings.key("GEMINI_API_KEY", url)
    if not key:
        raise InputError(
            say("API キーがありません", "no API key"),
            place=spec,
            remedy=say("GOOGLE_API_KEY を設定してください", "set GOOGLE_API_KEY"),
        )
    address = url or _URL
    # Without retry options the SDK sends a request once.
    client = Client(vertexai=False, api_key=key, http_options=HttpOptions(base_url=address))

    def structure(request: ChatRequest) -> tuple[ModelRequestParameters, RequestSettings]:
        parameters, wanted = native(request)
        wanted["timeout"] = settings.timeout
        return parameters, wanted

    return DirectModel(
        spec,
        GoogleModel(name, provider=GoogleProvider(client=client)),
        base_url=address,
        modes=("json_schema", "prompt") if settings.structured == "json_schema" else ("prompt",),
        structure=structure,
        timeout=settings.timeout,
        close=client.aio.aclose,
        ignores=("reasoning_effort",),
    )
