"""`openai:` and `openai-compatible:`: chat completions at OpenAI, vLLM, Ollama, llama.cpp, …"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from naisei.core import InputError, canonical
from naisei.lang import say
from naisei.models.base import ChatRequest, Mode, Schema
from naisei.models.forbid import is_loopback
from naisei.models.providers._completions import CompletionsModel
from naisei.models.settings import ModelSettings, check_url

if TYPE_CHECKING:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings as RequestSettings

    from naisei.models.providers._adapter import DirectModel

__all__ = ["build", "build_compatible"]

_URL = "https://api.openai.com/v1"
_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompt")


def build(name: str, settings: ModelSettings) -> DirectModel:
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
    return _official(f"openai:{name}", name, url or _URL, key, settings)


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
        structure=lambda request: _structure(request, strict=False),
    )


def _official(spec: str, name: str, url: str, key: str, settings: ModelSettings) -> DirectModel:
    """OpenAI's own models differ in what they take, which pydantic-ai knows model by model."""
    # Two seconds to import, which other endpoints do without.
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.settings import ModelSettings as RequestSettings

    from naisei.models.providers._adapter import DirectModel

    client = AsyncOpenAI(
        base_url=url,
        api_key=key,
        max_retries=0,
        timeout=settings.timeout,
        # A proxy of the environment cannot reach this machine's loopback.
        http_client=DefaultAsyncHttpxClient(trust_env=not is_loopback(url)),
    )
    # The schema is transformed once a schema, not once a call; see `_response_format`.
    profile = OpenAIModelProfile(json_schema_transformer=None)
    model = OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client), profile=profile)
    plain = ModelRequestParameters()

    def structure(request: ChatRequest) -> tuple[ModelRequestParameters, RequestSettings]:
        body = _structure(request, strict=True)
        return plain, RequestSettings(extra_body=body) if body else RequestSettings()

    return DirectModel(
        spec,
        model,
        base_url=url,
        modes=_MODES[_MODES.index(settings.structured) :],
        structure=structure,
        close=client.close,
        client=client,
        timeout=settings.timeout,
    )


def _structure(request: ChatRequest, *, strict: bool) -> dict[str, Any]:
    if request.mode == "json_schema" and request.schema is not None:
        return {"response_format": _format(request.schema, strict=strict)}
    return {"response_format": {"type": "json_object"}} if request.mode == "json_object" else {}


def _format(schema: Schema, *, strict: bool) -> dict[str, Any]:
    return _response_format(schema.name, canonical(schema.json), strict)


@lru_cache(maxsize=256)
def _response_format(name: str, schema: str, strict: bool) -> dict[str, Any]:
    """OpenAI's strict mode takes a subset of JSON schema; other servers take it as it is."""
    body: dict[str, Any] = json.loads(schema)
    if strict:
        from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

        body = OpenAIJsonSchemaTransformer(body, strict=True).walk()
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": body, "strict": True},
    }
