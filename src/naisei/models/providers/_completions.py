"""A chat model behind OpenAI's chat completions, by plain HTTP: one request, one attempt.

What vLLM, Ollama, llama.cpp and the others speak is a small part of OpenAI's API. Spoken
directly, a call costs half the CPU that it costs through an SDK, and nothing heavy is
imported (see docs/design/0004-plain-completions.md).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import httpx2

from naisei.models.base import BadReply, ChatReply, ChatRequest, Mode
from naisei.models.forbid import check_allowed, is_loopback
from naisei.models.providers._meaning import of_body, of_connection, of_status, short

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["CompletionsModel"]

#: Models that think aloud put it before the answer; it is no part of it.
_THOUGHT = re.compile(r"<think>.*?</think>\s*", re.DOTALL)
#: The gateway says how many calls there are at a time; the pool must not add a bound.
_NO_BOUND = httpx2.Limits(max_connections=None, max_keepalive_connections=None)


class CompletionsModel:
    """A `ChatModel` at `base_url` + `/chat/completions`.

    Args:
        name: `provider:name`, as the user wrote it.
        model: its name at the endpoint.
        timeout: seconds for a whole attempt.
        modes: ways of asking for structure, best first.
        structure: what a request that asks for structure has in its body for that.
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
        structure: Callable[[ChatRequest], dict[str, Any]],
    ) -> None:
        self.name, self.model_name = name, model
        self.base_url, self.modes = base_url, modes
        self._key, self._timeout, self._structure = key, timeout, structure
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._http = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {key}", "content-type": "application/json"},
            timeout=timeout,
            limits=_NO_BOUND,
            # Loading the certificates takes a tenth of a second, which plain HTTP can save.
            verify=base_url.startswith("https:"),
            # A proxy of the environment cannot reach this machine's loopback.
            trust_env=not is_loopback(base_url),
        )
        self._client: AsyncOpenAI | None = None

    @property
    def client(self) -> AsyncOpenAI:
        """OpenAI's SDK on the same endpoint, for what is beside completions (`models check`)."""
        if self._client is None:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient

            self._client = AsyncOpenAI(
                base_url=self.base_url,
                api_key=self._key,
                max_retries=0,
                timeout=self._timeout,
                http_client=DefaultAsyncHttpxClient(trust_env=not is_loopback(self.base_url)),
            )
        return self._client

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send one request; see `ChatModel.complete`."""
        check_allowed(self)
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._http.post(self._url, content=self._body(request))
            if not response.is_success:
                wish = response.headers.get("retry-after")
                raise of_status(response.status_code, response.text, request.mode, wish=wish)
            data = json.loads(response.content)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise of_connection(error) from error
        except ValueError as error:
            if (known := of_body(error)) is None:
                raise
            raise known from error
        return _reply(data, self.model_name)

    async def aclose(self) -> None:
        await self._http.aclose()
        if self._client is not None:
            await self._client.close()

    def _body(self, request: ChatRequest) -> bytes:
        body = {
            "model": self.model_name,
            "messages": [m.to_json() for m in request.messages],
            **request.sampling.to_json(),
            **self._structure(request),
        }
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _reply(data: Any, model: str) -> ChatReply:
    """Raises `BadReply` if it is no chat completion."""
    try:
        choice = data["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        text = _text(message.get("content"))
        used = data.get("usage") or {}
        return ChatReply(
            text=_THOUGHT.sub("", text),
            finish_reason=finish,
            input_tokens=int(used.get("prompt_tokens") or 0),
            output_tokens=int(used.get("completion_tokens") or 0),
            model=str(data.get("model") or model),
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise BadReply(f"no chat completion: {short(data)}") from error


def _text(content: Any) -> str:
    """A message's words: a text, a list of parts, or none."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")
