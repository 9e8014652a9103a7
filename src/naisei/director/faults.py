"""Faults of a profile, each with its line in the TOML file, its key and what to do about it."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from naisei.core import InputError
from naisei.director.character import Character, load_character, model_profile
from naisei.lang import say
from naisei.text_files import read_text, toml_of
from naisei.transcripts.cards import CARDS


def key_line(text: str, path: Sequence[Any]) -> int:
    """The line, from 1, of the deepest part of `path` (keys and list indices) that is found; 0 if
    none is. Each key is looked for from the line of the one before it on."""
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


_TOML_LINE = re.compile(r"line (\d+)")


@dataclass(frozen=True, slots=True)
class Fault:
    """line: from 1; 0 if it concerns no line. key: dotted, empty for the file as a whole."""

    line: int
    key: str
    message: str
    remedy: str


def faults(path: Path) -> list[Fault]:
    """All faults of a profile; none for a valid one.

    Raises:
        InputError: the file cannot be read at all.
    """
    if path.suffix.lower() in CARDS:
        load_character(path)
        return []
    text = read_text(path)
    try:
        data = toml_of(text)
    except tomllib.TOMLDecodeError as error:
        line = _TOML_LINE.search(str(error))
        return [
            Fault(
                int(line[1]) if line else text.count("\n") + 1,
                "",
                say(f"TOML として読めません: {error}", f"is not TOML: {error}"),
                say("その行の書き方を直してください", "fix the syntax there"),
            )
        ]
    try:
        load_character(path)
    except InputError as error:
        cause = error.__cause__ or error.__context__
        if not isinstance(cause, ValidationError):
            raise
        return [_fault(found, text, data) for found in cause.errors(include_url=False)]
    return []


def _fault(found: Any, text: str, data: dict[str, Any]) -> Fault:
    loc = _real(tuple(found["loc"]), data)
    key = ".".join(str(part) for part in loc)
    kind = found["type"]
    message = str(found["msg"]).removeprefix("Value error, ")
    if kind == "extra_forbidden":
        known = _fields(loc[:-1])
        near = difflib.get_close_matches(str(loc[-1]), known, 1)
        message = say(f"知らないキー {loc[-1]}", f"unknown key {loc[-1]}")
        remedy = (
            say(f"{near[0]} のことでしょうか", f"do you mean {near[0]}?")
            if near
            else say(f"使えるキー: {', '.join(known)}", f"known keys: {', '.join(known)}")
        )
    elif kind == "missing":
        message = say("必要なキーがありません", "this key is needed and missing")
        remedy = say(f"{loc[-1]} = … を書いてください", f"write {loc[-1]} = …")
    elif kind == "literal_error":
        wanted = found["ctx"]["expected"]
        remedy = say(f"{wanted} のどれかにしてください", f"use {wanted}")
    elif kind in ("tuple_type", "is_instance_of"):
        remedy = say('["…", "…"] のように並べてください', 'write a list: ["…", "…"]')
    elif kind == "string_too_short":
        remedy = say("空でない文字列にしてください", "write a text that is not empty")
    elif kind == "string_pattern_mismatch":
        remedy = say(
            "英小文字で始まる、英小文字・数字・- _ の名前にしてください",
            "use small letters, digits, - and _, beginning with a letter",
        )
    elif kind == "too_short":
        remedy = say("一つ以上書いてください", "write at least one")
    elif kind == "union_tag_invalid":
        wanted = found["ctx"]["expected_tags"]
        remedy = say(f"kind を {wanted} のどれかにしてください", f"let kind be one of {wanted}")
    elif "regular expression" in message:
        remedy = say("正規表現を直してください", "fix the regular expression")
    else:
        remedy = model_profile()
    return Fault(key_line(text, loc), key, message, remedy)


def _real(loc: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    """The path as it is in the file: pydantic adds the names of a union's members to it."""
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


def _fields(loc: tuple[Any, ...]) -> list[str]:
    """The keys allowed in a part of a profile; those of all parts if it is unknown which."""
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


def as_error(file: Path, found: Sequence[Fault]) -> InputError:
    """All faults in one error: the first as its message, the others under its remedy."""

    def place(line: int) -> str:
        return f"{file}:{line}" if line else str(file)

    def with_key(fault: Fault) -> str:
        return f"{fault.key + ': ' if fault.key else ''}{fault.message}"

    first, *others = found
    rows = [f"{place(fault.line)}: {with_key(fault)}\n  → {fault.remedy}" for fault in others]
    remedy = "\n".join([first.remedy, *rows])
    return InputError(with_key(first), place=place(first.line), remedy=remedy)
