"""The ASGI application: routes, static files and guards; and the server that runs it."""

from __future__ import annotations

import asyncio
import gc
import gzip
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib import import_module
from mimetypes import guess_type
from typing import get_args

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from naisei import serving
from naisei.http import Guard, health
from naisei.lang import Language, speaking
from naisei.serving import Ready
from naisei.web.conversations.routes import routes as conversation_routes
from naisei.web.html import (
    STATIC,
    THEME_COOKIE,
    Refused,
    form_fields,
    handlers,
    page_response,
    prepare,
)
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
    """Build the ASGI application of an open server."""
    middleware = [
        Middleware(PrefixMiddleware),
        Middleware(LocaleMiddleware),
        Middleware(Guard, guard_rules(server.options, server.visitors)),
        Middleware(VisitorMiddleware, server.visitors),
    ]
    app = Starlette(
        routes=[
            Route("/health", health),
            # Pages are not compressed, since they contain CSRF tokens beside text from others.
            Route("/static/{name:path}", _static_file),
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


async def _static_file(request: Request) -> Response:
    """A static file, compressed once; browsers cache it by the content hash in its URL."""
    files = _compressed()
    if (name := request.path_params["name"]) not in files:
        raise HTTPException(404)
    kept = f"public, max-age={_YEAR}, immutable" if "v" in request.query_params else "no-cache"
    headers = {"cache-control": kept, "vary": "accept-encoding"}
    content = files[name]
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
    else:
        content = gzip.decompress(content)
    return Response(content, headers=headers, media_type=guess_type(name)[0])


@cache
def _compressed() -> dict[str, bytes]:
    """Compress every static file, by path, so that the first page does not wait for its style."""
    files = (path for path in STATIC.rglob("*") if path.is_file())
    return {p.relative_to(STATIC).as_posix(): gzip.compress(p.read_bytes()) for p in files}


async def _enter(request: Request) -> Response:
    if server_of(request).visitors.may_enter(request.scope, request.headers):
        return RedirectResponse("/", 303)
    return page_response(request, "enter.html")


async def _let_in(request: Request) -> Response:
    visitors = server_of(request).visitors
    given = (await form_fields(request)).get("token", "")
    if not visitors.knows(request.scope, given):
        raise Refused(401, "トークンが違います", "wrong token")
    response = Response(status_code=204, headers={"HX-Redirect": "/"})
    response.headers.append("set-cookie", visitors.key(secure=request.url.scheme == "https"))
    return response


async def _settings(request: Request) -> Response:
    """Set language or theme in a cookie, and reload the page."""
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
    _compressed()
    for page in pages:
        for spoken in get_args(Language):
            with speaking(spoken):
                try:
                    page.ready()
                except Exception as error:
                    # The page shows the error; other pages work.
                    _LOG.warning("%s: %s", page.name, error)


def serve(options: WebOptions, *, ready: Ready | None = None) -> None:
    """Serve until SIGTERM or Ctrl-C. Every effect of a conversation is logged.

    Raises:
        InputError: the application cannot be opened, or the address is not available.
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
    """Open the application of one process; the caller is `holding` the folder."""
    async with open_server(options) as server:
        if options.model is not None:  # saves the first conversation a second
            await asyncio.to_thread(import_module, "naisei.models.gateway")
        settle()
        asyncio.get_running_loop().run_in_executor(None, _ready, server.pages)
        yield build_app(server)
