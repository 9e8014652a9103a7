"""Rows of JSONL and JSON files, each with the line that it stands on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.text_files import read_text as read_any

__all__ = ["Row", "exists", "listed", "read_rows", "read_text"]


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
        return json.loads(text)
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
