"""The application: paths, error handlers, the guard before all; and listening to its end."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from naisei import __version__
from naisei.http import Guard, GuardRules, Server, bound, hold_signals, uvicorn_config
from naisei.intent.config import AssistConfig
from naisei.intent.serve import api, completions
from naisei.intent.serve.api import error_body, handlers
from naisei.intent.serve.options import ServeOptions
from naisei.intent.serve.state import ServerState, open_state
from naisei.lang import say
from naisei.models.base import ModelSettings
from naisei.system.execute import RunOptions
from naisei.terminal import Console

__all__ = ["build_app", "guard_rules", "serve", "serve_command"]


#: Answered without a token: whether the server lives, and nothing else.
_OPEN = ("/health",)


def guard_rules(options: ServeOptions) -> GuardRules:
    """For `naisei.http.Guard`. `scope["state"]["user"]` becomes the user that the token
    stands for."""

    def admit(scope: Scope, headers: Headers) -> Response | None:
        if options.tokens and scope["path"] not in _OPEN:
            user = _user(options, headers.get("authorization", ""))
            if user is None:
                answer = _error(401, say("トークンが要ります", "a token is needed"))
                answer.headers["www-authenticate"] = "Bearer"
                answer.headers["connection"] = "close"
                return answer
            scope.setdefault("state", {})["user"] = user
        return None

    def limit(path: str) -> int:
        if path == "/api/documents" and options.uploads is not None:
            # Boundaries and part headers come on top of the file.
            return options.max_upload + 10_000
        return options.max_body

    return GuardRules(
        host=options.host,
        hosts=options.hosts,
        origins=options.origins,
        limit=limit,
        body_timeout=options.body_timeout,
        admit=admit,
        refuse=_error,
        headers={},
    )


def _user(options: ServeOptions, authorization: str) -> str | None:
    scheme, _, given = authorization.partition(" ")
    if scheme.lower() != "bearer":
        return None
    found = None
    # Every token is compared, in time that does not depend on where they differ.
    for user, token in options.tokens.items():
        if hmac.compare_digest(given.strip().encode(), token.encode()):
            found = user
    return found


def _error(status: int, message: str) -> Response:
    return JSONResponse(error_body(status, message), status)


def build_app(state: ServerState) -> Starlette:
    """An ASGI application over an open state."""
    app = Starlette(
        routes=[
            Route("/health", _health),
            Route("/api/ask", api.ask, methods=["POST"]),
            Route("/api/ask/stream", api.ask_stream, methods=["POST"]),
            Route("/api/session/{id}", api.session),
            Route("/api/passage/{id:path}", api.passage),
            Route("/api/feedback", api.feedback, methods=["POST"]),
            Route("/api/documents", api.documents, methods=["POST"]),
            Route("/v1/models", completions.models),
            Route("/v1/chat/completions", completions.chat_completions, methods=["POST"]),
        ],
        exception_handlers=handlers,
        middleware=[Middleware(Guard, guard_rules(state.options))],
    )
    app.state.server = state
    return app


async def _health(request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": __version__})


def serve(
    options: ServeOptions,
    config: AssistConfig,
    *,
    settings: ModelSettings | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGTERM or Ctrl-C. What is in flight then may finish; what does not is kept.

    Args:
        ready: is told the address once connections are taken (a port of 0 is any free one).

    Raises:
        InputError: what cannot be opened or bound.
    """
    listening = bound(options.host, options.port)
    hold_signals()

    async def go() -> None:
        async with open_state(options, config, settings=settings) as state:
            await Server(uvicorn_config(build_app(state)), ready).serve(sockets=[listening])

    try:
        asyncio.run(go())
    finally:
        listening.close()


def serve_command(config: AssistConfig, running: RunOptions, *, serving: ServeOptions) -> None:
    """`naisei intent serve`."""
    console = Console(stderr=True)

    def ready(url: str) -> None:
        line = say(f"待ち受け中: {url} (Ctrl-C で終わり)", f"Listening on {url} (Ctrl-C ends)")
        console.print(line, highlight=False, soft_wrap=True)

    serve(serving, config, settings=running.settings(serving.in_flight), ready=ready)
