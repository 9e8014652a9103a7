"""What the environment says of the way to an endpoint: proxies and certificates."""

from __future__ import annotations

import os
import ssl
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from naisei import keys
from naisei.addresses import is_loopback
from naisei.core import InputError
from naisei.lang import say

_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_BUNDLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def check_environment(url: str) -> None:
    """Raises `InputError` for a variable that names no proxy, or no file of certificates, on the
    way to `url`. Proxies are not asked for loopback, nor certificates for plain HTTP."""
    if is_loopback(url):
        return
    for name, value in os.environ.items():
        used = name.lower() in _PROXIES and "*" not in getproxies().get("no", "").split(",")
        if used and value and (why := _no_proxy(value)):
            raise _wrong(name, value, why)
    for name in _BUNDLES if url.startswith("https:") else ():
        if (value := os.environ.get(name, "")) and not Path(value).is_dir():
            try:
                ssl.create_default_context(cafile=value)
            except OSError as error:
                raise _wrong(name, value, str(error)) from error


def _no_proxy(value: str) -> str:
    """Why it is no URL of a proxy; empty if it is one."""
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        named = bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https", "socks5", "socks5h"):
        return say(f"{parts.scheme}:// は使えません", f"{parts.scheme}:// is not supported")
    if parts.scheme.startswith("socks") and find_spec("socksio") is None:
        return say("pip install socksio が要ります", "it needs pip install socksio")
    return "" if named else say("ホスト名がありません", "it has no host")


def _wrong(name: str, value: str, why: str) -> InputError:
    return InputError(
        say(f"環境変数の値が使えません: {why}", f"this variable cannot be used: {why}"),
        place=f"{name}={keys.masked(value)}",
        remedy=say(f"{name} を直すか、外してください", f"mend or unset {name}"),
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
