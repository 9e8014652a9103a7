"""What can be seen of the user and around: read leniently, since nothing is scored on it."""

from __future__ import annotations

import re
from typing import Any

from naisei.clarify.schemas import UserInfo

__all__ = ["surroundings", "things", "user_info"]

_ONE = {
    "place": ("place", "position", "location", "場所", "位置", "位置情報"),
    "posture": ("posture", "姿勢", "様子"),
    "time": ("time", "time_of_day", "時間", "時間帯", "時刻"),
}
_MANY = {
    "holding": ("holding", "held", "has", "所持物", "手持ち"),
    "reach": ("reach", "within_reach", "near", "nearby", "周辺物", "周辺物品"),
    "company": ("company", "others", "with", "一緒にいる人", "同席者"),
}
_FIELD = {name: field for field, names in (_ONE | _MANY).items() for name in names}

_SEPARATORS = re.compile(r"[、，,;；\n]")


def user_info(value: Any) -> UserInfo:
    """A user from an object, a string or nothing.

    Known keys (Japanese ones of the paper too) fill the fields; a string, and whatever
    else there is as `key: value`, is kept word for word in `posture`, which is free text.
    """
    if value is None:
        return UserInfo()
    if not isinstance(value, dict):
        return UserInfo(posture=_words(value))
    fields: dict[str, Any] = {}
    rest: list[str] = []
    for key, content in value.items():
        field = _FIELD.get(str(key).strip().lower())
        if content in (None, "", [], {}):
            continue
        if field in _MANY:
            fields[field] = (*fields.get(field, ()), *things(content))
        elif field is not None and field not in fields:
            fields[field] = _words(content)
        else:
            rest.append(f"{key}: {_words(content)}")
    if rest:
        fields["posture"] = "; ".join(
            [*([fields["posture"]] if "posture" in fields else []), *rest]
        )
    return UserInfo(**fields)


def surroundings(value: Any) -> dict[str, tuple[str, ...]]:
    """Area → things. A list or a string without areas becomes one area without a name."""
    if value in (None, "", [], {}):
        return {}
    if not isinstance(value, dict):
        return {"": things(value)}
    return {str(area): things(content) for area, content in value.items()}


def things(value: Any) -> tuple[str, ...]:
    """A list of things, each in a few words. A string is split at commas and lines."""
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(part.strip() for part in _SEPARATORS.split(value) if part.strip())
    if isinstance(value, dict):
        return tuple(f"{key}: {_words(content)}" for key, content in value.items())
    if isinstance(value, list):
        return tuple(words for item in value if (words := _words(item)))
    return (_words(value),)


def _words(value: Any) -> str:
    """Anything in one line of text."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_words(content)}" for key, content in value.items())
    if isinstance(value, list):
        return ", ".join(_words(item) for item in value)
    return "" if value is None else str(value).strip()
