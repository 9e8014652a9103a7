"""Errors as pages, or as a line on the page where a request came from; never a traceback."""

from __future__ import annotations

import logging
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from naisei.core import EffectFailed, EpisodeBusy, InputError
from naisei.http.guard import message_of
from naisei.lang import say
from naisei.web.html import fragment

__all__ = ["handlers", "refusal"]

#: Where HTMX puts an answer of this kind: the line alone, where notices go.
_PLACED = {"HX-Retarget": "#notice", "HX-Reswap": "innerHTML", "HX-Reselect": ".notice"}
_LOG = logging.getLogger("naisei.web")


def refusal(status: int, message: str) -> HTMLResponse:
    """A page that says why not; to HTMX, the line alone."""
    text = fragment("refused.html", status=status, message=message)
    return HTMLResponse(text, status, headers=_PLACED)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    no_path = say("そのようなページはありません", "there is no such page")
    return refusal(error.status_code, message_of(error, no_path=no_path))


async def _input(request: Request, error: Exception) -> Response:
    assert isinstance(error, InputError)
    # Whoever runs the server sees the place; whoever visits is told what is wrong.
    _LOG.warning("%s", error)
    return refusal(409 if isinstance(error, EpisodeBusy) else 422, error.message)


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, EffectFailed)
    _LOG.warning("%s", error)
    return refusal(502, say("モデルが応答しませんでした。", "The model gave no usable answer."))


async def _crash(request: Request, error: Exception) -> Response:
    return refusal(500, say("内部エラーです。", "An internal error."))


#: For `Starlette(exception_handlers=…)`.
handlers: dict[Any, Any] = {
    HTTPException: _http,
    InputError: _input,
    EffectFailed: _failed,
    Exception: _crash,
}
