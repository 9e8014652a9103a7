"""Builds the application (paths, error handlers, access guard) and serves it until shutdown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from naisei import serving
from naisei.http import Guard, GuardRules, Guesses, bearer, cleaned, health
from naisei.intent.config import AssistConfig
from naisei.intent.remembering import listed
from naisei.intent.serve import api, completions
from naisei.intent.serve.api import error_body, handlers
from naisei.intent.serve.options import ServeOptions
from naisei.intent.serve.state import ServerState, open_state
from naisei.lang import say
from naisei.memory.stream import KeptStream
from naisei.models.base import ModelSettings
from naisei.serving import Ready
from naisei.system.execute import RunOptions
from naisei.terminal import Console

#: Answered without a token: only whether the server is alive.
_OPEN = ("/health",)


def guard_rules(options: ServeOptions) -> GuardRules:
    """Rules for `naisei.http.Guard`. `scope["state"]["user"]` becomes the token's user."""
    guesses = Guesses()

    def admit(scope: Scope, headers: Headers) -> Response | None:
        if options.tokens and scope["path"] not in _OPEN:
            given = bearer(headers)
            user = None if given is None else guesses.whose(scope, given, options.tokens)
            if user == "":
                user = _named(options, headers)
            if user is None:
                answer = _error(401, say("トークンが要ります", "a token is needed"))
                answer.headers["www-authenticate"] = "Bearer"
                answer.headers["connection"] = "close"
                return answer
            state = scope.setdefault("state", {})
            state["user"] = user
            state["groups"] = frozenset(_groups(options, headers, user))
        return None

    return GuardRules(
        **options.rules,
        admit=admit,
        refuse=_error,
    )


def _named(options: ServeOptions, headers: Headers) -> str | None:
    """The user of a caller with the shared secret: "", or the user named by a proxy. Users with
    their own token, and multiple names, are rejected."""
    given = headers.getlist(options.user_header) if options.user_header else []
    names = [name for name in map(_unicode, given) if name]
    taken = len(names) > 1 or (names and options.tokens.get(names[0]) is not None)
    return None if taken else names[0] if names else ""


def _groups(options: ServeOptions, headers: Headers, user: str) -> list[str]:
    """A user's groups; for proxied users also those sent by the proxy."""
    found = list(options.groups_of.get(user, ()))
    if options.groups_header and user not in (set(options.tokens) - {""}):
        lines = headers.getlist(options.groups_header)
        found += [name.strip() for line in lines for name in _unicode(line).split(",")]
    return [name for name in found if name]


def _unicode(value: str) -> str:
    """A header's value as UTF-8, the encoding in which proxies send non-ASCII names."""
    return value.encode("latin-1", "replace").decode("utf-8", "replace").strip()


def _error(status: int, message: str) -> Response:
    return JSONResponse(error_body(status, message), status)


def build_app(state: ServerState) -> Starlette:
    """Build an ASGI application over an open state."""
    app = Starlette(
        routes=[
            Route("/health", health),
            Route("/api/ask", api.ask, methods=["POST"]),
            Route("/api/ask/stream", api.ask_stream, methods=["POST"]),
            Route("/api/session/{id}", api.session),
            Route("/api/passage/{id:path}", api.passage),
            Route("/api/feedback", api.feedback, methods=["POST"]),
            Route("/api/memory", _memory, methods=["GET", "POST", "DELETE"]),
            Route("/api/memory/{id}", _note, methods=["DELETE"]),
            Route("/v1/models", completions.models),
            Route("/v1/chat/completions", completions.chat_completions, methods=["POST"]),
        ],
        exception_handlers=handlers,
        middleware=[Middleware(Guard, guard_rules(state.options))],
    )
    app.state.server = state
    return app


async def _memory(request: Request) -> JSONResponse:
    """`/api/memory`: GET returns the caller's notes; POST gives consent; DELETE erases all notes
    and the consent."""
    kept = _memory_of(request)
    if request.method == "POST":
        await asyncio.to_thread(kept.begin)
    elif request.method == "DELETE":
        await asyncio.to_thread(kept.end)
    return await _noted(kept)


async def _note(request: Request) -> JSONResponse:
    """`DELETE /api/memory/{id}`: deletes one note."""
    kept = _memory_of(request)
    if not await asyncio.to_thread(kept.forget, request.path_params["id"]):
        raise HTTPException(404, say("そのような覚えはありません", "there is no such note"))
    return await _noted(kept)


def _memory_of(request: Request) -> KeptStream:
    server: ServerState = request.app.state.server
    kept = server.turns.user_memory(str(getattr(request.state, "user", "")))
    if kept is None:
        raise HTTPException(
            403,
            say("覚えるには、ユーザーごとのトークンが要ります", "only named users are remembered"),
        )
    return kept


async def _noted(kept: KeptStream) -> JSONResponse:
    notes = await asyncio.to_thread(listed, kept)
    return JSONResponse({"remembers": kept.allowed, "notes": [cleaned(note) for note in notes]})


def serve(
    options: ServeOptions,
    config: AssistConfig,
    *,
    settings: ModelSettings | None = None,
    ready: Ready | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C. Requests in flight may finish; others are logged for resuming.

    Raises:
        InputError: the server or the address cannot be opened.
    """
    opening = partial(opened, options, config, settings)
    serving.serve(opening, options.host, options.port, workers=options.workers, ready=ready)


@asynccontextmanager
async def opened(
    options: ServeOptions, config: AssistConfig, settings: ModelSettings | None
) -> AsyncIterator[Starlette]:
    """The application of one process."""
    async with open_state(options, config, settings=settings) as state:
        yield build_app(state)


def serve_command(config: AssistConfig, running: RunOptions, *, serving: ServeOptions) -> None:
    """`naisei intent serve`."""
    console = Console(stderr=True)

    def ready(url: str) -> None:
        line = say(f"待ち受け中: {url} (Ctrl-C で終わり)", f"Listening on {url} (Ctrl-C ends)")
        console.print(line, highlight=False, soft_wrap=True)

    serve(serving, config, settings=running.settings(serving.in_flight), ready=ready)
