"""`naisei proxy`: chat completions before any model, with what naisei adds to them.

Features of a request: the model's name may end in them (`gpt-4.1-mini+ask+check:ayu`), or the
header `x-naisei` names them (`ask, check=ayu`); else those of the command count. Without any, a
request goes through untouched, as every other path does.

ask: clarify's policy over the list of what can be wanted; a question is the reply.
ground: the document assistant's flow; its question or its answer with sources is the reply.
check: the director's gate; a rejected draft is written anew. memo: a note per user, written anew
when the user says that the last reply was wrong, and put before the model from then on.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote

import httpx2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from naisei import serving
from naisei.addresses import is_loopback
from naisei.core import InputError, LogBusy, NaiseiError
from naisei.doors.acting import AskBeforeAct, ask_before_act
from naisei.doors.commands import ProxyOptions
from naisei.doors.completion import Completion
from naisei.doors.documents import Documents
from naisei.doors.speaking import Notes
from naisei.http import Guard, GuardRules
from naisei.intent.serve.api import error_body
from naisei.lang import say
from naisei.models.base import check_url
from naisei.serving import Ready
from naisei.system.config import Listening
from naisei.terminal import Console
from naisei.text_files import json_of, read_text

_FEATURES = ("ask", "check", "ground", "memo")
#: Bytes of a request.
_BODY = 20_000_000
#: Headers of a hop, which are no part of what is passed on.
_HOP = {"host", "content-length", "connection", "transfer-encoding", "accept-encoding", "x-naisei"}


def features_of(text: str) -> dict[str, str]:
    """`ask, check=ayu` or `ask+check:ayu` → feature → its value.

    Raises:
        InputError: an unknown feature.
    """
    found: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in re.split(r"[,+]", text))):
        name, _, value = re.sub("=", ":", part, count=1).partition(":")
        if name not in _FEATURES:
            told = say(f"機能 {name!r} はありません", f"there is no feature {name!r}")
            raise InputError(told, place="x-naisei", remedy=", ".join(_FEATURES))
        found[name] = value
    return found


@dataclass
class Proxy:
    """What is kept while it serves. Made from the command's options; opened by `async with`.

    Raises:
        InputError: an upstream that is no URL, unknown features, or one without what it needs.
    """

    options: ProxyOptions
    client: httpx2.AsyncClient = field(init=False)
    documents: Documents | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.url = check_url(self.options.upstream, "UPSTREAM").rstrip("/")
        self.always = features_of(",".join(self.options.features))
        self.notes = Notes(self.options.state)
        self.desk: AskBeforeAct[None] | None = None
        if self.options.actions is not None:
            lines = read_text(self.options.actions).splitlines()
            actions = [line.strip() for line in lines if line.strip()]
            self.desk = ask_before_act(
                {action: lambda request: None for action in actions}, model=self.options.model
            )
        self.check(self.always)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Proxy:
        self.client = await self._stack.enter_async_context(
            httpx2.AsyncClient(timeout=600, trust_env=not is_loopback(self.url))
        )
        if self.options.index is not None:
            opened = Documents.open(self.options.index, self.options.model)
            self.documents = await self._stack.enter_async_context(opened)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    def check(self, wanted: Mapping[str, str]) -> None:
        """Raises `InputError` for a feature without what it needs."""
        needs = {
            "ask": (self.desk is not None, "--actions"),
            "ground": (self.options.index is not None, "--index"),
            "memo": (self.options.model is not None, "--model"),
        }
        for name, (there, option) in needs.items():
            if name in wanted and not there:
                told = say(f"{name} には {option} が要ります", f"{name} needs {option}")
                raise InputError(told, place="naisei proxy")

    def app(self) -> Starlette:
        """The ASGI application, while the proxy is open."""
        rules = GuardRules(
            **Listening(max_body=_BODY, body_timeout=60).rules,
            admit=lambda scope, headers: None,
            refuse=_error,
        )
        every = ["GET", "POST", "PUT", "DELETE"]
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._completions, methods=["POST"]),
                Route("/v1/{path:path}", self._passed, methods=every),
            ],
            middleware=[Middleware(Guard, rules)],
        )

    async def _passed(self, request: Request) -> Response:
        """Anything that is no completion, as it is."""
        path = request.path_params["path"]
        # Decoded, and perhaps once more upstream: out of its own folder nothing is asked for.
        if any(part in (".", "..") for part in re.split(r"[/\\]", unquote(path))):
            return _error(404, say("そのようなパスはありません", "there is no such path"))
        return await self.forward(request, path, await request.body())

    async def _completions(self, request: Request) -> Response:
        raw = await request.body()
        try:
            body = json_of(raw)
            messages = body.get("messages") if isinstance(body, dict) else None
            if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
                raise ValueError
            name, _, tail = str(body.get("model", "")).partition("+")
            told = tail or request.headers.get("x-naisei", "")
            wanted = features_of(told) if told else self.always
            self.check(wanted)
            if not wanted:
                return await self.forward(request, "chat/completions", raw)
            call = Completion(self, request, {**body, "model": name}, wanted)
            return await call.answer()
        except HTTPException as error:
            return _error(error.status_code, error.detail)
        except LogBusy as error:
            return _error(503, error.message)
        except InputError as error:
            return _error(400, f"{error.message} {error.remedy or ''}".strip())
        except ValueError:
            return _error(400, say("chat completions の形ではありません", "no chat completion"))
        except httpx2.HTTPStatusError as error:
            failed = error.response
            return Response(failed.content, _status(failed), media_type="application/json")
        except (httpx2.HTTPError, NaiseiError) as error:
            return _error(502, f"{type(error).__name__}: {error}")

    async def forward(self, request: Request, path: str, content: bytes) -> Response:
        """Pass a request on, and the reply back as it comes."""
        sent = self.client.build_request(
            request.method,
            f"{self.url}/{path}",
            params=str(request.query_params),
            content=content,
            headers=self.headers(request),
        )
        try:
            reply = await self.client.send(sent, stream=True)
        except httpx2.HTTPError as error:
            return _error(502, f"{type(error).__name__}: {error}")
        kept = {
            k: v for k, v in reply.headers.items() if k.lower() not in _HOP | {"content-encoding"}
        }

        async def parts() -> AsyncIterator[bytes]:
            try:
                async for part in reply.aiter_bytes():
                    yield part
            finally:
                await reply.aclose()

        return StreamingResponse(parts(), _status(reply), headers=kept)

    def headers(self, request: Request) -> dict[str, str]:
        """Those of the caller; the key of the environment where the caller has none."""
        found = {k: v for k, v in request.headers.items() if k.lower() not in _HOP}
        if "authorization" not in found and (key := os.environ.get("OPENAI_API_KEY")):
            found["authorization"] = f"Bearer {key}"
        return {**found, "content-type": "application/json"}


def _status(reply: httpx2.Response) -> int:
    """Of what is passed on: no server sends one that HTTP does not have."""
    return reply.status_code if 200 <= reply.status_code < 600 else 502


def _error(status: int, message: str) -> Response:
    return JSONResponse(error_body(status, message), status)


def serve(options: ProxyOptions, ready: Ready | None = None) -> None:
    """Serve on loopback until SIGTERM or Ctrl-C.

    Raises:
        InputError: options that cannot be used, or a port that is taken.
    """
    proxy = Proxy(options)
    console = Console(stderr=True)

    def listens(url: str) -> None:
        console.print(say(f"待ち受け中: {url}/v1", f"Listening on {url}/v1"), highlight=False)
        if ready is not None:
            ready(url)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Starlette]:
        async with proxy:
            yield proxy.app()

    serving.serve(opened, "127.0.0.1", options.port, ready=listens)
