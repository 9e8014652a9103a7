"""The switch that forbids model calls: `NAISEI_FORBID_MODELS`.

`1` forbids every model that is not scripted; `remote` forbids what leaves this machine, so
that tests can use a loopback server. Unset, empty or `0` forbids nothing.
"""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

from naisei.core import InputError, ModelCallForbidden
from naisei.lang import say
from naisei.models.base import ChatModel

__all__ = ["check_allowed", "is_loopback"]


def is_loopback(url: str | None) -> bool:
    """Whether a URL's host is this machine by its name or address. No name is resolved."""
    host = urlsplit(url).hostname if url else None
    if host is None:
        return False
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_allowed(model: ChatModel) -> None:
    """Raises `ModelCallForbidden` if the switch forbids calling `model`.

    Raises:
        InputError: the switch has an unknown value.
    """
    switch = os.environ.get("NAISEI_FORBID_MODELS", "")
    if switch in ("", "0") or getattr(model, "offline", False):
        return
    if switch not in ("1", "remote"):
        raise InputError(
            say(f"{switch!r} は使えません", f"unknown value {switch!r}"),
            place="NAISEI_FORBID_MODELS",
            remedy=say("1、remote、0 のどれかにしてください", "use 1, remote or 0"),
        )
    if switch == "remote" and is_loopback(getattr(model, "base_url", None)):
        return
    raise ModelCallForbidden(
        say(
            f"モデルの呼び出しは禁止されていますが、{model.name} が呼ばれました "
            f"(NAISEI_FORBID_MODELS={switch})",
            f"{model.name} was called while model calls are switched off "
            f"(NAISEI_FORBID_MODELS={switch})",
        )
    )
