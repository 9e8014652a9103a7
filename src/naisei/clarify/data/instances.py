"""One row of data as an `Instance`: strict where a figure depends on it."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import Any

from pydantic import ValidationError

from naisei.clarify.data.records import Row
from naisei.clarify.schemas import ActionSet, Facts, Instance, Language, Scene, UserInfo
from naisei.core import InputError
from naisei.lang import say
from naisei.lengths import MESSAGE, PROFILE, bounded

_ONE = {
    "name": ("name", "名前"),
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


SPLITS = ("train", "dev", "test")

_ALIASES = {"valid": "dev", "validation": "dev", "val": "dev", "training": "train"}


def split_of(key: str) -> str:
    """The split of a scene or utterance: about 20 % train, 20 % dev, 60 % test."""
    share = int.from_bytes(hashlib.sha256(key.encode("utf-8")).digest()[:4], "big") / 2**32
    return "train" if share < 0.2 else "dev" if share < 0.4 else "test"


def split_name(name: str) -> str:
    """The usual name of a split: `valid`, `validation` and `val` are `dev`."""
    lowered = name.strip().lower()
    return _ALIASES.get(lowered, lowered)


#: The keys of a row. `utterance` and `gold` are needed, the others are optional.
KEYS = (
    *("id", "scene", "utterance", "user", "surroundings", "gold", "plausible"),
    *("also", "facts", "ambiguity", "speaker", "split", "language"),
)

_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def instance(row: Row, actions: ActionSet, *, default_id: str, split: str = "") -> Instance:
    """The instance in a row. `split`: that of the file, for rows that name none.

    Raises:
        InputError: `utterance` or `gold` is missing or of the wrong kind, an action is
            not in the set, or the row's split is not the file's.
    """
    utterance = _utterance(row)
    for key in ("user", "surroundings"):
        given = json.dumps(row.fields.get(key), ensure_ascii=False)
        bounded(given, PROFILE, place=f"{row.place}, {key}")
    gold = _gold(row, actions)
    identity = _label(row, "id") or default_id
    scene = _label(row, "scene") or identity
    return Instance(
        id=identity,
        scene=Scene(
            id=scene,
            utterance=utterance,
            user=user_info(row.fields.get("user")),
            surroundings=surroundings(row.fields.get("surroundings")),
            language=_language(row, utterance),
        ),
        gold=gold,
        also=(also := _also(row, actions, gold)),
        plausible=_plausible(row, actions, gold, also),
        facts=_facts(row, actions),
        ambiguity=_label(row, "ambiguity"),
        speaker=_label(row, "speaker"),
        split=_split(row, split),
        scene_id=scene,
    )


def language_of(text: str) -> Language:
    """`ja` if there is any Japanese character in it, else `en`."""
    return "ja" if _JAPANESE.search(text) else "en"


def _utterance(row: Row) -> str:
    value = row.fields.get("utterance")
    if value is None:
        raise InputError(
            say("項目 'utterance' がありません", "the field 'utterance' is missing"),
            place=row.place,
            remedy=say(
                f"行に書けるキー: {', '.join(KEYS)}。utterance と gold は必須です",
                f"keys of a row: {', '.join(KEYS)}; utterance and gold are needed",
            ),
        )
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            say(
                "'utterance' は空でない文字列でなければなりません",
                "'utterance' must be a text that is not empty",
            ),
            place=row.place,
            remedy=say("ユーザーの発話を書いてください", "write what the user says"),
        )
    return bounded(value.strip(), MESSAGE, place=row.place)


def _gold(row: Row, actions: ActionSet) -> int:
    if row.fields.get("gold") is None:
        raise InputError(
            say("項目 'gold' がありません", "the field 'gold' is missing"),
            place=row.place,
            remedy=say(
                "ユーザーが本当に望む行動の id か文を書いてください",
                "give the id or the text of the action that the user really wants",
            ),
        )
    return _action(row, "gold", row.fields["gold"], actions)


def _plausible(row: Row, actions: ActionSet, gold: int, also: tuple[int, ...]) -> tuple[int, ...]:
    """Sorted ids; what is wanted is among them if there are any."""
    found = _several(row, "plausible", actions)
    return tuple(sorted({*found, gold, *also})) if found else ()


def _also(row: Row, actions: ActionSet, gold: int) -> tuple[int, ...]:
    """What is wanted besides the gold, as sorted ids."""
    return tuple(sorted(set(_several(row, "also", actions)) - {gold}))


def _several(row: Row, key: str, actions: ActionSet) -> list[int]:
    value = row.fields.get(key)
    if value in (None, []):
        return []
    if not isinstance(value, list):
        raise InputError(
            say(f"'{key}' は行動の並びでなければなりません", f"'{key}' must be a list of actions"),
            place=row.place,
            remedy=say(
                "[3, 6] のように書くか、キーごと省いてください",
                "write [3, 6], or leave the key out",
            ),
        )
    return [_action(row, key, v, actions) for v in value]


def _facts(row: Row, actions: ActionSet) -> Facts | None:
    """What the person knows of the wish; see `Facts` for its keys."""
    value = row.fields.get("facts")
    if value in (None, {}):
        return None
    bounded(json.dumps(value, ensure_ascii=False), PROFILE, place=f"{row.place}, facts")
    try:
        facts = Facts.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(map(str, first["loc"]))
        raise InputError(
            say(f"'facts' の {at} が正しくありません", f"'facts' is wrong at {at}: {first['msg']}"),
            place=row.place,
            remedy=say(
                "first、why、what_for、state、whom、name は文字列、not は行動の id と理由、"
                "true と false は文の並びです",
                "first, why, what_for, state, whom and name are texts, not maps ids of actions to "
                "reasons, true and false are lists of clauses",
            ),
        ) from error
    for action in facts.no:
        _action(row, "facts.not", action, actions)
    return facts


def _action(row: Row, key: str, value: Any, actions: ActionSet) -> int:
    """An action by its id (a number, or digits in a string) or by its text."""
    if isinstance(value, int) and not isinstance(value, bool) and value in actions.ids:
        return value
    if isinstance(value, str):
        wanted = _plain(value)
        for action in actions:
            if wanted in (str(action.id), _plain(action.text)):
                return action.id
    raise InputError(
        say(f"'{key}' の {value!r} という行動はありません", f"unknown action {value!r} in '{key}'"),
        place=row.place,
        remedy=say(
            f"行動の一覧 '{actions.name}' の id は {actions.ids[0]} から {actions.ids[-1]} まで"
            f" ({len(actions)} 個) です。別の一覧は --actions で指定できます",
            f"the action set '{actions.name}' has the ids {actions.ids[0]} to "
            f"{actions.ids[-1]} ({len(actions)} actions); another set can be given with --actions",
        ),
    )


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().rstrip("。.").casefold()


def _label(row: Row, key: str) -> str:
    """A short name: text or a number."""
    value = row.fields.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(
            say(
                f"'{key}' は文字列でなければなりません ({type(value).__name__} が書かれています)",
                f"'{key}' must be a text, not {type(value).__name__}",
            ),
            place=row.place,
            remedy=say(
                "短い名前を書くか、キーごと省いてください",
                "write a short name, or leave the key out",
            ),
        )
    return str(value).strip()


def _language(row: Row, utterance: str) -> Language:
    given = _label(row, "language")
    if given in ("ja", "en"):
        return "ja" if given == "ja" else "en"
    if given:
        raise InputError(
            say(f"'{given}' という言語は使えません", f"unknown language '{given}'"),
            place=row.place,
            remedy=say("ja か en にするか、省いてください", "write ja or en, or nothing"),
        )
    return language_of(utterance)


def _split(row: Row, of_file: str) -> str:
    own = split_name(_label(row, "split"))
    if own and of_file and own != of_file:
        raise InputError(
            say(
                f"この行の split は '{own}' ですが、ファイルは '{of_file}' のものです",
                f"this row says split '{own}', but its file is for '{of_file}'",
            ),
            place=row.place,
            remedy=say(
                "その分割のファイルに移すか、キーを直してください",
                "move the row to the file of its split, or mend the key",
            ),
        )
    return own or of_file
