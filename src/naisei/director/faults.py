"""Explains profile errors, each with its line in the TOML file, its key and a remedy."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from naisei.core import InputError
from naisei.director.character import Character, model_profile
from naisei.lang import say
from naisei.text_files import toml_of

#: Pydantic error type → remedy in Japanese and English, formatted with its context and `key`.
_REMEDIES = {
    "missing": ("{key} = … を書いてください", "write {key} = …"),
    "literal_error": ("{expected} のどれかにしてください", "use {expected}"),
    "tuple_type": ('["…", "…"] のように並べてください', 'write a list: ["…", "…"]'),
    "is_instance_of": ('["…", "…"] のように並べてください', 'write a list: ["…", "…"]'),
    "string_too_short": ("空でない文字列にしてください", "write a text that is not empty"),
    "string_pattern_mismatch": (
        "英小文字で始まる、英小文字・数字・- _ の名前にしてください",
        "use small letters, digits, - and _, beginning with a letter",
    ),
    "too_short": ("一つ以上書いてください", "write at least one"),
    "union_tag_invalid": (
        "kind を {expected_tags} のどれかにしてください",
        "let kind be one of {expected_tags}",
    ),
}


def as_error(error: ValidationError, text: str, place: str) -> InputError:
    """All errors of a profile in one: the first as the message, the others below.

    text: the file's text. place: the file's name in messages.
    """
    data, rows = toml_of(text), []
    for fault in error.errors(include_url=False):
        path = _real_path(tuple(fault["loc"]), data)
        message, remedy = _explained(fault, path)
        line = _line_of(text, path)
        key = ".".join(map(str, path))
        at = f"{place}:{line}" if line and place else place
        rows.append((at, f"{key}: {message}" if key else message, remedy))
    (at, message, remedy), *others = rows
    more = [f"{at}: {message}\n  → {remedy}" for at, message, remedy in others]
    return InputError(message, place=at, remedy="\n".join([remedy, *more]))


def _explained(fault: Any, path: tuple[Any, ...]) -> tuple[str, str]:
    """Message and remedy."""
    kind, message = fault["type"], str(fault["msg"]).removeprefix("Value error, ")
    if kind == "extra_forbidden":
        known = _keys_of(path[:-1])
        near = difflib.get_close_matches(str(path[-1]), known, 1)
        listed = ", ".join(near or known)
        return (
            say(f"知らないキー {path[-1]}", f"unknown key {path[-1]}"),
            say(f"{listed} のことでしょうか", f"do you mean {listed}?")
            if near
            else say(f"使えるキー: {listed}", f"known keys: {listed}"),
        )
    if kind in _REMEDIES:
        words = {**fault.get("ctx", {}), "key": path[-1] if path else ""}
        remedy = say(*_REMEDIES[kind]).format(**words)
    elif "regular expression" in message:
        remedy = say("正規表現を直してください", "fix the regular expression")
    else:
        remedy = model_profile()
    if kind == "missing":
        return say("必要なキーがありません", "this key is needed and missing"), remedy
    return say(f"この値は使えません ({message})", message), remedy


def _line_of(text: str, path: Sequence[Any]) -> int:
    """The line, from 1, of the deepest part of `path` (keys and list indices) in the text; 0 if
    there is none. The search for each key starts at the previous key's line."""
    rows, at, line = text.splitlines(), 0, 0
    for key, after in zip(path, [*path[1:], ""], strict=True):
        if isinstance(key, int):
            continue
        word = rf"(?<![\w-]){re.escape(key)}(?![\w-])"
        named = re.compile(rf"\s*\[[^\]]*{word}[^\]]*\]|.*{word}[\"']?\s*=")
        found = [n for n, row in enumerate(rows[at:], at) if named.match(row)]
        if not found:
            break
        tables = [n for n in found if rows[n].lstrip().startswith("[[")]
        at = tables[after] if isinstance(after, int) and after < len(tables) else found[0]
        line = at + 1
    return line


def _real_path(loc: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    """The path as in the file, without the union member names that pydantic adds."""
    out: list[Any] = []
    at: Any = data
    for place, part in enumerate(loc):
        last = place == len(loc) - 1
        inside = part in at if isinstance(at, dict) else False
        if inside or (isinstance(part, int) and isinstance(at, list) and part < len(at)):
            at = at[part]
        elif not last:
            continue
        out.append(part)
    return tuple(out)


def _keys_of(loc: tuple[Any, ...]) -> list[str]:
    """The keys allowed in a part of a profile; those of all parts if the part is unknown."""
    models: list[type[BaseModel]] = [Character]
    for part in loc:
        if isinstance(part, int):
            continue
        inner = [m for model in models for m in _models(model, str(part))]
        models = inner or models
    return [info.alias or name for model in models for name, info in model.model_fields.items()]


def _models(model: type[BaseModel], field: str) -> list[type[BaseModel]]:
    """The pydantic models within a field's type."""
    if field not in model.model_fields:
        return []
    todo, out = [model.model_fields[field].annotation], []
    while todo:
        kind: Any = todo.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            out.append(kind)
        todo += getattr(kind, "__args__", ())
    return out
