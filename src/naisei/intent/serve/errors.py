"""Errors over HTTP: always JSON, always one message, never a traceback."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from naisei.core import EffectFailed, EpisodeBusy, InputError
from naisei.http.guard import message_of
from naisei.lang import say

__all__ = ["error_body", "handlers"]

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def error_body(status: int, message: str) -> dict[str, Any]:
    """The body of an error, as chat-completions clients expect it too."""
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "code": status}}


def _json(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(error_body(status, message), status, headers=headers)


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    said = message_of(error, no_path=say("この URL はありません", "no such path"))
    return _json(error.status_code, said, dict(error.headers or {}))


async def _input(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, InputError)
    # What the operator configured is wrong, or cannot be reached. Its place may be a path or
    # an address of this machine: that is for the server's log, not for the caller.
    return _json(
        503,
        say(
            "ただいま答えられません。管理者に連絡してください。",
            "No answer can be given now. Please tell the administrator.",
        ),
    )


async def _busy(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, EpisodeBusy)
    return _json(409, error.message)


async def _failed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, EffectFailed)
    return _json(502, say("モデルが応答しませんでした。", "The model gave no usable answer."))


async def _crash(request: Request, error: Exception) -> JSONResponse:
    return _json(500, say("内部エラーです。", "An internal error."))


#: For `Starlette(exception_handlers=…)`.
handlers: dict[Any, Any] = {
    HTTPException: _http,
    EpisodeBusy: _busy,
    InputError: _input,
    EffectFailed: _failed,
    Exception: _crash,
}
