"""The application: the pages' addresses, static files, and the guards before them."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from naisei import __version__
from naisei.http.guard import Guard
from naisei.lang import say
from naisei.web.errors import handlers
from naisei.web.guard import Reception, guard_rules
from naisei.web.house import House, house_of
from naisei.web.html import STATIC, page_response
from naisei.web.sittings.routes import routes as sitting_routes
from naisei.web.tongue import LANGUAGE_COOKIE, THEME_COOKIE, Tongue

__all__ = ["build_app"]

_YEAR = 365 * 24 * 3600
_SETTINGS = {
    "lang": (LANGUAGE_COOKIE, ("ja", "en")),
    "theme": (THEME_COOKIE, ("auto", "light", "dark")),
}


def build_app(house: House) -> Starlette:
    """An ASGI application over an open house."""
    app = Starlette(
        routes=[
            Route("/health", _health),
            Route("/static/{name:path}", _static),
            Route("/enter", _enter),
            Route("/enter", _let_in, methods=["POST"]),
            Route("/settings", _settings, methods=["POST"]),
            *sitting_routes(),
            *(route for page in house.pages for route in page.routes()),
        ],
        exception_handlers=handlers,
        middleware=[
            Middleware(Tongue),
            Middleware(Guard, guard_rules(house.options, house.visitors)),
            Middleware(Reception, house.visitors),
        ],
    )
    app.state.house = house
    return app


async def _health(request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": __version__})


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _files():
        raise HTTPException(404, say("そのようなファイルはありません", "there is no such file"))
    kept = f"public, max-age={_YEAR}, immutable" if "v" in request.query_params else "no-cache"
    return FileResponse(STATIC / name, headers={"cache-control": kept})


def _files() -> frozenset[str]:
    """What there is, by name: no path that somebody sends is ever joined to a folder."""
    return frozenset(f.relative_to(STATIC).as_posix() for f in STATIC.rglob("*") if f.is_file())


async def _enter(request: Request) -> Response:
    if house_of(request).visitors.may_enter(request.headers):
        return RedirectResponse("/", 303)
    return page_response(request, "enter.html")


async def _let_in(request: Request) -> Response:
    visitors = house_of(request).visitors
    async with request.form(max_files=0, max_fields=5) as form:
        given = form.get("token")
    if not isinstance(given, str) or not visitors.knows(given.strip()):
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
