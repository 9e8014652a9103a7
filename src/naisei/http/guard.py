"""Who may call, and with how much: Host, Origin, size, time; and the headers of every answer.

Written as plain ASGI, so that streams pass through untouched.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from naisei.lang import say

__all__ = ["Body", "Guard", "GuardRules", "host_name", "is_address", "is_loopback", "message_of"]

_HEADERS = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRules:
    """What a server lets in.

    host: where it is bound. hosts: further names that the Host header may have. origins: pages
    of other origins that may call. limit: bytes of a body, by path. body_timeout: seconds for a
    body to arrive. admit: the answer to a caller who is not let in, `None` for one who is; it
    may write into `scope["state"]`. refuse: makes the answer of a status and a message. headers:
    of every answer, over the guard's own. kept: paths (prefixes) whose answers say themselves
    how long they may be kept.
    """

    host: str
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    limit: Callable[[str], int]
    body_timeout: float
    admit: Callable[[Scope, Headers], Response | None]
    refuse: Callable[[int, str], Response]
    headers: Mapping[str, str]
    kept: tuple[str, ...] = ()


class Guard:
    """ASGI middleware under `rules`."""

    def __init__(self, app: ASGIApp, rules: GuardRules) -> None:
        self._app, self._rules = app, rules
        self._headers = {**_HEADERS, **rules.headers}
        self._names = {name.lower() for name in rules.hosts} | {"localhost"}
        if not is_address(rules.host):
            self._names.add(rules.host.lower())
        self._origins = {origin.rstrip("/").lower() for origin in rules.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no web sockets here
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        response = self._refusal(scope, headers, origin)
        sending = self._sending(send, origin, scope["path"])
        if response is None:
            limit = self._rules.limit(scope["path"])
            await self._app(scope, Body(receive, limit, self._rules.body_timeout), sending)
        else:
            await response(scope, receive, sending)

    def _refusal(self, scope: Scope, headers: Headers, origin: str | None) -> Response | None:
        """The answer to a request that goes no further; `None` for one that does."""
        if len(headers.getlist("host")) != 1 or not self._host_known(headers["host"]):
            return self._error(421, say("この Host では応答しません", "no such host here"))
        if origin is not None and not self._origin_known(origin, headers["host"], scope):
            return self._error(403, say("ほかのサイトからは呼べません", "not from other origins"))
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            return Response(status_code=204, headers=_preflight())
        if (refused := self._rules.admit(scope, headers)) is not None:
            return refused
        declared = headers.get("content-length", "0")
        if not declared.isdecimal() or int(declared) > self._rules.limit(scope["path"]):
            return self._error(413, too_large())
        return None

    def _error(self, status: int, message: str) -> Response:
        response = self._rules.refuse(status, message)
        response.headers["connection"] = "close"
        return response

    def _host_known(self, host: str) -> bool:
        name = host_name(host)
        if name in self._names or is_loopback(name):
            return True
        # A page that had its own name point here still sends that name. An address is none.
        return is_address(name) and not is_loopback(self._rules.host)

    def _origin_known(self, origin: str, host: str, scope: Scope) -> bool:
        given = origin.rstrip("/").lower()
        own = f"{scope.get('scheme', 'http')}://{host.lower()}"
        return given in self._origins or given == own

    def _sending(self, send: Send, origin: str | None, path: str) -> Send:
        allowed = origin if origin and origin.rstrip("/").lower() in self._origins else None
        keeps = path.startswith(self._rules.kept) if self._rules.kept else False

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


def _preflight() -> dict[str, str]:
    return {
        "access-control-allow-methods": "GET, POST",
        "access-control-allow-headers": "authorization, content-type",
        "access-control-max-age": "600",
    }


class Body:
    """`receive` of ASGI with a bound on the bytes and on the time until they are all there.

    Raises `HTTPException` where whoever reads the body will let it pass to the error handlers.
    """

    def __init__(self, receive: Receive, limit: int, timeout: float) -> None:
        self._receive, self._left = receive, limit
        self._deadline = asyncio.get_running_loop().time() + timeout
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:  # what comes now is the end of the connection, at any time
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
                raise HTTPException(413, too_large())
            self._whole = not message.get("more_body", False)
        return message


def message_of(error: HTTPException, *, no_path: str) -> str:
    """What to tell whoever asked. no_path: for an address that there is not, of which the router
    gives nothing but the name of the status."""
    if error.detail != HTTPStatus(error.status_code).phrase:
        return error.detail
    own = {404: no_path, 405: say("このメソッドには対応していません", "not with this method")}
    return own.get(error.status_code, error.detail)


def too_large() -> str:
    return say("リクエストが大きすぎます", "the request is too large")


def is_loopback(host: str) -> bool:
    """Whether nobody outside this machine can reach a server bound to `host`."""
    name = host.strip("[]").lower().rstrip(".")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_address(name: str) -> bool:
    """Whether this is an IP address and no name."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def host_name(host: str) -> str:
    """The host of a Host header without its port, lower-case; no name for what is none."""
    host = host.strip().lower()
    if host.startswith("["):
        name, end, rest = host[1:].partition("]")
        whole = end and (not rest or (rest[0] == ":" and rest[1:].isdecimal()))
        return name if whole else ""
    name, colon, port = host.partition(":")
    return name.rstrip(".") if not colon or port.isdecimal() else ""
