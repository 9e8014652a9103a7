"""Responses of HTTP endpoints: failures as `Transient`, `Unreachable` or `Unusable`
(`naisei.models.base`), size-limited bodies, and proxies and certificates from the environment."""

from __future__ import annotations

import math
import os
import re
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import fields
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

import httpx2

from naisei import keys
from naisei.addresses import is_loopback
from naisei.core import InputError, Sampling
from naisei.lang import say
from naisei.models.base import BadReply, Transient, Unreachable, Unusable

_PASSING = {408, 409, 425, 429}
_HOPELESS = {401, 402, 403, 404}
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "exceeded_current_quota_error")
#: Statuses unrelated to the request's form: key, credit, rate, time-out, unavailable server,
#: model name.
_NOT_OF_FORM = {401, 402, 403, 407, 408, 409, 425, 429, 502, 503, 504}
_NO_MODEL = re.compile(
    r"model_not_found|(?:no such|unknown|invalid|unsupported) model"
    r"|\bmodel\b[^.]{0,80}(?:not (?:be )?found|not exist|doesn't exist|not (?:a )?valid)",
    re.IGNORECASE,
)
_PAGE = re.compile(r"\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
#: Transport exceptions (httpx and similar) that mean: not connected.
_NO_CONNECTION = {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"}


def of_status(
    status: int, said: object, *, wish: str | float | None = None
) -> Transient | Unusable:
    """Convert an error response. said: body. wish: `Retry-After`."""
    text = f"HTTP {status}: {short(said)}"
    unnamed = _NO_MODEL.search(str(said)[:SAID]) is not None
    of_form = status >= 400 and status not in _NOT_OF_FORM and not unnamed
    if status == 429 and any(word in str(said) for word in _NO_CREDIT):
        return Unusable(text, hopeless=True)
    if status in _PASSING or status >= 500:
        after = seconds_until(wish) if isinstance(wish, str) else wish
        return Transient(text, retry_after=after, of_form=of_form)
    if status < 400:
        return BadReply(text)
    named = _named(str(said)) if status in (400, 422) else ()
    hopeless = status in _HOPELESS or unnamed
    return Unusable(text, of_form=of_form, hopeless=hopeless, refused=named)


def no_api(status: int, page: str, location: str | None) -> Unusable | None:
    """The error for a response not from an API: a redirect or a web page; else `None`."""
    if 300 <= status < 400 and location:
        to = short(location)
        what = say(f"{to} へ転送されました (HTTP {status})", f"redirects to {to} (HTTP {status})")
    elif _PAGE.match(page) and status < 500 and status not in _NOT_OF_FORM:
        what = say(
            f"API ではなくウェブページが返りました (HTTP {status})",
            f"a web page came back, not an API's answer (HTTP {status})",
        )
    else:
        return None
    remedy = say(
        "接続先の URL を確かめてください。末尾の /v1 が抜けていませんか",
        "check the URL: is /v1 missing at its end?",
    )
    return Unusable(what, hopeless=True, remedy=remedy)


def _named(said: str) -> tuple[str, ...]:
    """The sampling parameters named in a refusal."""
    words = {f.name: f.name for f in fields(Sampling)} | {"max_tokens": "max_(completion_)?tokens"}
    return tuple(name for name, word in words.items() if re.search(rf"\b{word}\b", said))


def of_connection(error: Exception) -> Transient:
    """Convert an exception of the transport or an SDK."""
    chain = _chain(error)
    names = {type(e).__name__ for e in chain}
    text = short(chain[-1]) if short(error) in ("", "Connection error.") else short(error)
    if names & _NO_CONNECTION:
        # Use the refusal itself: async libraries add their own exceptions below it.
        cause = next((e for e in reversed(chain) if isinstance(e, OSError)), chain[-1])
        return Unreachable(f"no connection: {short(cause)}")
    return Transient(f"the connection failed: {text or type(error).__name__}")


def of_body(error: Exception) -> Transient | Unusable | None:
    """The failure for an unwritable request or unreadable reply; else `None`."""
    if isinstance(error, UnicodeEncodeError):
        return Unusable(f"the messages cannot be sent as UTF-8: {short(error)}")
    if isinstance(error, UnicodeDecodeError):
        return BadReply(f"the body is not UTF-8: {short(error)}")
    if isinstance(error, ValueError | RecursionError):
        return BadReply(f"the body is no JSON: {short(error)}")
    return None


def is_transport(error: Exception) -> bool:
    """Whether an HTTP library raised it."""
    return any(type(e).__module__.partition(".")[0] in _TRANSPORTS for e in _chain(error))


_TRANSPORTS = {"httpx", "httpx2", "httpcore", "httpcore2", "h11", "aiohttp", "openai", "anthropic"}


async def unpacked(response: httpx2.Response, most: int) -> AsyncIterator[bytes]:
    """Yield a response's body, unpacking at most `most` bytes. Raises `BadReply` for more, and for
    unexpected encodings."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("", "identity", "gzip", "deflate"):
        raise BadReply(f"the reply is packed as {short(packing)}")
    packed = packing in ("gzip", "deflate")
    unpack, left = zlib.decompressobj(zlib.MAX_WBITS | 32), most
    try:
        async for block in response.aiter_raw():
            # Unpack no more of a zip bomb than may be read.
            data = unpack.decompress(block, left + 1) if packed else block
            left -= len(data)
            if left < 0:
                raise BadReply(f"the reply is over {most / 1e6:g} MB")
            yield data
    except zlib.error as error:
        raise BadReply(f"the reply cannot be unpacked: {error}") from error


def _chain(error: BaseException) -> list[BaseException]:
    """The error and its causes; the root cause last."""
    out: list[BaseException] = []
    here: BaseException | None = error
    while here is not None and here not in out:
        out.append(here)
        here = here.__cause__ or here.__context__
    return out


def seconds_until(wish: str) -> float | None:
    """Parse `Retry-After` (seconds or an HTTP date) into seconds from now, ≥ 0."""
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


#: Most characters read of an error text.
SAID = 20_000


def short(said: object) -> str:
    """One line, without keys, truncated."""
    text = " ".join(keys.masked(str(said)[:SAID]).split())
    return text if len(text) <= 300 else text[:300] + "…"


_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "ssl_cert_file", "ssl_cert_dir")


def environment_error(error: Exception) -> InputError:
    """The error when a client cannot be created: an invalid proxy or certificate variable."""
    given = [
        f"{name}={keys.masked(value)}"
        for name, value in os.environ.items()
        if name.lower() in _VARIABLES and value
    ]
    why = keys.masked(str(error))
    return InputError(
        say(f"環境変数の値が使えません: {why}", f"this variable cannot be used: {why}"),
        place=", ".join(given),
        remedy=say("値を直すか、変数を外してください", "correct or unset it"),
    )


def proxy_for(url: str) -> str:
    """The variable that sends requests to `url` through a proxy, `NAME=VALUE`; empty if none."""
    parts = urlsplit(url)
    if is_loopback(url) or proxy_bypass(parts.netloc):
        return ""
    for wanted in (f"{parts.scheme}_proxy", "all_proxy"):
        for name, value in os.environ.items():
            if name.lower() == wanted and value:
                return f"{name}={keys.masked(value)}"
    return ""
