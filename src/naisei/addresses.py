"""Whether an address is this machine's own."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(address: str | None) -> bool:
    """Whether a host, or the host of a URL, is this machine by its name or address. No name is
    resolved."""
    host = urlsplit(address).hostname if address and "//" in address else address
    name = (host or "").strip("[]").lower().rstrip(".")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
