"""Middleware for the visitor's language, sign-in, and CSRF protection. Host, Origin and size are
checked as in all our servers (`naisei.http`).
"""

from __future__ import annotations

import hmac
import re
from typing import Literal, cast
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naisei.http import GuardRules
from naisei.lang import say, speaking
from naisei.web.html import refusal
from naisei.web.options import WebOptions
from naisei.web.visitors import CSRF_HEADER, Visitors, without_script

LANGUAGE_COOKIE = "naisei_lang"


class LocaleMiddleware:
    """Outermost ASGI middleware; sets the language of `naisei.lang.say` to the visitor's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with speaking(_language(HTTPConnection(scope))):
            await self._app(scope, receive, send)


def _language(asked: HTTPConnection) -> Literal["ja", "en"]:
    if (name := asked.cookies.get(LANGUAGE_COOKIE)) in ("ja", "en"):
        return cast('Literal["ja", "en"]', name)
    # Browsers list languages in the order of preference.
    names = re.findall(r"(?:^|,)\s*(ja|en)\b", asked.headers.get("accept-language", "").lower())
    return "en" if names[:1] == ["en"] else "ja"


_PREFIX = re.compile(r"(?:/[\w.~-]+)+")
#: One of our URLs in a page or fragment. User text is escaped and holds no ".
_ADDRESS = re.compile(rb'(?<= )((?:href|src|action|formaction|hx-[a-z-]+|data-[a-z-]+)=")/(?!/)')
_LEADS = ("location", "hx-redirect", "hx-replace-url", "hx-push-url")


class PrefixMiddleware:
    """ASGI middleware for a reverse proxy that serves us under a path. The proxy strips the path
    from requests and sends it in `X-Forwarded-Prefix`; this adds it back to our URLs."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        prefix = Headers(scope=scope).get("x-forwarded-prefix", "").rstrip("/")
        if scope["type"] != "http" or not _PREFIX.fullmatch(prefix):
            await self._app(scope, receive, send)
            return
        shows = False

        async def sent(message: Message) -> None:
            nonlocal shows
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                shows = headers.get("content-type", "").startswith(("text/html", "text/event-s"))
                if shows and "content-length" in headers:
                    del headers["content-length"]
                for name in _LEADS:
                    to = headers.get(name, "")
                    if to.startswith("/") and not f"{to}/".startswith(f"{prefix}/"):
                        headers[name] = prefix + to
            elif shows:
                body = _ADDRESS.sub(rb"\1" + prefix.encode() + b"/", message.get("body", b""))
                message = {**message, "body": body}
            await send(message)

        await self._app(scope, receive, sent)


_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_SAFE = ("GET", "HEAD")
#: Paths open before sign-in.
_OPEN = ("/enter", "/health", "/static/")
#: Paths that accept file uploads.
_UPLOADS = ("/documents", "/emphasis", "/relationship/file")


def guard_rules(options: WebOptions, visitors: Visitors) -> GuardRules:
    """Return the rules for `naisei.http.Guard`."""

    def admit(scope: Scope, headers: Headers) -> Response | None:
        if scope["path"].startswith(_OPEN) or visitors.may_enter(scope, headers):
            return None
        if scope["method"] == "GET" and "hx-request" not in headers:
            return RedirectResponse("/enter", 303)
        return refusal(401, say("トークンが要ります", "a token is needed"))

    return GuardRules(
        **options.rules,
        uploads=_UPLOADS,
        admit=admit,
        refuse=refusal,
        # With no-referrer a browser would not send the Origin of a form.
        headers={"content-security-policy": _POLICY, "referrer-policy": "same-origin"},
        kept=("/static/",),
    )


class VisitorMiddleware:
    """ASGI middleware behind the guard; sets `scope["state"]["visitor"]` and checks CSRF."""

    def __init__(self, app: ASGIApp, visitors: Visitors) -> None:
        self._app, self._visitors = app, visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/static/"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        visitor = self._visitors.of(headers, secure=scope.get("scheme") == "https")
        scope.setdefault("state", {})["visitor"] = visitor

        leads = scope["method"] not in _SAFE and without_script(headers)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                if visitor.cookie:
                    MutableHeaders(scope=message).append("set-cookie", visitor.cookie)
                if leads:
                    _lead_on(message, headers)
            await send(message)

        if scope["method"] not in _SAFE and not _ours(headers, visitor.csrf):
            response = refusal(
                403,
                say(
                    "この操作はページから行ってください（ページを読み込み直すと直ることがあります）",
                    "this is done from the page itself; reloading it may help",
                ),
            )
            await response(scope, receive, sent)
            return
        await self._app(scope, receive, sent)


def _ours(headers: Headers, csrf: str) -> bool:
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    if without_script(headers):
        # A form without JavaScript: the browser's headers give its origin; the guard has compared
        # Origin with Host.
        return "sec-fetch-site" in headers or "origin" in headers
    given = headers[CSRF_HEADER]
    return hmac.compare_digest(given.encode("latin-1", "replace"), csrf.encode())


def _lead_on(message: Message, headers: Headers) -> None:
    """Turn a response for HTMX into a redirect for browsers without JavaScript: to the page named
    in it, otherwise back to the page of the form."""
    if message["status"] != 204:
        return
    sending = MutableHeaders(scope=message)
    message["status"] = 303
    sending["location"] = sending.get("hx-redirect") or _page_of(headers)


def _page_of(headers: Headers) -> str:
    """Return the page on our host that contained the form."""
    try:
        came = urlsplit(headers.get("referer", ""))
    except ValueError:
        return "/"
    # `//host` and `/\\host` are other hosts to a browser.
    if came.netloc != headers["host"] or not re.match(r"/(?![/\\])", came.path):
        return "/"
    return came.path + (f"?{came.query}" if came.query else "")
