"""Plain JSON: what may be asked, answered and logged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

__all__ = ["plain"]


def plain(value: Any) -> JsonValue:
    """A copy of `value` as JSON that any log can hold and nobody else can change.

    Tuples become lists. A lone surrogate, which a model that is cut off inside an escape
    can produce and UTF-8 cannot hold, becomes U+FFFD; surrogate pairs become the
    character they stand for.

    Raises:
        TypeError: something in it is not JSON.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {_key(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    raise TypeError(f"{type(value).__name__} is not JSON")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of JSON is text, not {type(key).__name__}")
    return _text(key)


def _text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return str(text)
