"""Failures of pydantic-ai and of the SDK below it, in the words of `naisei.models.base`.

Read from the exceptions (their `__cause__`): a status, else how far the connection came.
"""

from __future__ import annotations

from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelHTTPError,
    UnexpectedModelBehavior,
    UserError,
)

from naisei.models.base import BadReply, Mode, Transient, Unusable
from naisei.models.providers._meaning import is_transport, of_body, of_connection, of_status, short

__all__ = ["failure"]


def failure(error: Exception, mode: Mode | None) -> Transient | Unusable | None:
    """What `error` means for a request that asked for structure by `mode`; `None`: a bug."""
    if isinstance(error, ModelHTTPError):
        return of_status(error.status_code, error.body or error, mode, wish=_wish(error))
    if isinstance(error, UnexpectedModelBehavior):
        return BadReply(f"no chat completion: {short(error)}")
    if isinstance(error, ModelAPIError):
        return of_connection(error)
    if isinstance(error, UserError):
        return Unusable(short(error), mode_refused=mode == "json_schema")
    if (known := of_body(error)) is not None:
        # The SDK lets a body that it cannot decode through as it is.
        return known
    if isinstance(error, AgentRunError | OSError) or is_transport(error):
        return of_connection(error)
    return None


def _wish(error: ModelHTTPError) -> str | float | None:
    """Its `Retry-After`, as the endpoint gave it or as pydantic-ai read it."""
    headers = getattr(getattr(error.__cause__, "response", None), "headers", None) or {}
    given: str | float | None = headers.get("retry-after", getattr(error, "retry_after", None))
    return given
