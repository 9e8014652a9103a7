"""Proxies and certificates from the environment."""

from __future__ import annotations

import os
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from naisei import keys
from naisei.addresses import is_loopback
from naisei.core import InputError
from naisei.lang import say

_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "ssl_cert_file", "ssl_cert_dir")


def environment_error(error: Exception) -> InputError:
    """For a client that cannot be made: a variable names no proxy, or no file of certificates."""
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
