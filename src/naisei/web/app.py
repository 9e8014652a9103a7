"""The application: addresses, static files, the guards before them; and serving it."""

from __future__ import annotations

import asyncio
import gc
import gzip
import logging
import socket
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from naisei import __version__
from naisei.core import InputError
from naisei.http import Guard, Server, bound, hold_signals, uvicorn_config
from naisei.lang import Language, say, speaking
from naisei.web.conversations.routes import routes as conversation_routes
from naisei.web.html import STATIC, THEME_COOKIE, handlers, page_response, prepare
from naisei.web.middleware import LANGUAGE_COOKIE, LocaleMiddleware, VisitorMiddleware, guard_rules
from naisei.web.options import WebOptions
from naisei.web.pages import Page
from naisei.web.peers import ArrivalMiddleware, OwnerMiddleware, Place
from naisei.web.state import ServerState, holding, open_server, server_of
from naisei.web.visitors import Visitors
from naisei.workers import serve_by

_YEAR = 365 * 24 * 3600
_SETTINGS = {
    "lang": (LANGUAGE_COOKIE, ("ja", "en")),
    "theme": (THEME_COOKIE, ("auto", "light", "dark")),
}


_LOG = logging.getLogger("naisei.web")


def build_app(server: ServerState) -> Starlette:
    """An ASGI application over an open server."""
    middleware = [
        Middleware(LocaleMiddleware),
        Middleware(Guard, guard_rules(server.options, server.visitors)),
        Middleware(VisitorMiddleware, server.visitors),
    ]
    if server.place is not None:
        middleware.insert(0, Middleware(ArrivalMiddleware))
        middleware.append(Middleware(OwnerMiddleware, server.place))
    app = Starlette(
        routes=[
            Route("/health", _health),
            Route("/static/{name:path}", _static),
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


async def _health(request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": __version__})


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _files():
        raise HTTPException(404, say("そのようなファイルはありません", "there is no such file"))
    kept = f"public, max-age={_YEAR}, immutable" if "v" in request.query_params else "no-cache"
    headers = {"cache-control": kept, "vary": "accept-encoding"}
    # Pages are sent as they are: they hold the proof that a form is ours beside what others wrote.
    if "gzip" in request.headers.get("accept-encoding", "") and name.endswith((".js", ".css")):
        path = STATIC / name
        packed = _packed(name, path.stat().st_mtime_ns)
        kind = "text/javascript" if name.endswith(".js") else "text/css"
        headers["content-encoding"] = "gzip"
        return Response(packed, media_type=kind, headers=headers)
    return FileResponse(STATIC / name, headers=headers)


@lru_cache(maxsize=64)
def _packed(name: str, state: int) -> bytes:
    """state: changes with the file."""
    return gzip.compress((STATIC / name).read_bytes(), mtime=0)


def _files() -> frozenset[str]:
    """What there is, by name: no path that somebody sends is ever joined to a folder."""
    return frozenset(f.relative_to(STATIC).as_posix() for f in STATIC.rglob("*") if f.is_file())


async def _enter(request: Request) -> Response:
    if server_of(request).visitors.may_enter(request.scope, request.headers):
        return RedirectResponse("/", 303)
    return page_response(request, "enter.html")


async def _let_in(request: Request) -> Response:
    visitors = server_of(request).visitors
    async with request.form(max_files=0, max_fields=5) as form:
        given = form.get("token")
    if not isinstance(given, str) or not visitors.knows(request.scope, given):
        raise HTTPException(401, say("トークンが違います", "that is not the token"))
    response = Response(status_code=204, headers={"HX-Redirect": "/"})
    response.headers.append("set-cookie", visitors.key(secure=request.url.scheme == "https"))
    return response


async def _settings(request: Request) -> Response:
    """Language and theme, one at a time: a cookie, and the page anew."""
    response = Response(status_code=204, headers={"HX-Refresh": "true"})
    async with request.form(max_files=0, max_fields=5) as form:
        for name, (cookie, values) in _SETTINGS.items():
            if (value := form.get(name)) in values:
                response.set_cookie(cookie, str(value), max_age=_YEAR, samesite="lax")
    return response


def settle() -> None:
    """Before the first request: what is in memory now stays, and collections need not go through
    it again and again."""
    gc.collect()
    gc.freeze()


def _ready(pages: Sequence[Page]) -> None:
    """What the first visitors would otherwise wait for."""
    prepare()
    for page in pages:
        for spoken in get_args(Language):
            with speaking(spoken):
                try:
                    page.ready()
                except Exception as error:
                    # Whoever comes to the page is told; the others are served.
                    _LOG.warning("%s: %s", page.name, error)


def serve(options: WebOptions, *, ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGTERM or Ctrl-C. Every conversation is kept, to the last effect.

    Args:
        ready: is told the address once connections are taken (a port of 0 is any free one).

    Raises:
        InputError: what cannot be opened or bound.
    """
    listening = bound(options.host, options.port)
    try:
        if options.workers > 1:
            _serve_by(options, listening, ready)
        else:
            _serve(options, None, listening, ready)
    finally:
        listening.close()


def _serve_by(
    options: WebOptions, listening: socket.socket, ready: Callable[[str], None] | None
) -> None:
    """By several processes, each for its visitors."""
    if not hasattr(socket, "AF_UNIX"):
        raise InputError(
            say("このシステムでは 1 つだけです", "one alone on this system"),
            place=f"--workers {options.workers}",
        )
    with holding(options.state), TemporaryDirectory(prefix="naisei-") as folder:
        Visitors.kept_in(options.state, options.token)  # one secret, before all look for it
        places = [Place(n, options.workers, Path(folder)) for n in range(options.workers)]
        serve_by(_serve, [(options, place) for place in places], listening, ready)


def _serve(
    options: WebOptions,
    place: Place | None,
    listening: socket.socket,
    ready: Callable[[str], None] | None,
) -> None:
    """In this process alone."""
    hold_signals()

    async def go() -> None:
        async with open_server(options, place=place) as server:
            if options.model is not None:  # a second that the first to talk need not wait for
                await asyncio.to_thread(import_module, "naisei.models.gateway")
            settle()
            asyncio.get_running_loop().run_in_executor(None, _ready, server.pages)
            config = uvicorn_config(build_app(server), grace=3)
            sockets = [listening] if place is None else [listening, place.bound()]
            await Server(config, ready, server.conversations.dismiss).serve(sockets=sockets)

    asyncio.run(go())
