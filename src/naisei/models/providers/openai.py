"""`openai:` and `openai-compatible:`: chat completions at OpenAI, vLLM, Ollama, llama.cpp, …"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import (
    ChatReply,
    ChatRequest,
    Mode,
    ModelSettings,
    Unusable,
    check_allowed,
    check_url,
)
from naisei.models.providers._api import API, reply_of


class CompletionsModel:
    """A `ChatModel` at `base_url` + `/chat/completions`: one request, one attempt.

    Args:
        name: `provider:name`, as the user wrote it.
        model: its name at the endpoint.
        timeout: seconds for a whole attempt.
        modes: structured output modes, best first.
        limit: its name for `max_tokens`, until refused.
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
        self._api, self._limit, self._streams = API(base_url, key, timeout), limit, True
        self._limits = {"max_tokens", "max_completion_tokens"}

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send one request; see `ChatModel.complete`."""
        check_allowed(self)
        limit, on_text = self._limit, request.on_text if self._streams else None
        try:
            return await self._attempt(request, limit, on_text)
        except Unusable as error:
            if "max_tokens" in error.refused and len(self._limits) > 1:
                # Another name for the parameter; if both are refused, it is left out.
                self._limits.discard(limit)
                (self._limit,) = self._limits
            if limit == self._limit and (on_text is None or not error.of_form):
                raise
            if limit == self._limit:
                try:
                    reply = await self._attempt(request, limit, None)
                except Unusable:
                    raise error from None
                self._streams = False  # no streaming: replies come in one piece
                return reply
        return await self.complete(request)

    async def _attempt(
        self, request: ChatRequest, limit: str, on_text: Callable[[str], None] | None
    ) -> ChatReply:
        """One attempt. limit: the name of `max_tokens`. on_text: called with the text so far."""
        given = self.body(request)
        body = {limit if key == "max_tokens" else key: value for key, value in given.items()}
        if on_text is not None:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        data = await self.call("chat/completions", body, on_text)
        return reply_of(data, self.model_name, body, structured=request.schema is not None)

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """The request body, except the name of `max_tokens`."""
        return {"model": self.model_name, **request.body()}

    async def call(self, path: str, body: dict[str, Any] | None = None, *on_text: Any) -> Any:
        """The response at a path below `base_url`; see `API.call`."""
        return await self._api.call(path, body, *on_text)

    async def aclose(self) -> None:
        await self._api.aclose()


_URL = "https://api.openai.com/v1"
_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompt")


def build(name: str, settings: ModelSettings) -> CompletionsModel:
    """`openai:NAME`. Honours `OPENAI_BASE_URL`; requires a key.

    Raises:
        InputError: no name, or no key.
    """
    spec = f"openai:{name}"
    _check_name(name, spec)
    url = settings.url()
    key = settings.key("OPENAI_API_KEY", url)
    if key is None:
        raise InputError(
            say("API キーがありません", "no API key"),
            place=spec,
            remedy=say(
                "OPENAI_API_KEY を設定してください。キーの要らない接続先には "
                "openai-compatible:NAME と、OPENAI_BASE_URL か --base-url を使います",
                "set OPENAI_API_KEY; for an endpoint without keys use "
                "openai-compatible:NAME with OPENAI_BASE_URL or --base-url",
            ),
        )
    return _built(spec, name, url or _URL, key, settings, "max_completion_tokens")


def build_compatible(name: str, settings: ModelSettings) -> CompletionsModel:
    """`openai-compatible:NAME`, or `openai-compatible:NAME@http://HOST:PORT/v1`.

    The URL in the name overrides `settings.base_url` and `OPENAI_BASE_URL`. The key is
    optional.

    Raises:
        InputError: no name, or no URL.
    """
    spec = f"openai-compatible:{name}"
    bare, at, tail = name.rpartition("@")
    if at and tail.startswith(("http://", "https://")):
        name, url = bare, check_url(tail, spec)
    elif (found := settings.url()) is not None:
        url = found
    else:
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
    _check_name(name, spec)
    key = settings.key("OPENAI_API_KEY", url) or "none"
    return _built(spec, name, url, key, settings, "max_tokens")


def _built(
    spec: str, name: str, url: str, key: str, settings: ModelSettings, limit: str
) -> CompletionsModel:
    modes = _MODES[_MODES.index(settings.structured) :]
    return CompletionsModel(
        spec, name, base_url=url, key=key, timeout=settings.timeout, modes=modes, limit=limit
    )


def _check_name(name: str, spec: str) -> None:
    if not name:
        provider = spec.partition(":")[0]
        raise InputError(
            say("モデル名がありません", "a model name is missing"),
            place=spec,
            remedy=say(f"{provider}:NAME と書いてください", f"write {provider}:NAME"),
        )
