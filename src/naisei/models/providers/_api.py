"""JSON to and from an endpoint with OpenAI's API, over plain HTTP: one attempt per call.

vLLM, Ollama, llama.cpp and others implement a small part of that API. Direct calls cost half the
CPU of calls through an SDK (see docs/design/0004-plain-completions.md). Completions may come
whole, streamed, or with content in other fields.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from naisei.addresses import is_loopback
from naisei.lengths import REPLY, REPLY_STREAM, REPLY_TEXT
from naisei.models.base import BadReply, ChatReply, Transient, Unusable
from naisei.models.providers._endpoint import (
    SAID,
    environment_error,
    no_api,
    of_body,
    of_connection,
    of_status,
    short,
    unpacked,
)
from naisei.text_files import json_of, whole_characters

#: The gateway limits concurrent calls; the pool must not add a limit.
_NO_BOUND = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
#: Requests per client. A client's pool scans all its connections at each request: with 256 on one
#: client, that took a third of a run's CPU time.
_EACH = 16


class API:
    """The endpoint at `base_url`. A key is sent as a bearer token.

    timeout: seconds for a whole call; a client's timeout does not limit a slow stream. most: bytes
    of an unstreamed reply, unpacked.

    Raises:
        InputError: a proxy or certificate file from the environment is unusable.
    """

    def __init__(self, base_url: str, key: str, timeout: float, *, most: int = REPLY) -> None:
        self.base_url, self.key, self._most = base_url, key, most
        self._timeout, self._answered = timeout, False
        # Loading certificates takes 0.1 s, which plain HTTP can skip.
        try:
            self._tls = httpx2.create_ssl_context() if base_url.startswith("https:") else False
            self._clients = [self._opened()]
        except (OSError, ValueError, ImportError, httpx2.InvalidURL) as error:
            raise environment_error(error) from error
        self._busy = [0]

    async def call(
        self,
        path: str,
        body: dict[str, Any] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Any:
        """The endpoint's JSON reply to a POST of `body`, or to a GET without it.

        on_text: called with a streamed completion's text so far.

        Raises:
            Transient: temporary failure.
            Unusable: the endpoint refuses.
        """
        url = f"{self.base_url.rstrip('/')}/{path}"
        try:
            content = None if body is None else encode(body).encode()
            with self._client() as client:
                async with (
                    asyncio.timeout(self._timeout),
                    client.stream("GET" if body is None else "POST", url, content=content) as reply,
                ):
                    if reply.is_success and "event-stream" in reply.headers.get("content-type", ""):
                        data = await joined(lines(unpacked(reply, REPLY_STREAM)), on_text)
                    else:
                        blocks = [block async for block in unpacked(reply, self._most)]
                        data = self._whole(reply, b"".join(blocks))
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise of_connection(error) from error
        except ValueError as error:
            if (known := of_body(error)) is None:
                raise
            raise known from error
        self._answered = True
        return data

    def _whole(self, reply: httpx2.Response, raw: bytes) -> Any:
        """The value of an unstreamed reply."""
        said, headers = raw[:SAID].decode("utf-8", "replace"), reply.headers
        page = no_api(reply.status_code, said, headers.get("location"))
        html = "html" in headers.get("content-type", "")
        # Proxies may temporarily return a page instead of an API reply.
        if page is not None and not self._answered and (html or not reply.is_success):
            raise page
        if not reply.is_success:
            raise of_status(reply.status_code, said, wish=headers.get("retry-after"))
        if page is not None:
            raise BadReply(str(page))
        data = json_of(raw.decode("utf-8-sig"), foreign=True)
        if isinstance(data, dict) and data.get("error") and not data.get("choices"):
            raise told_within(data["error"])
        return data

    @contextmanager
    def _client(self) -> Iterator[httpx2.AsyncClient]:
        """A client for one call; the number of clients grows with concurrent calls."""
        at = next((n for n, busy in enumerate(self._busy) if busy < _EACH), len(self._busy))
        if at == len(self._busy):
            self._clients.append(self._opened())
            self._busy.append(0)
        self._busy[at] += 1
        try:
            yield self._clients[at]
        finally:
            self._busy[at] -= 1

    def _opened(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers={
                "authorization": f"Bearer {self.key}",
                "content-type": "application/json",
                "accept-encoding": "gzip",
            },
            timeout=self._timeout,
            limits=_NO_BOUND,
            verify=self._tls,
            # An environment proxy cannot reach this machine's loopback.
            trust_env=not is_loopback(self.base_url),
        )

    async def aclose(self) -> None:
        for client in self._clients:
            await client.aclose()


_TOO_LONG = f"the reply has over {REPLY_TEXT:,} characters"

# Made once: `json.dumps` with options creates an encoder per call.
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def told_within(error: Any) -> Transient | Unusable:
    """Convert an error sent with a success status."""
    code = error.get("code") if isinstance(error, dict) else 0
    return of_status(code if isinstance(code, int) and 400 <= code < 600 else 500, error)


async def lines(blocks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Yield lines of a UTF-8 stream. Raises `UnicodeDecodeError` for other encodings."""
    held: list[bytes] = []
    async for block in blocks:
        *ended, rest = block.split(b"\n")
        for line in ended:
            yield b"".join([*held, line]).decode()
            held.clear()
        held.append(rest)
    yield b"".join(held).decode()


async def joined(
    given_lines: AsyncIterator[str], told: Callable[[str], None] | None
) -> dict[str, Any]:
    """Join a chat completion's server-sent events. Raises `BadReply` if it is cut off."""
    text, finish, whole = "", None, dict[str, Any]()
    beside: dict[str, Any] = {}
    calls: dict[int, str] = {}
    shown = 0  # reporting each chunk of a long text would be quadratic
    async for line in given_lines:
        if not line.startswith("data:"):
            continue
        if (given := line.removeprefix("data:").strip()) == "[DONE]":
            break
        piece = json_of(given, foreign=True)
        if not isinstance(piece, dict):
            raise BadReply(f"the stream failed: {short(piece)}")
        if piece.get("error"):
            raise told_within(piece["error"])
        whole |= {key: piece[key] for key in ("model", "usage") if piece.get(key)}
        try:
            for choice in piece.get("choices") or ():
                finish = choice.get("finish_reason") or finish
                delta = choice.get("delta") or {}
                text += _text(delta.get("content"))
                beside |= {key: delta[key] for key in _BESIDE if delta.get(key)}
                for n, call in enumerate(delta.get("tool_calls") or ()):
                    at = call.get("index", n)
                    calls[at] = calls.get(at, "") + _arguments(call)
        except (AttributeError, KeyError, TypeError) as error:
            raise BadReply(f"no piece of a chat completion: {short(piece)}") from error
        if len(text) + sum(map(len, calls.values())) > REPLY:
            raise BadReply(_TOO_LONG)
        if told is not None and len(text) > shown:
            told(text)
            shown = len(text) + len(text) // 200
    if finish is None:
        raise BadReply("the stream was cut off")
    made = [{"function": {"arguments": text}} for text in calls.values()]
    message = {"content": text, **beside, **({"tool_calls": made} if made else {})}
    return {**whole, "choices": [{"message": message, "finish_reason": finish}]}


#: Other fields that may contain the content.
_BESIDE = ("reasoning_content", "reasoning", "refusal")


def reply_of(data: Any, model: str, sent: dict[str, Any], *, structured: bool) -> ChatReply:
    """Raises `BadReply` if it is not a chat completion."""
    try:
        choice = data["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        text = _text(message.get("content"))
        calls = message.get("tool_calls") or ()
        if structured and calls:
            # The requested object may arrive as a tool call.
            text = "\n".join([text, *map(_arguments, calls)]).strip()
        if len(text) > REPLY_TEXT:
            raise BadReply(_TOO_LONG)
        text.encode()  # raises for a lone surrogate
        found = (name for name in (*_BESIDE, "tool_calls") if message.get(name))
        used = data.get("usage")
        used = used if isinstance(used, dict) else {}
        return ChatReply(
            text=text,
            finish_reason=finish,
            input_tokens=_count(used, "prompt_tokens"),
            output_tokens=_count(used, "completion_tokens"),
            cached_input=_count(used.get("prompt_tokens_details"), "cached_tokens"),
            reasoning=_count(used.get("completion_tokens_details"), "reasoning_tokens"),
            elsewhere=next(found, ""),
            sent=sent,
            raw=whole_characters(data),
            model=whole_characters(str(data.get("model") or model)),
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise BadReply(f"no chat completion: {short(data)}") from error


def _count(used: Any, name: str) -> int:
    """A token count; 0 if not a number."""
    value = used.get(name) if isinstance(used, dict) else None
    text = str(value).removesuffix(".0")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


def _arguments(call: Any) -> str:
    given = (call.get("function") or {}).get("arguments") or ""
    return given if isinstance(given, str) else encode(given)


def _text(content: Any) -> str:
    """The text of a message's content: a text, a list of parts, a requested object, or none."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return encode(content)
    kinds = ("text", "output_text")
    return "".join(part["text"] for part in content if part.get("type") in kinds)
