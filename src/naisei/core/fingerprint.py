"""One canonical JSON form and one short digest of it, for replay checks and cache keys."""

from __future__ import annotations

import hashlib
import json
from typing import Any

__all__ = ["canonical", "fingerprint"]


def canonical(value: Any) -> str:
    """JSON with sorted keys, no spaces and no escapes: equal values give equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def fingerprint(value: Any) -> str:
    """The first 16 hex digits of the SHA-256 of the canonical form."""
    return hashlib.sha256(canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]
