"""`local:`: the embedded model. `local:NAME` for known weights, `local:/path/any.gguf`."""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

import httpx2

from naisei.core import InstrumentFailure
from naisei.models.base import BadReply, ChatReply, ChatRequest, Transient, Unusable
from naisei.models.local.grammar import json_grammar
from naisei.models.local.notice import NOTICE_EN, NOTICE_JA
from naisei.models.local.server import LocalServer, require, serve
from naisei.models.local.weights import DEFAULT, locate

__all__ = ["LocalModel", "build"]

#: A long prompt on two slow cores takes minutes before its first token.
_SECONDS = 600.0
#: Of a reply, where the caller sets no bound: a small model may not know when to stop.
_MAX_TOKENS = 512
#: The server works on one request at a time; waiting here keeps the time-out honest.
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


class LocalModel:
    """A `ChatModel` on llama.cpp inside this process. The server starts with the first call.

    notice: what has to be printed next to figures of this model, in Japanese and English.
    """

    notice = (NOTICE_JA, NOTICE_EN)

    def __init__(self, name: str = "") -> None:
        """name: of known weights (the default if empty), or a path that ends in `.gguf`.

        Raises:
            InputError: xllamacpp is missing, or the weights are unknown or not pulled yet.
        """
        require()
        self.path = locate(name)
        self.name = f"local:{name.removeprefix('local:') or DEFAULT}"

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One reply. Structure is held by a grammar in every mode but `prompt`.

        Raises:
            Transient: time-out, or the server is in trouble.
            BadReply: an answer that is none.
            Unusable: the prompt is longer than the context, or the schema cannot be held.
        """
        turn = _turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        async with turn:
            try:
                server = await asyncio.to_thread(serve, self.path)
            except InstrumentFailure as error:
                raise Unusable(str(error)) from error
            response = await self._post(server, _body(request))
        return _reply(response, self.name, structured="grammar" in _body(request))

    async def _post(self, server: LocalServer, body: dict[str, Any]) -> httpx2.Response:
        # No proxy: the server is on loopback, whatever the environment says.
        async with httpx2.AsyncClient(
            timeout=_SECONDS, trust_env=False, verify=False, http2=False
        ) as client:
            try:
                return await client.post(
                    f"{server.base_url}/chat/completions",
                    json=body,
                    headers={"Authorization": f"Bearer {server.api_key}"},
                )
            except httpx2.HTTPError as error:
                raise Transient(f"{self.name}: {error or type(error).__name__}") from error

    async def aclose(self) -> None:
        """Nothing to close: the server is shared, and stops with the process."""


def build(name: str = "", settings: Any = None) -> LocalModel:
    """The provider's factory. settings are those of remote endpoints: none applies."""
    return LocalModel(name)


def _body(request: ChatRequest) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": [m.to_json() for m in request.messages],
        "max_tokens": _MAX_TOKENS,
        "cache_prompt": True,
        **request.sampling.to_json(),
    }
    if request.mode in ("json_schema", "json_object"):
        body["grammar"] = json_grammar(request.schema.json if request.schema else None)
    return body


def _reply(response: httpx2.Response, name: str, *, structured: bool) -> ChatReply:
    try:
        data = response.json()
        if response.status_code == 400:
            problem = data["error"]
            # A refused schema may pass in a looser mode; a prompt too long will not.
            refused = structured and problem.get("type") != "exceed_context_size_error"
            raise Unusable(f"{name}: {problem['message']}", mode_refused=refused)
        if response.status_code != 200:
            raise Transient(f"{name}: status {response.status_code}: {response.text[:200]}")
        choice, usage = data["choices"][0], data["usage"]
        return ChatReply(
            text=choice["message"]["content"] or "",
            finish_reason=choice["finish_reason"],
            input_tokens=usage["prompt_tokens"],
            output_tokens=usage["completion_tokens"],
            model=data["model"],
        )
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise BadReply(f"{name}: unreadable answer: {response.text[:200]}") from error
