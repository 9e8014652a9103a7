"""ARTA: ambiguous requests on a tour, each with the system actions that people accepted.

Tanaka, Yoshino, Sudoh, Nakamura: ARTA (SIGDIAL 2021), CC BY 4.0. The corpus is not
bundled: `arta:PATH` reads it from a JSONL file or a folder of them. A row has `utterance`,
`category` (the action it was written for), `response`, `function`, perhaps `idx` and
`multilabel` (further categories that annotators accepted).

ARTA marks no single intent, R-Clarify needs one: it is drawn from the accepted ones.
"""

from __future__ import annotations

import hashlib
import unicodedata
from pathlib import Path
from typing import Any

from naisei.clarify.data.instances import SPLITS, split_name, split_of
from naisei.clarify.data.loader import ALL, Loaded
from naisei.clarify.data.records import Row, exists, listed, load_actions, read_rows
from naisei.clarify.schemas import Action, ActionSet, Instance, Scene
from naisei.core import InputError
from naisei.lang import say

#: Applications whose offers have a gap to fill, or name the application but not the deed.
_APPLICATIONS = {
    "アラーム": "アラームをセットする",
    "カメラ": "カメラを起動する",
    "ブラウザ": "ブラウザで情報を調べて表示する",
    "メッセージ": "メッセージアプリを起動する",
    "乗り換え": "電車の乗り換えを調べる",
    "写真": "撮った写真を表示する",
    "地図": "地図で行き方を調べる",
    "天気": "天気予報を表示する",
    "電話": "電話をかける",
    "音楽": "音楽を再生する",
}

#: Categories that are no places: what is looked for is where to find them.
_PLACES = {
    "お土産": "お土産を買える店",
    "中華": "中華料理の店",
    "抹茶": "抹茶を味わえる店",
    "価格帯が安いレストラン": "手頃な値段のレストラン",
    "価格帯が普通なレストラン": "普通の値段のレストラン",
    "価格帯が高いレストラン": "高級なレストラン",
    "人力車": "人力車に乗れる場所",
    "桜": "桜の名所",
    "紅葉": "紅葉の名所",
    "着物レンタル": "着物をレンタルできる店",
    "自然・風景": "自然や風景を楽しめる場所",
    "朝食": "朝食を食べられる店",
}

_ALREADY_A_PLACE = (
    "レストラン",
    "レストラン街",
    "ファミレス",
    "カフェ",
    "屋",
    "店",
    "バー",
    "フード",
)


def action_text(category: str, *, function: str = "", response: str = "") -> str:
    """What the assistant does for a category, as a plain verb phrase.

    function, response: the corpus's own fields; for unknown categories they tell whether
    something is searched for or started.
    """
    if category in _APPLICATIONS and function in ("", "アプリ起動"):
        return _APPLICATIONS[category]
    if "起動" in function or "起動" in response:
        return f"{category}を起動する"
    place = _PLACES.get(category, category)
    if place == category and "レストラン" in function and not category.endswith(_ALREADY_A_PLACE):
        place = f"{category}の店"
    return f"周辺の{place}を検索する"


def _remedy() -> str:
    return say(
        "arta:PATH の行には utterance、category、response、function が要ります (multilabel は任意)",
        "arta:PATH wants rows with utterance, category, response, function (and multilabel)",
    )


def build(argument: str, *, split: str | None, seed: int, actions: str | None) -> Loaded:
    """`arta:PATH`; split `test` by default, a partition by the utterance.

    Ids of actions are the places of the categories in sorted order. The hidden intent of
    a row depends on the seed and the row's `idx` alone. `plausible`: all accepted ones.

    Raises:
        InputError: no such file, a broken row, an `idx` that comes twice, no rows.
    """
    chosen = split_name(split) if split else "test"
    if chosen not in (*SPLITS, ALL):
        raise InputError(
            say(f"'{split}' という分割はありません", f"unknown split '{split}'"),
            place="--data",
            remedy=say(
                "train、dev、test、all のどれかを指定してください", "use train, dev, test or all"
            ),
        )
    rows = _rows(argument)
    action_set, ids = _actions(rows)
    if actions:
        action_set = _replaced(action_set, actions)
    instances = [_instance(row, ids, seed) for row in rows]
    _unique(rows, instances)
    kept = tuple(i for i in instances if chosen in (ALL, i.split))
    if not kept:
        raise InputError(
            say(f"分割 '{chosen}' に入る件がありません", f"no instances of the split '{chosen}'"),
            place=f"arta:{argument}",
            remedy=say(
                "小さなファイルには --split all を使ってください",
                "use --split all for a small file",
            ),
        )
    bare = sum(not row.fields.get("multilabel") for row in rows)
    notes = (
        say(
            "ARTA: 隠れた意図は、認められた行動の中からシードで選んでいます",
            "ARTA: the hidden intent is drawn by seed from the accepted actions",
        ),
        say(
            f"ARTA: {len(rows)} 行中 {bare} 行は、自分のカテゴリしか認めていません",
            f"ARTA: {bare} of {len(rows)} rows accept their own category only",
        ),
    )
    return Loaded(kept, action_set, notes, chosen)


def _rows(argument: str) -> list[Row]:
    if not argument:
        raise InputError(
            say("パスがありません", "the path is missing"),
            place="--data arta:",
            remedy=say("arta:PATH の形で書いてください", "write arta:PATH"),
        )
    path = Path(argument).expanduser()
    if not exists(path):
        raise InputError(
            say("そのようなファイルやフォルダーはありません", "no such file or folder"),
            place=f"arta:{argument}",
            remedy=say("パスを確かめてください", "check the path"),
        )
    files = [f for f in listed(path) if f.suffix == ".jsonl"] if path.is_dir() else [path]
    rows = [row for file in files for row in read_rows(file)]
    if not rows:
        raise InputError(
            say("データの行がありません", "there are no rows"),
            place=f"arta:{argument}",
            remedy=_remedy(),
        )
    for row in rows:
        for key in ("utterance", "category"):
            if not isinstance(row.fields.get(key), str) or not row.fields[key].strip():
                raise InputError(
                    say(f"項目 '{key}' がないか、空です", f"the field '{key}' is missing or empty"),
                    place=row.place,
                    remedy=_remedy(),
                )
        others = row.fields.get("multilabel") or []
        if not isinstance(others, list) or not all(isinstance(o, str) and o for o in others):
            raise InputError(
                say(
                    "'multilabel' はカテゴリの並びでなければなりません",
                    "'multilabel' must be a list of categories",
                ),
                place=row.place,
                remedy=_remedy(),
            )
    return rows


def _accepted(row: Row) -> list[str]:
    return sorted({row.fields["category"], *(row.fields.get("multilabel") or [])})


def _actions(rows: list[Row]) -> tuple[ActionSet, dict[str, int]]:
    texts: dict[str, str] = {}
    for row in rows:
        category = row.fields["category"]
        if category not in texts:
            texts[category] = action_text(
                category,
                function=str(row.fields.get("function") or ""),
                response=str(row.fields.get("response") or ""),
            )
    for row in rows:
        for category in _accepted(row):
            texts.setdefault(category, action_text(category))
    if len(texts) < 2:
        raise InputError(
            say("カテゴリは二つ以上必要です", "at least two categories are needed"),
            place=rows[0].place,
            remedy=_remedy(),
        )
    ids = {category: number for number, category in enumerate(sorted(texts), start=1)}
    listed = tuple(Action(id=ids[c], text=texts[c]) for c in sorted(texts))
    return ActionSet(name=f"arta{len(texts)}", actions=listed), ids


def _replaced(derived: ActionSet, file: str) -> ActionSet:
    """The user's wording of the same actions."""
    given = load_actions(file)
    if given.ids != derived.ids:
        raise InputError(
            say(
                f"ARTA の行動はここでは 1 から {len(derived)} までですが、"
                "このファイルの id は違います",
                f"ARTA has the actions 1 to {len(derived)} here, this file has other ids",
            ),
            place=file,
            remedy=say(
                "カテゴリを整列した順に、それぞれの文を書いてください",
                "give one text for each of them, in the sorted order of the categories",
            ),
        )
    return given


def _instance(row: Row, ids: dict[str, int], seed: int) -> Instance:
    utterance = unicodedata.normalize("NFKC", row.fields["utterance"]).strip()
    key: Any = row.fields.get("idx")
    identity = f"arta-{_hash(utterance)[:12] if key is None else key}"
    accepted = _accepted(row)
    drawn = int(_hash(f"{seed}:{identity}"), 16) % len(accepted)
    return Instance(
        id=identity,
        scene=Scene(id=identity, utterance=row.fields["utterance"].strip()),
        gold=ids[accepted[drawn]],
        plausible=tuple(sorted(ids[category] for category in accepted)),
        split=split_of(utterance),
        scene_id=identity,
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _unique(rows: list[Row], instances: list[Instance]) -> None:
    seen: dict[str, str] = {}
    for row, one in zip(rows, instances, strict=True):
        if one.id in seen:
            raise InputError(
                say(
                    f"行 '{one.id.removeprefix('arta-')}' が重複しています",
                    f"the row '{one.id.removeprefix('arta-')}' comes twice",
                ),
                place=row.place,
                remedy=say(
                    f"最初は {seen[one.id]} にあります。行ごとに別の idx を付けてください",
                    f"the first is at {seen[one.id]}; give each row its own idx",
                ),
            )
        seen[one.id] = row.place
