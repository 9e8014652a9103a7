"""Rows of a data file, whatever its form, and the list of actions, in Japanese or English."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from naisei.clarify.schemas import Action, ActionSet, Language
from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import FIELD, bounded
from naisei.text_files import json_of, toml_of
from naisei.text_files import read_text as read_any


def _one_a_line() -> str:
    return say(
        "1 行に JSON のオブジェクトを一つずつ (JSONL)、"
        "またはオブジェクトの配列を一つ書いてください",
        "write one JSON object a line (JSONL), or one JSON array of objects",
    )


@dataclass(frozen=True, slots=True)
class Row:
    """One object of a file. place: `file:line`, for messages."""

    fields: dict[str, Any]
    place: str


def exists(path: Path) -> bool:
    """Whether something is there. A name that no file system takes is not there."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def listed(folder: Path) -> list[Path]:
    """The files of a folder, sorted by name.

    Raises:
        InputError: the folder cannot be listed.
    """
    try:
        return sorted(f for f in folder.iterdir() if f.is_file())
    except OSError as error:
        raise InputError(
            say(
                f"一覧を読めません: {error.strerror or error}",
                f"cannot be listed: {error.strerror or error}",
            ),
            place=str(folder),
            remedy=say("アクセス権を確かめてください", "check the permissions"),
        ) from error


def read_text(path: Path) -> str:
    """The text of a file that is not empty.

    Raises:
        InputError: the file cannot be read, is empty, or is no text.
    """
    text = read_any(path)
    if not text.strip():
        raise InputError(
            say("ファイルが空です", "the file is empty"),
            place=str(path),
            remedy=say("データの入ったファイルを指定してください", "give a file with data"),
        )
    return text


def read_rows(path: Path) -> list[Row]:
    """All objects of a JSONL file, or of a file that is one JSON array.

    Raises:
        InputError: see `read_text`; or a line is no JSON, or no object.
    """
    text = read_text(path)
    if text.lstrip()[:1] == "[":
        return _array(path, text)
    return [
        _row(path, number, _parse(path, number, line))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


def _parse(path: Path, number: int, text: str) -> Any:
    try:
        return json_of(text)
    except (ValueError, RecursionError) as error:
        column, reason = "", str(error)
        if isinstance(error, json.JSONDecodeError):
            column = say(f" ({error.colno} 文字目)", f" at column {error.colno}")
            reason = error.msg
        raise InputError(
            say(
                f"この行は JSON として読めません{column}: {reason}",
                f"this line is no JSON{column}: {reason}",
            ),
            place=f"{path}:{number}",
            remedy=_one_a_line(),
        ) from error


def _array(path: Path, text: str) -> list[Row]:
    """The items of an array, one by one, so that each knows its line."""
    text = text.rstrip()
    decoder, rows = json.JSONDecoder(), []
    at = _skip(text, text.index("[") + 1)
    while text[at : at + 1] not in ("]", ""):
        number = text.count("\n", 0, at) + 1
        try:
            item, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            line = error.lineno if isinstance(error, json.JSONDecodeError) else number
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise InputError(
                say(
                    f"この配列は JSON として読めません: {reason}",
                    f"this array is no JSON: {reason}",
                ),
                place=f"{path}:{line}",
                remedy=_one_a_line(),
            ) from error
        rows.append(_row(path, number, item))
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            break
    if text[at : at + 1] != "]" or text[at + 1 :].strip():
        line = text.count("\n", 0, at) + 1
        raise InputError(
            say(
                "この配列は JSON として読めません: ',' か終わりの ']' が抜けているか、"
                "後ろに余分な文字があります",
                "this array is no JSON: ',' or the closing ']' is missing, or text follows it",
            ),
            place=f"{path}:{line}",
            remedy=_one_a_line(),
        )
    return rows


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _row(path: Path, number: int, item: Any) -> Row:
    place = f"{path}:{number}"
    if not isinstance(item, dict):
        raise InputError(
            say(
                f"ここにはオブジェクトが要ります ({type(item).__name__} が書かれています)",
                f"an object is wanted here, not {type(item).__name__}",
            ),
            place=place,
            remedy=_one_a_line(),
        )
    try:
        json.dumps(item, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            say(
                "文字列に半端な文字 (対になっていないサロゲート) があります",
                "a string holds half a character (a lone surrogate)",
            ),
            place=place,
            remedy=say("エスケープ \\ud… を直してください", "repair the escape sequence \\ud…"),
        ) from error
    return Row(item, place)


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
        whole = json_of(text)
    except (ValueError, RecursionError):
        return read_rows(file)  # JSONL, or a broken file: then the message names the line
    if isinstance(whole, dict) and "id" not in whole:
        return [Row({"id": key, "text": value}, str(file)) for key, value in whole.items()]
    return read_rows(file)


def _toml(file: Path) -> list[Row]:
    try:
        content = toml_of(read_text(file))
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
