"""Failures of an endpoint, in the three words of `naisei.models.base`.

Read from the exceptions of pydantic-ai and of the SDK below it (their `__cause__`): a
status, else how far the connection came.
"""

from __future__ import annotations

import math
import time
from email.utils import parsedate_to_datetime
from json import JSONDecodeError

from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelHTTPError,
    UnexpectedModelBehavior,
    UserError,
)

from naisei.models.base import BadReply, Mode, Transient, Unreachable, Unusable

__all__ = ["failure", "seconds_until"]

_PASSING = {408, 409, 425, 429}
_HOPELESS = {401, 402, 403, 404}
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "exceeded_current_quota_error")
_STRUCTURE = ("response_format", "json_schema", "json_object", "json schema", "grammar", "guided")
#: Classes of the transport (httpx and its kin) that mean: no connection came about.
_NO_CONNECTION = {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"}


def failure(error: Exception, mode: Mode | None) -> Transient | Unusable | None:
    """What `error` means for a request that asked for structure by `mode`; `None`: a bug."""
    if isinstance(error, ModelHTTPError):
        return _of_status(error, mode)
    if isinstance(error, UnexpectedModelBehavior):
        return BadReply(f"no chat completion: {_short(error)}")
    if isinstance(error, ModelAPIError):
        return _of_connection(error)
    if isinstance(error, UserError):
        return Unusable(_short(error), mode_refused=mode == "json_schema")
    if isinstance(error, UnicodeEncodeError):
        return Unusable(f"the messages cannot be sent as UTF-8: {_short(error)}")
    if isinstance(error, JSONDecodeError | UnicodeDecodeError):
        # The SDK lets a body that it cannot decode through as it is.
        return BadReply(f"the body is no JSON: {_short(error)}")
    if isinstance(error, AgentRunError | OSError) or _is_transport(error):
        return _of_connection(error)
    return None


def _of_status(error: ModelHTTPError, mode: Mode | None) -> Transient | Unusable:
    status, said = error.status_code, _short(error.body or error)
    text = f"HTTP {status}: {said}"
    if status == 429 and any(word in str(error.body) for word in _NO_CREDIT):
        return Unusable(text, hopeless=True)
    if status in _PASSING or status >= 500:
        return Transient(text, retry_after=_retry_after(error))
    if status < 400:
        return BadReply(text)
    refused = mode in ("json_schema", "json_object") and any(
        word in str(error.body).lower() for word in _STRUCTURE
    )
    return Unusable(text, mode_refused=refused, hopeless=status in _HOPELESS)


def _of_connection(error: Exception) -> Transient:
    chain = _chain(error)
    names = {type(e).__name__ for e in chain}
    text = _short(chain[-1]) if _short(error) in ("", "Connection error.") else _short(error)
    if names & _NO_CONNECTION:
        return Unreachable(f"no connection: {_short(chain[-1])}")
    return Transient(f"the connection failed: {text}")


def _is_transport(error: Exception) -> bool:
    return any(type(e).__module__.partition(".")[0] in _TRANSPORTS for e in _chain(error))


_TRANSPORTS = {"httpx", "httpx2", "httpcore", "httpcore2", "h11", "aiohttp", "openai", "anthropic"}


def _chain(error: BaseException) -> list[BaseException]:
    """The error, what caused it, and so on; the first cause last."""
    out: list[BaseException] = []
    here: BaseException | None = error
    while here is not None and here not in out:
        out.append(here)
        here = here.__cause__ or here.__context__
    return out


def _retry_after(error: ModelHTTPError) -> float | None:
    headers = getattr(getattr(error.__cause__, "response", None), "headers", None) or {}
    if (wish := headers.get("retry-after")) is None:
        given = getattr(error, "retry_after", None)
        return float(given) if given is not None else None
    return seconds_until(wish)


def seconds_until(wish: str) -> float | None:
    """A `Retry-After` field (seconds, or an HTTP date) in seconds from now, ≥ 0."""
    try:
        seconds = float(wish)
    except ValueError:
        return _until_date(wish)
    return None if math.isnan(seconds) else max(0.0, seconds)


def _until_date(wish: str) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(wish).timestamp() - time.time())
    except ValueError:
        return None


def _short(said: object) -> str:
    text = " ".join(str(said).split())
    return text if len(text) <= 300 else text[:300] + "…"
