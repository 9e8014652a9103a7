"""The application: addresses, static files, the guards before them; and serving it."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import get_args

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from naisei import serving
from naisei.http import Guard, health
from naisei.lang import Language, say, speaking
from naisei.serving import Ready
from naisei.web.conversations.routes import routes as conversation_routes
from naisei.web.html import STATIC, THEME_COOKIE, form_fields, handlers, page_response, prepare
from naisei.web.middleware import (
    LANGUAGE_COOKIE,
    LocaleMiddleware,
    PrefixMiddleware,
    VisitorMiddleware,
    guard_rules,
)
from naisei.web.options import WebOptions
from naisei.web.pages import Page
from naisei.web.state import ServerState, holding, open_server, server_of

_YEAR = 365 * 24 * 3600
_SETTINGS = {
    "lang": (LANGUAGE_COOKIE, ("ja", "en")),
    "theme": (THEME_COOKIE, ("auto", "light", "dark")),
}


_LOG = logging.getLogger("naisei.web")


def build_app(server: ServerState) -> Starlette:
    """An ASGI application over an open server."""
    middleware = [
        Middleware(PrefixMiddleware),
        Middleware(LocaleMiddleware),
        Middleware(Guard, guard_rules(server.options, server.visitors)),
        Middleware(VisitorMiddleware, server.visitors),
    ]
    app = Starlette(
        routes=[
            Route("/health", health),
            # Pages are sent as they are: they hold the proof that a form is ours beside what others
            # wrote.
            Mount("/static", GZipMiddleware(_Static(directory=STATIC))),
            Route("/enter", _enter),
            Route("/enter", _let_in, methods=["POST"]),
            Route("/settings", _settings, methods=["POST"]),
            *conversation_routes(),
            *(route for page in server.pages for route in page.routes),
        ],
        exception_handlers=handlers,
        middleware=middleware,
    )
    app.state.server = server
    return app


class _Static(StaticFiles):
    """Static files, cached by browsers under an address with a content hash."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        marked = b"v=" in scope["query_string"]
        kept = f"public, max-age={_YEAR}, immutable" if marked else "no-cache"
        response.headers["cache-control"] = kept
        return response


async def _enter(request: Request) -> Response:
    if server_of(request).visitors.may_enter(request.scope, request.headers):
        return RedirectResponse("/", 303)
    return page_response(request, "enter.html")


async def _let_in(request: Request) -> Response:
    visitors = server_of(request).visitors
    given = (await form_fields(request)).get("token", "")
    if not visitors.knows(request.scope, given):
        raise HTTPException(401, say("トークンが違います", "that is not the token"))
    response = Response(status_code=204, headers={"HX-Redirect": "/"})
    response.headers.append("set-cookie", visitors.key(secure=request.url.scheme == "https"))
    return response


async def _settings(request: Request) -> Response:
    """Language and theme, one at a time: a cookie, and the page anew."""
    response = Response(status_code=204, headers={"HX-Refresh": "true"})
    form = await form_fields(request)
    for name, (cookie, values) in _SETTINGS.items():
        if (value := form.get(name)) in values:
            response.set_cookie(cookie, str(value), max_age=_YEAR, samesite="lax")
    return response


def settle() -> None:
    """Freeze long-lived objects before the first request, so that garbage collection is cheaper."""
    gc.collect()
    gc.freeze()


def _ready(pages: Sequence[Page]) -> None:
    """Warm up the pages."""
    prepare()
    for page in pages:
        for spoken in get_args(Language):
            with speaking(spoken):
                try:
                    page.ready()
                except Exception as error:
                    # The page shows the error; other pages work.
                    _LOG.warning("%s: %s", page.name, error)


def serve(options: WebOptions, *, ready: Ready | None = None) -> None:
    """Serve until SIGTERM or Ctrl-C. Every conversation is logged to the last effect.

    Raises:
        InputError: the application or the address cannot be opened.
    """
    with holding(options.state):
        serving.serve(
            partial(opened, options),
            options.host,
            options.port,
            workers=options.workers,
            ready=ready,
            grace=3,
        )


@asynccontextmanager
async def opened(options: WebOptions) -> AsyncIterator[Starlette]:
    """The application of one process; the caller is `holding` the folder."""
    async with open_server(options) as server:
        if options.model is not None:  # a second that the first to talk need not wait for
            await asyncio.to_thread(import_module, "naisei.models.gateway")
        settle()
        asyncio.get_running_loop().run_in_executor(None, _ready, server.pages)
        yield build_app(server)
