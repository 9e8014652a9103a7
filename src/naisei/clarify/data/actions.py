"""Action sets: the 40 of AmbigAct-40 (paper, Table 4), or the user's own."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from naisei.clarify.data.records import Row, read_rows, read_text
from naisei.clarify.schemas import Action, ActionSet, Language
from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import FIELD, bounded

__all__ = ["ACTION_FILES", "load_actions"]

#: Names under which a folder of data may hold its own action set.
ACTION_FILES = ("actions.jsonl", "actions.json", "actions.toml")


def _shape() -> str:
    return say(
        '行動ごとに "id" (1 以上の整数) と "text" を書いてください',
        'each action needs an "id" (a whole number from 1) and a "text"',
    )


def load_actions(path: str | Path | None = None, *, language: Language = "ja") -> ActionSet:
    """The action set in a file; without one, the 40 actions of AmbigAct-40.

    Files: JSONL or a JSON array of `{"id", "text"}`, a JSON object id → text, or TOML
    with `[[actions]]` tables. `ja` and `en` may stand beside or in place of `text`.

    Raises:
        InputError: broken file, no actions, an id that is no whole number ≥ 1 or comes
            twice, or a text that is missing or comes twice.
    """
    if path is None:
        own = Path(str(files("naisei") / "data" / "ambigact40_open" / "actions.jsonl"))
        return _action_set("ambigact40", own, language)
    file = Path(path)
    return _action_set(file.stem, file, language)


def _action_set(name: str, file: Path, language: Language) -> ActionSet:
    actions: dict[int, str] = {}
    for row in _rows(file):
        number, text = _number(row), _text(row, language)
        if number in actions:
            raise InputError(
                say(f"行動の id {number} が重複しています", f"action id {number} comes twice"),
                place=row.place,
                remedy=say("行動ごとに別の id を付けてください", "give each its own id"),
            )
        if text in actions.values():
            raise InputError(
                say(f"行動「{text}」が重複しています", f"action '{text}' comes twice"),
                place=row.place,
                remedy=say("一つにまとめてください", "merge the two"),
            )
        actions[number] = bounded(text, FIELD, place=row.place)
    if len(actions) < 2:
        raise InputError(
            say("行動は二つ以上必要です", "at least two actions are needed"),
            place=str(file),
            remedy=_shape(),
        )
    return ActionSet(
        name=name, actions=tuple(Action(id=i, text=actions[i]) for i in sorted(actions))
    )


def _rows(file: Path) -> list[Row]:
    if file.suffix == ".toml":
        return _toml(file)
    text = read_text(file)
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return read_rows(file)  # JSONL, or a broken file: then the message names the line
    if isinstance(whole, dict) and "id" not in whole:
        return [Row({"id": key, "text": value}, str(file)) for key, value in whole.items()]
    return read_rows(file)


def _toml(file: Path) -> list[Row]:
    try:
        content = tomllib.loads(read_text(file))
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            say(f"TOML として読めません: {error}", f"no TOML: {error}"),
            place=str(file),
            remedy=say("[[actions]] の表を書いてください", "write [[actions]] tables"),
        ) from error
    tables = content.get("actions")
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise InputError(
            say("[[actions]] の表がありません", "no [[actions]] tables"),
            place=str(file),
            remedy=_shape(),
        )
    return [Row(table, f"{file}: action {place}") for place, table in enumerate(tables, start=1)]


def _number(row: Row) -> int:
    value: Any = row.fields.get("id")
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(
            say(f"'{value}' は行動の id として使えません", f"'{value}' is no action id"),
            place=row.place,
            remedy=_shape(),
        )
    return value


def _text(row: Row, language: Language) -> str:
    for key in (language, "text", "ja", "en"):
        value = row.fields.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    raise InputError(
        say("行動の文がありません", "this action has no text"), place=row.place, remedy=_shape()
    )
