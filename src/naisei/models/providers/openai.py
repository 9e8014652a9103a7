"""`openai:` and `openai-compatible:`: chat completions at OpenAI, vLLM, Ollama, llama.cpp, …"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import httpx2

from naisei.addresses import is_loopback
from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import REPLY, REPLY_TEXT
from naisei.models.base import (
    BadReply,
    ChatReply,
    ChatRequest,
    Mode,
    ModelSettings,
    Unusable,
    check_allowed,
    check_url,
)
from naisei.models.providers._clients import Clients
from naisei.models.providers._endpoint import (
    bound_response,
    of_body,
    of_connection,
    of_status,
    short,
)
from naisei.models.replies import without_thoughts
from naisei.text_files import json_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI


# A chat model behind OpenAI's chat completions, by plain HTTP: one request, one attempt.
#
# What vLLM, Ollama, llama.cpp and the others speak is a small part of OpenAI's API. Spoken
# directly, a call costs half the CPU that it costs through an SDK, and nothing heavy is
# imported (see docs/design/0004-plain-completions.md).

#: The gateway says how many calls there are at a time; the pool must not add a bound.
_NO_BOUND = httpx2.Limits(max_connections=None, max_keepalive_connections=None)


class CompletionsModel:
    """A `ChatModel` at `base_url` + `/chat/completions`.

    Args:
        name: `provider:name`, as the user wrote it.
        model: its name at the endpoint.
        timeout: seconds for a whole attempt.
        modes: ways of asking for structure, best first.
        renamed: sampling parameters that it calls otherwise.
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
        renamed: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.name, self.model_name = name, model
        self.base_url, self.modes = base_url, modes
        self._key, self._timeout, self._renamed = key, timeout, renamed
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._clients = Clients(self._opened)
        # Loading the certificates takes a tenth of a second, which plain HTTP can save.
        self._tls = httpx2.create_ssl_context() if base_url.startswith("https:") else False
        self._client: AsyncOpenAI | None = None
        self._streams = True

    def _opened(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={
                "authorization": f"Bearer {self._key}",
                "content-type": "application/json",
                "accept-encoding": "gzip",
            },
            timeout=self._timeout,
            limits=_NO_BOUND,
            verify=self._tls,
            # A proxy of the environment cannot reach this machine's loopback.
            trust_env=not is_loopback(self.base_url),
            event_hooks={"response": [bound_response]},
        )

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
                http_client=DefaultAsyncHttpxClient(
                    trust_env=not is_loopback(self.base_url),
                    event_hooks={"response": [bound_response]},
                ),
            )
        return self._client

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Send one request; see `ChatModel.complete`."""
        check_allowed(self)
        if request.told is not None and self._streams:
            try:
                return await self._streamed(request, request.told)
            except Unusable as error:
                if "stream" not in str(error):
                    raise
                self._streams = False  # it does not: the reply comes as a whole
        try:
            with self._clients.one() as client:
                async with asyncio.timeout(self._timeout):
                    body = self._body(request)
                    response = await client.post(self._url, content=_encode(body).encode())
            if not response.is_success:
                wish = response.headers.get("retry-after")
                raise of_status(response.status_code, response.text, request.mode, wish=wish)
            data = json_of(response.content)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise of_connection(error) from error
        except ValueError as error:
            if (known := of_body(error)) is None:
                raise
            raise known from error
        return _reply(data, self.model_name, body)

    async def _streamed(self, request: ChatRequest, told: Callable[[str], None]) -> ChatReply:
        """The same as a stream of pieces; raises as `complete`."""
        body = self._body(request) | {"stream": True, "stream_options": {"include_usage": True}}
        content = _encode(body).encode()
        try:
            with self._clients.one() as client:
                async with (
                    asyncio.timeout(self._timeout),
                    client.stream("POST", self._url, content=content) as response,
                ):
                    if not response.is_success:
                        said = (await response.aread()).decode("utf-8", "replace")
                        wish = response.headers.get("retry-after")
                        raise of_status(response.status_code, said, request.mode, wish=wish)
                    if "event-stream" not in response.headers.get("content-type", ""):
                        # It does not stream, and says so by answering as a whole.
                        data = json_of(await response.aread())
                    else:
                        data = await _joined(response.aiter_lines(), told)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise of_connection(error) from error
        except ValueError as error:
            if (known := of_body(error)) is None:
                raise
            raise known from error
        return _reply(data, self.model_name, body)

    async def aclose(self) -> None:
        await self._clients.aclose()
        if self._client is not None:
            await self._client.close()

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        told = {self._renamed.get(key, key): value for key, value in request.body().items()}
        return {"model": self.model_name, **told}


_TOO_LONG = f"the reply has over {REPLY_TEXT:,} characters"

# Made once: `json.dumps` with options makes an encoder a call.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


async def _joined(lines: AsyncIterator[str], told: Callable[[str], None]) -> dict[str, Any]:
    """Server-sent pieces of a chat completion as one. Raises `BadReply` if it was cut off."""
    text, finish, whole = "", None, dict[str, Any]()
    shown = 0  # of a long text, telling each piece would be quadratic work
    async for line in lines:
        if not line.startswith("data:"):
            continue
        if (given := line.removeprefix("data:").strip()) == "[DONE]":
            break
        piece = json_of(given)
        if not isinstance(piece, dict) or piece.get("error"):
            raise BadReply(f"the stream failed: {short(piece)}")
        whole |= {key: piece[key] for key in ("model", "usage") if piece.get(key)}
        try:
            for choice in piece.get("choices") or ():
                finish = choice.get("finish_reason") or finish
                text += _text((choice.get("delta") or {}).get("content"))
        except (AttributeError, KeyError, TypeError) as error:
            raise BadReply(f"no piece of a chat completion: {short(piece)}") from error
        if len(text) > REPLY:
            raise BadReply(_TOO_LONG)
        if len(text) > shown:
            told(without_thoughts(text))
            shown = len(text) + len(text) // 200
    if finish is None:
        raise BadReply("the stream was cut off")
    return {**whole, "choices": [{"message": {"content": text}, "finish_reason": finish}]}


def _reply(data: Any, model: str, sent: dict[str, Any]) -> ChatReply:
    """Raises `BadReply` if it is no chat completion."""
    try:
        choice = data["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        text = without_thoughts(_text(message.get("content")))
        if len(text) > REPLY_TEXT:
            raise BadReply(_TOO_LONG)
        used = data.get("usage") or {}
        return ChatReply(
            text=text,
            finish_reason=finish,
            input_tokens=int(used.get("prompt_tokens") or 0),
            output_tokens=int(used.get("completion_tokens") or 0),
            cached_input=_detail(used, "prompt_tokens_details", "cached_tokens"),
            reasoning=_detail(used, "completion_tokens_details", "reasoning_tokens"),
            sent=sent,
            raw=data,
            model=str(data.get("model") or model),
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise BadReply(f"no chat completion: {short(data)}") from error


def _detail(used: dict[str, Any], part: str, name: str) -> int:
    return int((used.get(part) or {}).get(name) or 0)


def _text(content: Any) -> str:
    """A message's words: a text, a list of parts, or none."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


_URL = "https://api.openai.com/v1"
_MODES: tuple[Mode, ...] = ("json_schema", "json_object", "prompt")


def build(name: str, settings: ModelSettings) -> CompletionsModel:
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
    return CompletionsModel(
        f"openai:{name}",
        name,
        base_url=url or _URL,
        key=key,
        timeout=settings.timeout,
        modes=_MODES[_MODES.index(settings.structured) :],
        renamed={"max_tokens": "max_completion_tokens"},
    )


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
    )
