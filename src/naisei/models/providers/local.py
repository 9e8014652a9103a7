"""`local:`: the embedded model. `local:NAME` for known weights, `local:/path/any.gguf`.

llama.cpp serves the OpenAI API on loopback, so the adapter is that of every other endpoint.
What differs: structure is held by a grammar of ours, one request runs at a time, the
time-out is long, and the reply has a bound even if the caller sets none.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from weakref import WeakKeyDictionary

from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings as RequestSettings

from naisei.core import InstrumentFailure, Sampling
from naisei.models.base import ChatReply, ChatRequest, Mode, Unusable
from naisei.models.forbid import check_allowed
from naisei.models.local.server import json_grammar, require, serve
from naisei.models.local.weights import DEFAULT, NOTICE_EN, NOTICE_JA, locate
from naisei.models.providers._adapter import DirectModel
from naisei.models.settings import ModelSettings

__all__ = ["LocalModel", "build"]

_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompt")
_HELD: tuple[Mode, ...] = ("json_schema", "json_object")
#: A long prompt on two slow cores takes minutes before its first token.
_SECONDS = 600.0

_Loop = asyncio.AbstractEventLoop
#: The server works on one request at a time; waiting here keeps the time-out honest.
_turns: WeakKeyDictionary[_Loop, asyncio.Lock] = WeakKeyDictionary()


class LocalModel:
    """A `ChatModel` on llama.cpp inside this process. The server starts with the first call.

    notice: what has to be printed next to figures of this model, in Japanese and English.
    base_url: loopback, without the port, which differs from process to process.
    """

    notice = (NOTICE_JA, NOTICE_EN)
    base_url = "http://127.0.0.1"
    free = True
    #: A small model may not know when to stop.
    base_sampling = Sampling(max_tokens=512)

    def __init__(self, name: str, path: Path, *, timeout: float = _SECONDS) -> None:
        """timeout: seconds for one reply."""
        self.name, self.path, self.modes = name, path, _MODES
        self.model_name = path.stem
        self._timeout = timeout
        self._adapters: WeakKeyDictionary[_Loop, DirectModel] = WeakKeyDictionary()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One reply; see `ChatModel.complete`.

        Raises:
            Unusable: also where llama.cpp cannot load the file, or the prompt is longer than
                the context.
        """
        check_allowed(self)
        bounded = replace(request, sampling=request.sampling.over(self.base_sampling))
        async with _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            try:
                await asyncio.to_thread(serve, self.path)
            except InstrumentFailure as error:
                raise Unusable(str(error), hopeless=True) from error
            reply = await self._adapter().complete(bounded)
        if request.mode in _HELD and _wants_object(request) and not reply.text.startswith("{"):
            # llama.cpp drops a grammar that it cannot compile, and says so on stderr only.
            raise Unusable(f"{self.name}: the schema makes no grammar", mode_refused=True)
        return reply

    @property
    def client(self) -> AsyncOpenAI:
        """The SDK's client for the running loop. Starts the server if need be."""
        client: AsyncOpenAI = self._adapter().client
        return client

    async def aclose(self) -> None:
        """Close this loop's connections. The server is shared, and stops with the process."""
        if (adapter := self._adapters.pop(asyncio.get_running_loop(), None)) is not None:
            await adapter.aclose()

    def _adapter(self) -> DirectModel:
        loop = asyncio.get_running_loop()
        if loop not in self._adapters:
            self._adapters[loop] = self._connect()
        return self._adapters[loop]

    def _connect(self) -> DirectModel:
        server = serve(self.path)
        client = AsyncOpenAI(
            base_url=server.base_url,
            api_key=server.api_key,
            max_retries=0,
            timeout=self._timeout,
            # No proxy: the server is on loopback, whatever the environment says.
            http_client=DefaultAsyncHttpxClient(trust_env=False),
        )
        profile = OpenAIModelProfile(
            json_schema_transformer=None, openai_chat_supports_max_completion_tokens=False
        )
        provider = OpenAIProvider(openai_client=client)
        return DirectModel(
            self.name,
            OpenAIChatModel(self.model_name, provider=provider, profile=profile),
            base_url=server.base_url,
            modes=_MODES,
            structure=_structure,
            close=client.close,
            client=client,
        )


def build(name: str, settings: ModelSettings | None = None) -> LocalModel:
    """The provider's factory. Of the settings, a time-out beyond ten minutes applies, and
    `structured`.

    Raises:
        InputError: xllamacpp is missing, or the weights are unknown or not pulled yet.
    """
    require()
    settings = settings or ModelSettings()
    path = locate(name)
    model = LocalModel(
        f"local:{name.removeprefix('local:') or DEFAULT}",
        path,
        timeout=max(settings.timeout, _SECONDS),
    )
    model.modes = _MODES[_MODES.index(settings.structured) :]
    return model


def _structure(request: ChatRequest) -> tuple[ModelRequestParameters, RequestSettings]:
    body: dict[str, object] = {"cache_prompt": True}
    if request.mode in _HELD:
        # Where only an object was asked for, its schema is known all the same.
        body["grammar"] = json_grammar(request.schema.json if request.schema else None)
    return ModelRequestParameters(), RequestSettings(extra_body=body)


def _wants_object(request: ChatRequest) -> bool:
    return request.schema is None or "properties" in request.schema.json
