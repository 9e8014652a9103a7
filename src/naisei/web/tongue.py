"""In which language a visitor reads: what they chose, else what their browser asks for."""

from __future__ import annotations

import re
from typing import Literal, cast

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from naisei.lang import speaking

__all__ = ["LANGUAGE_COOKIE", "THEME_COOKIE", "Tongue", "chosen"]

LANGUAGE_COOKIE, THEME_COOKIE = "naisei_lang", "naisei_theme"

_ASKED = re.compile(r"\s*([A-Za-z]{1,8})[A-Za-z0-9-]*\s*(?:;\s*q\s*=\s*([0-9.]{1,5}))?\s*")


class Tongue:
    """ASGI middleware, before all others: `naisei.lang.say` speaks the visitor's language."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with speaking(_language(Headers(scope=scope))):
            await self._app(scope, receive, send)


def chosen(headers: Headers, cookie: str) -> str:
    """The value of a cookie that holds a plain word; empty if there is none."""
    found = re.search(rf"(?:^|;\s*){cookie}=([a-z]+)(?:;|$)", headers.get("cookie", ""))
    return found[1] if found else ""


def _language(headers: Headers) -> Literal["ja", "en"]:
    if (name := chosen(headers, LANGUAGE_COOKIE)) in ("ja", "en"):
        return cast('Literal["ja", "en"]', name)
    return _asked(headers.get("accept-language", ""))


def _asked(header: str) -> Literal["ja", "en"]:
    """Of Accept-Language; Japanese where it asks for neither of the two."""
    wanted = {"ja": 0.0, "en": 0.0}
    for part in header[:500].split(","):
        if (found := _ASKED.fullmatch(part)) and (name := found[1].lower()) in wanted:
            try:
                wanted[name] = max(wanted[name], float(found[2] or 1))
            except ValueError:
                continue
    return "en" if wanted["en"] > wanted["ja"] else "ja"
