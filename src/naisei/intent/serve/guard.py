"""Who may call, and with how much: Host, Origin, token, size; and the headers of every answer.

Written as plain ASGI, so that streams pass through untouched.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response

from naisei.intent.serve.errors import Refused, error_body
from naisei.intent.serve.options import ServeOptions, is_loopback
from naisei.lang import say

__all__ = ["Guard"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}
#: Answered without a token: whether the server lives, and nothing else.
_OPEN = ("/health",)


class Guard:
    """ASGI middleware. `scope["state"]["user"]` becomes the user that the token stands for."""

    def __init__(self, app: App, options: ServeOptions) -> None:
        self._app, self._options = app, options
        self._names = {name.lower() for name in options.hosts} | {"localhost"}
        if not _is_address(options.host):
            self._names.add(options.host.lower())
        self._origins = {origin.rstrip("/").lower() for origin in options.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no web sockets here
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        response = self._refusal(scope, headers, origin)
        if response is None:
            body = _Body(receive, self._limit(scope), self._options.body_timeout)
            await self._app(scope, body, self._sending(send, origin))
        else:
            await response(scope, receive, self._sending(send, origin))

    def _refusal(self, scope: Scope, headers: Headers, origin: str | None) -> Response | None:
        """The answer to a request that goes no further; `None` for one that does."""
        if len(headers.getlist("host")) != 1 or not self._host_known(headers["host"]):
            return _error(421, say("この Host では応答しません", "no such host here"))
        if origin is not None and not self._origin_known(origin, headers["host"], scope):
            return _error(403, say("ほかのサイトからは呼べません", "not from other origins"))
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            return Response(status_code=204, headers=_preflight())
        if self._options.tokens and scope["path"] not in _OPEN:
            user = self._user(headers.get("authorization", ""))
            if user is None:
                answer = _error(401, say("トークンが要ります", "a token is needed"))
                answer.headers["www-authenticate"] = "Bearer"
                return answer
            scope.setdefault("state", {})["user"] = user
        declared = headers.get("content-length", "0")
        if not declared.isdecimal() or int(declared) > self._limit(scope):
            return _error(413, _too_large())
        return None

    def _user(self, authorization: str) -> str | None:
        scheme, _, given = authorization.partition(" ")
        if scheme.lower() != "bearer":
            return None
        found = None
        # Every token is compared, in time that does not depend on where they differ.
        for user, token in self._options.tokens.items():
            if hmac.compare_digest(given.strip().encode(), token.encode()):
                found = user
        return found

    def _host_known(self, host: str) -> bool:
        name = _name(host)
        if name in self._names or is_loopback(name):
            return True
        # A page that had its own name point here still sends that name. An address is none.
        return _is_address(name) and not is_loopback(self._options.host)

    def _origin_known(self, origin: str, host: str, scope: Scope) -> bool:
        given = origin.rstrip("/").lower()
        own = f"{scope.get('scheme', 'http')}://{host.lower()}"
        return given in self._origins or given == own

    def _limit(self, scope: Scope) -> int:
        if scope["path"] == "/api/documents" and self._options.uploads is not None:
            # Boundaries and part headers come on top of the file.
            return self._options.max_upload + 10_000
        return self._options.max_body

    def _sending(self, send: Send, origin: str | None) -> Send:
        allowed = origin if origin and origin.rstrip("/").lower() in self._origins else None

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.add_vary_header("Origin")
                if allowed is not None:
                    headers["access-control-allow-origin"] = allowed
                    headers["cross-origin-resource-policy"] = "cross-origin"
            await send(message)

        return sent


class _Body:
    """`receive` with a bound on the bytes and on the time until they are all there.

    Raises `Refused` where whoever reads the body will let it pass to the error handlers.
    """

    def __init__(self, receive: Receive, limit: int, timeout: float) -> None:
        self._receive, self._left = receive, limit
        self._deadline = asyncio.get_running_loop().time() + timeout
        self._whole = False
        self.started = False

    async def __call__(self) -> Message:
        if self._whole:  # what comes now is the end of the connection, at any time
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            said = say("要求が届ききりませんでした", "the request did not arrive in time")
            raise Refused(408, said) from None
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise Refused(413, _too_large())
            self._whole = not message.get("more_body", False)
        return message


def _name(host: str) -> str:
    """The host of a Host header without its port, lower-case; no name for what is none."""
    host = host.strip().lower()
    if host.startswith("["):
        name, end, rest = host[1:].partition("]")
        whole = end and (not rest or (rest[0] == ":" and rest[1:].isdecimal()))
        return name if whole else ""
    name, colon, port = host.partition(":")
    return name.rstrip(".") if not colon or port.isdecimal() else ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _preflight() -> dict[str, str]:
    return {
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": "authorization, content-type",
        "access-control-max-age": "600",
    }


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse(error_body(status, message), status, headers={"connection": "close"})


def _too_large() -> str:
    return say("要求が大きすぎます", "the request is too large")
