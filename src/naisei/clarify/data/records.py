"""Reads rows of data files (JSONL or JSON), and action lists in Japanese or English."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from naisei.clarify.schemas import Action, ActionSet, Language
from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import FIELD, bounded
from naisei.text_files import json_of, unreadable
from naisei.text_files import read_text as read_any


def _one_a_line() -> str:
    return say(
        "1 行に JSON のオブジェクトを一つずつ (JSONL)、"
        "またはオブジェクトの配列を一つ書いてください",
        "write one JSON object a line (JSONL), or one JSON array of objects",
    )


@dataclass(frozen=True, slots=True)
class Row:
    """One object of a file. place: `file:line`, or `file#number` in an array, for messages."""

    fields: dict[str, Any]
    place: str


def exists(path: Path) -> bool:
    """Whether a path exists; False for invalid names."""
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
        raise unreadable(error, str(folder)) from error


def read_text(path: Path) -> str:
    """The text of a non-empty file.

    Raises:
        InputError: the file cannot be read, is empty, or is not text.
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
    """All objects of a JSONL file or a JSON array.

    Raises:
        InputError: see `read_text`; or a line is not a JSON object.
    """
    text = read_text(path)
    if text.lstrip()[:1] == "[":
        items = enumerate(_parse(path, 1, text), start=1)
        return [_row(f"{path}#{n}", item) for n, item in items]
    return [
        _row(f"{path}:{number}", _parse(path, number, line))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]


def _parse(path: Path, line: int, text: str) -> Any:
    """Parse JSON. line: line number of the start of the text."""
    try:
        return json_of(text)
    except json.JSONDecodeError as error:
        raise InputError(
            say(
                f"この行は JSON として読めません ({error.colno} 文字目): {error.msg}",
                f"this line is no JSON at column {error.colno}: {error.msg}",
            ),
            place=f"{path}:{line + error.lineno - 1}",
            remedy=_one_a_line(),
        ) from error


def _row(place: str, item: Any) -> Row:
    if isinstance(item, dict):
        return Row(item, place)
    raise InputError(
        say(
            f"ここにはオブジェクトが要ります ({type(item).__name__} が書かれています)",
            f"an object is wanted here, not {type(item).__name__}",
        ),
        place=place,
        remedy=_one_a_line(),
    )


M = TypeVar("M", bound=BaseModel)


def checked(model: type[M], row: Row, remedy: str) -> M:
    """Validate a row as a model; `null` fields count as missing.

    Raises:
        InputError: a field is missing or does not match the schema.
    """
    try:
        return model.model_validate({k: v for k, v in row.fields.items() if v is not None})
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(map(str, first["loc"]))
        raise InputError(
            say(f"項目 '{at}' がありません", f"the field '{at}' is missing")
            if first["type"] == "missing"
            else say(f"'{at}' が正しくありません", f"'{at}' is wrong: {first['msg']}"),
            place=row.place,
            remedy=remedy,
        ) from error


#: File name of a data folder's own action set.
ACTION_FILE = "actions.jsonl"


def _shape() -> str:
    return say(
        '行動ごとに、重複しない "id" (1 以上の整数) と "text" を書いてください',
        'each action needs its own "id" (a whole number from 1) and its own "text"',
    )


def load_actions(path: str | Path | None = None, *, language: Language = "ja") -> ActionSet:
    """The action set in a file; without one, the 40 actions of AmbigAct-40.

    Files: JSONL or a JSON array of `{"id", "text"}`. `ja` and `en` may supplement or replace
    `text`.

    Raises:
        InputError: broken file, no actions, an id that is not an integer ≥ 1 or is
            duplicate, or a missing or duplicate text.
    """
    if path is None:
        own = Path(str(files("naisei") / "data" / "ambigact40_open" / "actions.jsonl"))
        return _action_set("ambigact40", own, language)
    file = Path(path)
    return _action_set(file.stem, file, language)


def _whole(value: Any) -> Any:
    """Reject `true`, which would count as 1."""
    if isinstance(value, bool):
        raise ValueError(say("整数ではありません", "not a whole number"))
    return value


class _ActionRow(BaseModel):
    """A raw row of the list of actions."""

    model_config = ConfigDict(str_strip_whitespace=True)

    id: Annotated[int, Field(ge=1), BeforeValidator(_whole)]
    text: str = ""
    ja: str = ""
    en: str = ""


def _action_set(name: str, file: Path, language: Language) -> ActionSet:
    actions: dict[int, str] = {}
    for row in read_rows(file):
        given = checked(_ActionRow, row, _shape())
        text = getattr(given, language) or given.text or given.ja or given.en
        if not text:
            wrong = say("行動の文がありません", "this action has no text")
        elif given.id in actions:
            wrong = say(
                f"行動の id {given.id} が重複しています", f"action id {given.id} comes twice"
            )
        elif text in actions.values():
            wrong = say(f"行動「{text}」が重複しています", f"action '{text}' comes twice")
        else:
            actions[given.id] = bounded(text, FIELD, place=row.place)
            continue
        raise InputError(wrong, place=row.place, remedy=_shape())
    if len(actions) < 2:
        raise InputError(
            say("行動は二つ以上必要です", "at least two actions are needed"),
            place=str(file),
            remedy=_shape(),
        )
    return ActionSet(
        name=name, actions=tuple(Action(id=i, text=actions[i]) for i in sorted(actions))
    )
