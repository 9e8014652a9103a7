"""Who may call, and with how much: Host, Origin, size; and the headers of every answer.

Written as plain ASGI, so that streams pass through untouched.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from naisei.http.body import Body, too_large
from naisei.http.loopback import host_name, is_address, is_loopback
from naisei.lang import say

__all__ = ["App", "Guard", "GuardRules", "Message", "Receive", "Scope", "Send"]

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

    def __init__(self, app: App, rules: GuardRules) -> None:
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
