"""Converts a data row to an `Instance`, strictly for fields that affect results."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StrictStr, StringConstraints

from naisei.clarify.data.records import Row, checked
from naisei.clarify.schemas import ActionSet, Facts, Instance, Language, Scene, UserInfo
from naisei.core import InputError
from naisei.japanese.morph import is_japanese
from naisei.lang import say
from naisei.lengths import MESSAGE, PROFILE, bounded, cached_text

SPLITS = ("train", "dev", "test")
#: The name that selects all splits.
ALL = "all"

#: The paper's names of the user fields.
_PAPERS = {"位置情報": "place", "所持物": "holding", "周辺物": "reach", "周辺物品": "reach"}
_LISTS = ("holding", "reach", "company")
_SEPARATORS = re.compile(r"[、，,;；\n]")


class _Given(BaseModel):
    """A raw row. `utterance` and `gold` are needed, the others are optional."""

    model_config = ConfigDict(str_strip_whitespace=True, coerce_numbers_to_str=True)

    id: str = ""
    scene: str = ""
    utterance: Annotated[StrictStr, StringConstraints(min_length=1)]
    user: UserInfo = UserInfo()
    surroundings: dict[str, tuple[str, ...]] = {}
    gold: Any
    plausible: list[Any] = []
    also: list[Any] = []
    facts: Facts | None = None
    ambiguity: str = ""
    speaker: str = ""
    split: str = ""
    language: Language | None = None


KEYS = tuple(_Given.model_fields)


def instance(row: Row, actions: ActionSet, *, default_id: str, split: str = "") -> Instance:
    """The instance in a row. split: the file's, used for rows without one.

    Raises:
        InputError: `utterance` or `gold` is missing or of the wrong type, an action is
            not in the set, or the row's split differs from the file's.
    """
    for key in ("user", "surroundings", "facts"):
        written = json.dumps(row.fields.get(key), ensure_ascii=False)
        bounded(written, PROFILE, place=f"{row.place}, {key}")
    given = checked(_Given, Row(_shaped(row.fields), row.place), _remedy())
    utterance = bounded(given.utterance, MESSAGE, place=row.place)
    gold = _action(row, "gold", given.gold, actions)
    also = {_action(row, "also", a, actions) for a in given.also} - {gold}
    plausible = {_action(row, "plausible", a, actions) for a in given.plausible}
    for action in given.facts.no if given.facts else ():
        _action(row, "facts.not", action, actions)
    identity = given.id or default_id
    scene = given.scene or identity
    return Instance(
        id=identity,
        scene=Scene(
            id=scene,
            utterance=utterance,
            user=given.user,
            surroundings=given.surroundings,
            language=given.language or language_of(utterance),
        ),
        gold=gold,
        also=tuple(sorted(also)),
        # Wanted actions count as plausible.
        plausible=tuple(sorted({*plausible, gold, *also})) if plausible else (),
        facts=given.facts,
        ambiguity=given.ambiguity,
        speaker=given.speaker,
        split=_split(row, given.split, split),
        scene_id=scene,
    )


def _remedy() -> str:
    return say(
        f"行に書けるキー: {', '.join(KEYS)}。utterance と gold は必須です",
        f"keys of a row: {', '.join(KEYS)}; utterance and gold are needed",
    )


def _shaped(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields; lists written as text are split."""
    out = {k: v for k, v in fields.items() if v not in (None, {})}
    user, around = out.get("user"), out.get("surroundings")
    if isinstance(user, str):
        out["user"] = {"posture": user}
    if isinstance(user, dict):
        named = {_PAPERS.get(key, key): value for key, value in user.items() if value is not None}
        out["user"] = {k: _things(v) if k in _LISTS else v for k, v in named.items()}
    if isinstance(around, dict):
        out["surroundings"] = {area: _things(things) for area, things in around.items()}
    return out


def _things(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(part.strip() for part in _SEPARATORS.split(value) if part.strip())
    return () if value is None else value


def split_of(key: str) -> str:
    """The split of a scene or utterance: about 20 % train, 20 % dev, 60 % test."""
    share = int.from_bytes(hashlib.sha256(key.encode("utf-8")).digest()[:4], "big") / 2**32
    return "train" if share < 0.2 else "dev" if share < 0.4 else "test"


def known_split(name: str, place: str) -> str:
    """Check a requested split. Raises `InputError` for an unknown one."""
    if name not in (*SPLITS, ALL):
        raise InputError(
            say(f"'{name}' という分割はありません", f"unknown split '{name}'"),
            place=place,
            remedy=say(
                "train、dev、test、all のどれかを指定してください", "use train, dev, test or all"
            ),
        )
    return name


def of_split(rows: Sequence[Row], made: Sequence[Instance], split: str) -> tuple[Instance, ...]:
    """The instances of a split, in row order.

    Raises:
        InputError: a duplicate id, or an empty split.
    """
    seen: dict[str, str] = {}
    for row, one in zip(rows, made, strict=True):
        if one.id in seen:
            raise InputError(
                say(f"id '{one.id}' が重複しています", f"id '{one.id}' comes twice"),
                place=row.place,
                remedy=say(
                    f"最初は {seen[one.id]} にあります。id は重複できません",
                    f"the first is at {seen[one.id]}; ids must be unique",
                ),
            )
        seen[one.id] = row.place
    kept = tuple(one for one in made if split in (ALL, one.split))
    if not kept:
        found = ", ".join(sorted({one.split or say("指定なし", "none") for one in made}))
        raise InputError(
            say(f"分割 '{split}' に入る件がありません", f"no instances of the split '{split}'"),
            place=rows[0].place,
            remedy=say(f"あるもの: {found}", f"found: {found}"),
        )
    return kept


def language_of(text: str) -> Language:
    """`ja` if the text contains any Japanese character, else `en`."""
    return "ja" if is_japanese(text) else "en"


def _action(row: Row, key: str, value: Any, actions: ActionSet) -> int:
    """Resolve an action by id (a number or a string of digits) or text."""
    wanted = _plain(str(value))
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


@cached_text(4096)
def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().rstrip("。.").casefold()


def _split(row: Row, own: str, of_file: str) -> str:
    if own and of_file and own != of_file:
        raise InputError(
            say(
                f"この行の split は '{own}' ですが、ファイルは '{of_file}' のものです",
                f"this row says split '{own}', but its file is for '{of_file}'",
            ),
            place=row.place,
            remedy=say(
                "その分割のファイルに移すか、キーを直してください",
                "move the row to the file of its split, or fix the key",
            ),
        )
    return own or of_file
