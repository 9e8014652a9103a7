"""Whether an address belongs to this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(address: str | None) -> bool:
    """Whether a host, or the host of a URL, is this machine by name or address. Names are not
    resolved."""
    host = urlsplit(address).hostname if address and "//" in address else address
    name = (host or "").strip("[]").lower().rstrip(".")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_address(name: str) -> bool:
    """Whether this is an IP address rather than a name."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def host_name(host: str) -> str:
    """The host of a Host header without its port, lower-case; "" for an invalid one."""
    host = host.strip().lower()
    if host.startswith("["):
        name, end, rest = host[1:].partition("]")
        whole = end and (not rest or (rest[0] == ":" and rest[1:].isdecimal()))
        return name if whole else ""
    name, colon, port = host.partition(":")
    return name.rstrip(".") if not colon or port.isdecimal() else ""
