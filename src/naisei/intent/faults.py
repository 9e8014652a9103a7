"""What is wrong with something a person wrote, in their language, of pydantic's findings."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from naisei.lang import say

__all__ = ["fault"]

_KINDS = {
    "bool": ("true か false", "true or false"),
    "dict": ("項目の組 {…}", "an object {…}"),
    "float": ("数", "a number"),
    "int": ("整数", "a whole number"),
    "list": ("並び […]", "a list […]"),
    "model": ("項目の組 {…}", "an object {…}"),
    "string": ("文字列", "a text"),
    "tuple": ("並び […]", "a list […]"),
}


def fault(error: ValidationError) -> str:
    """The first thing wrong, `field: what`; the field is left out where it is the whole."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    said = _said(first)
    return f"{field}: {said}" if field else said


def _said(found: Any) -> str:
    kind, about = found["type"], found.get("ctx", {})
    if kind == "missing":
        return say("必須です", "is missing")
    if kind == "extra_forbidden":
        return say("このような項目はありません", "there is no such field")
    if kind == "literal_error":
        expected = about["expected"]
        one_of = expected.replace(" or ", ", ")
        return say(f"{one_of} のどれかにしてください", f"must be {expected}")
    if kind in ("string_too_short", "too_short"):
        return say("空にはできません", "must not be empty")
    if kind in ("string_too_long", "too_long"):
        most = about["max_length"]
        return say(f"長すぎます（{most} まで）", f"is too long (at most {most})")
    base = kind.partition("_")[0]
    if kind.endswith(("_type", "_parsing")) and base in _KINDS:
        ja, en = _KINDS[base]
        return say(f"{ja}にしてください", f"must be {en}")
    return str(found["msg"]).removeprefix("Value error, ")
