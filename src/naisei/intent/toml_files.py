"""Small files that people write: TOML or JSON into a pydantic model, or one message."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from naisei.core import InputError
from naisei.lang import say
from naisei.text_files import read_text

__all__ = ["fault", "read_model"]


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


M = TypeVar("M", bound=BaseModel)


def read_model(path: Path, kind: type[M], *, what: str) -> M:
    """The file as a `kind`; `.json` is JSON, everything else TOML.

    Raises:
        InputError: it cannot be read, is not such a file, or a field is wrong.
    """
    text = read_text(path)
    try:
        data = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise InputError(
            say(f"{what} の形が違います: {error}", f"the {what} is not readable: {error}"),
            place=str(path),
            remedy=say(
                "UTF-8 の TOML か、名前が .json の JSON で書いてください",
                "write it as TOML, or as JSON in a file named .json (UTF-8)",
            ),
        ) from error
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise InputError(
            fault(error),
            place=str(path),
            remedy=say(f"{what} を直してください", f"mend the {what}"),
        ) from error
