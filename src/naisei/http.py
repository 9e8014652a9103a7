"""Shared parts of the servers: access control and error responses."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import html
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import nh3
from pydantic import JsonValue
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naisei import __version__
from naisei.addresses import host_name, is_address, is_loopback
from naisei.core import EffectFailed, EpisodeBusy, HandlerWrapper, InputError, Where
from naisei.invisible import INVISIBLE
from naisei.lang import say
from naisei.lengths import (
    GUESS_SECONDS,
    GUESSES,
)

# Responses contain plain text only: no HTML, no auto-loading images, no invisible characters.
#
# An answer quotes documents and models, and a front end may render it as HTML or Markdown.

#: A `<` opens markup only before one of these (HTML Living Standard, tag open state).
_OPENS = re.compile(r"<(?=[A-Za-z/!?])")
#: … and an unclosed tag would swallow the text up to the next one: `a<b`.
_NEVER_CLOSED = re.compile(r"<(?=[A-Za-z/!?])(?![^<]*>)")
#: Control characters except tab and line breaks; zero-width, bidirectional and tag characters.
_UNSEEN = re.compile(f"[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u2028\\u2029{INVISIBLE}]")


def clean(text: str) -> str:
    """Remove markup that a page or a Markdown renderer would interpret.

    Tags are removed, with the content of script and style; `a < b` stays. An image becomes a link's
    text, and a link's address is separated from its text, so that nothing is fetched automatically
    and addresses are visible. Citation marks such as [1] stay.

    >>> clean('残業は 45 時間 < 上限<script>x()</script> [1] ![a](https://x.invalid)')
    '残業は 45 時間 < 上限 [1] [a] (https://x.invalid)'
    """
    text = _UNSEEN.sub("", text)
    if "<" in text:
        text = _NEVER_CLOSED.sub("＜", text)
        text = html.unescape(nh3.clean(text.replace("&", "&amp;"), tags=set()))
        # Text written as an entity must not become a tag in the output.
        text = _OPENS.sub("＜", text)
    return text.replace("![", "[").replace("](", "] (").replace("]:", "] :")


def cleaned(value: JsonValue) -> JsonValue:
    """Apply `clean` to every text within a JSON value; keys are unchanged."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned(v) for v in value]
    if isinstance(value, dict):
        return {k: cleaned(v) for k, v in value.items()}
    return value


# Access checks (Host, Origin), limits on size and time, and the headers of every response.
#
# Written as plain ASGI, so that streams pass through unchanged.

_HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}


_PREFLIGHT = {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "authorization, content-type",
    "access-control-max-age": "600",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRules:
    """Access rules of a server.

    host, hosts, max_body, max_upload, body_timeout: see a server's options. origins: other allowed
    origins. uploads: path prefixes for files. admit: returns the response to a rejected caller,
    `None` for an accepted one; may write into `scope["state"]`. refuse: builds a response from a
    status and a message. headers: of every response, overriding the guard's own. kept: path
    prefixes whose responses set their own cache lifetime.
    """

    host: str
    hosts: tuple[str, ...] = ()
    max_body: int
    max_upload: int
    body_timeout: float
    origins: tuple[str, ...] = ()
    uploads: tuple[str, ...] = ()
    admit: Callable[[Scope, Headers], Response | None]
    refuse: Callable[[int, str], Response]
    headers: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()

    def limit(self, path: str) -> int:
        """Maximum bytes of a request."""
        if path.startswith(self.uploads):
            # Allow for boundaries and part headers besides the file.
            return self.max_upload + 10_000
        return self.max_body


class Guard:
    """ASGI middleware that applies `rules`."""

    def __init__(self, app: ASGIApp, rules: GuardRules) -> None:
        self._app, self._rules = app, rules
        self._headers = {**_HEADERS, **rules.headers}
        host = rules.host
        self._names = {name.lower() for name in rules.hosts} | {"localhost"}
        if not is_address(host):
            self._names.add(host.lower())
        self._origins = {origin.rstrip("/").lower() for origin in rules.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # WebSockets are not used
        headers = Headers(scope=scope)
        if (told := headers.get("x-forwarded-proto", "")) in ("http", "https"):
            # Set by the browser for the reverse proxy; pages of other origins cannot send it.
            scope["scheme"] = told
        origin = headers.get("origin")
        response = self._refusal(scope, headers, origin)
        sending = self._sending(send, origin, scope["path"])
        if response is None:
            limit = self._rules.limit(scope["path"])
            await self._app(scope, Body(receive, limit, self._rules.body_timeout), sending)
        else:
            await response(scope, receive, sending)

    def _refusal(self, scope: Scope, headers: Headers, origin: str | None) -> Response | None:
        """The response to a rejected request; `None` for an accepted one."""
        if len(headers.getlist("host")) != 1 or not self._host_known(headers["host"]):
            return self._error(421, say("この Host では応答しません", "no such host here"))
        if origin is not None and not self._origin_known(origin, headers["host"], scope):
            return self._error(403, say("ほかのサイトからは呼べません", "not from other origins"))
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            return Response(status_code=204, headers=_PREFLIGHT)
        try:
            refused = self._rules.admit(scope, headers)
        except HTTPException as error:
            refused = self._error(error.status_code, error.detail)
            refused.headers.update(error.headers or {})
        if refused is not None:
            return refused
        declared = headers.get("content-length", "0")
        if not declared.isdecimal() or int(declared) > self._rules.limit(scope["path"]):
            return self._error(413, _too_large())
        return None

    def _error(self, status: int, message: str) -> Response:
        response = self._rules.refuse(status, message)
        response.headers["connection"] = "close"
        return response

    def _host_known(self, host: str) -> bool:
        name = host_name(host)
        if name in self._names or is_loopback(name):
            return True
        # A page that rebinds its own name to this address still sends that name. An IP address is
        # safe.
        return is_address(name) and not is_loopback(self._rules.host)

    def _origin_known(self, origin: str, host: str, scope: Scope) -> bool:
        given = origin.rstrip("/").lower()
        own = f"{scope.get('scheme', 'http')}://{host.lower()}"
        return given in self._origins or given == own

    def _sending(self, send: Send, origin: str | None, path: str) -> Send:
        allowed = origin if origin and origin.rstrip("/").lower() in self._origins else None
        keeps = path.startswith(self._rules.kept)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    if name == "cache-control" and keeps and name in headers:
                        continue
                    headers[name] = value
                headers.add_vary_header("Origin")
                if allowed is not None:
                    headers["access-control-allow-origin"] = allowed
                    headers["cross-origin-resource-policy"] = "cross-origin"
            await send(message)

        return sent


def bearer(headers: Headers) -> str | None:
    """The token in `Authorization: Bearer …`."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given if scheme.lower() == "bearer" else None


class Guesses:
    """Counts wrong tokens by address and blocks an address with too many. A known valid token
    still passes, so guesses cannot lock users out. clock: seconds, monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[str, tuple[int, float]] = {}
        self._right: set[bytes] = set()

    def whose(self, scope: Scope, given: str, tokens: Mapping[str, str]) -> str | None:
        """The user whose token (user → token) matches, or `None`. All are compared in constant
        time.

        Raises:
            HTTPException: 429, too many wrong tokens from that address.
        """
        token, caller, now = given.strip().encode(), _caller(scope), self._clock()
        count, since = self._wrong.get(caller, (0, now))
        if now - since > GUESS_SECONDS:
            count, since = 0, now
        digest = hashlib.sha256(token).digest()
        if count >= GUESSES and digest not in self._right:
            said = say(
                f"違うトークンが続いたので、{GUESS_SECONDS:g} 秒は受け付けません",
                f"too many wrong tokens; none is taken for {GUESS_SECONDS:g} s",
            )
            raise HTTPException(429, said, {"retry-after": f"{GUESS_SECONDS:.0f}"})
        found = None
        for user, right in tokens.items():
            if hmac.compare_digest(token, right.encode()):
                found = user
        if found is not None:
            self._right.add(digest)
        else:
            self._wrong.pop(caller, None)
            self._wrong[caller] = count + 1, since
            if len(self._wrong) > _CALLERS:
                del self._wrong[next(iter(self._wrong))]
        return found


#: Maximum number of addresses tracked for wrong tokens.
_CALLERS = 10_000


def _caller(scope: Scope) -> str:
    """The caller's address; for IPv6 its network."""
    host = (scope.get("client") or ("", 0))[0]
    return ":".join(host.split(":")[:4]) if ":" in host else host


class Body:
    """ASGI's `receive` with limits on bytes and time. Raises `HTTPException`."""

    def __init__(self, receive: Receive, limit: int, timeout: float) -> None:
        self._receive, self._left = receive, limit
        self._deadline = asyncio.get_running_loop().time() + timeout
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:  # further messages only signal the end of the connection
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            said = say(
                "リクエストを最後まで受信できませんでした", "the request did not arrive in time"
            )
            raise HTTPException(408, said) from None
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise HTTPException(413, _too_large())
            self._whole = not message.get("more_body", False)
        return message


async def health(request: Request) -> JSONResponse:
    """Report only that the server is alive."""
    return JSONResponse({"status": "ok", "version": __version__})


def status_of(error: Exception) -> tuple[int, str]:
    """The status and message for the client. The path or address in an `InputError` may be private:
    it goes only to the server's log."""
    if isinstance(error, HTTPException):
        if error.detail != HTTPStatus(error.status_code).phrase:
            return error.status_code, error.detail
        # For a 404 the router gives only the name of the status.
        told = {
            404: say("この URL はありません", "there is no such path"),
            405: say("このメソッドには対応していません", "not with this method"),
        }
        return error.status_code, told.get(error.status_code, error.detail)
    if isinstance(error, EpisodeBusy):
        return 409, error.message
    if isinstance(error, InputError):
        return 503, say(
            "ただいま答えられません。管理者に連絡してください。",
            "No answer can be given now. Please tell the administrator.",
        )
    if isinstance(error, EffectFailed):
        return 502, say("モデルが応答しませんでした。", "The model gave no usable answer.")
    return 500, say("内部エラーです。", "An internal error.")


def _too_large() -> str:
    return say("リクエストが大きすぎます", "the request is too large")


class ThreadHandler(HandlerWrapper):
    """Performs effects in a thread. The inner handler's `perform` must be a plain function."""

    async def perform(self, effect: Any, where: Where) -> Any:
        return await asyncio.to_thread(super().perform, effect, where)
