"""ARTA: ambiguous requests of tourists, with the system actions that annotators accepted.

Tanaka, Yoshino, Sudoh, Nakamura: ARTA (SIGDIAL 2021), CC BY 4.0. The corpus is not
bundled: `arta:PATH` reads it from a JSONL file or a folder of them. A row has `utterance`,
`category` (the action it was written for), `response`, `function`, perhaps `idx` and
`multilabel` (further categories that annotators accepted).

R-Clarify needs a single intent; it is drawn from the accepted categories.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from naisei.clarify.data.instances import known_split, of_split, split_of
from naisei.clarify.data.loader import Loaded
from naisei.clarify.data.records import Row, checked, exists, listed, read_rows
from naisei.clarify.schemas import Action, ActionSet, Instance, Scene
from naisei.core import InputError
from naisei.lang import say

#: Applications whose offers have a slot, or do not name the action.
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

#: Categories of things for which the user needs a place.
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
    """The assistant's action for a category, as a verb phrase.

    function, response: fields of the corpus; for unknown categories they decide between a search
    and starting an application.
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
    """Load `arta:PATH`; split `test` by default, partitioned by utterance.

    Action ids are positions of the sorted categories. The hidden intent of a row depends only
    on the seed and the row's `idx`. `plausible`: all accepted actions.

    Raises:
        InputError: a missing file, a broken row, a duplicate `idx`, no rows, or `actions` is given.
    """
    if actions:
        raise InputError(
            say("ARTA の行動はデータから決まります", "ARTA's actions come from its data"),
            place=f"--actions {actions}",
            remedy=say("--actions を外してください", "leave out --actions"),
        )
    chosen = known_split(split or "test", "--data")
    rows = _rows(argument)
    given = [checked(_Given, row, _remedy()) for row in rows]
    action_set, ids = _actions(given, rows[0].place)
    kept = of_split(rows, [_instance(one, ids, seed) for one in given], chosen)
    bare = sum(not one.multilabel for one in given)
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
    return rows


class _Given(BaseModel):
    """A row of the corpus."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    idx: str = ""
    utterance: str = Field(min_length=1)
    category: str = Field(min_length=1)
    response: str = ""
    function: str = ""
    multilabel: list[str] = []

    @property
    def accepted(self) -> list[str]:
        return sorted({self.category, *self.multilabel})


def _actions(rows: Sequence[_Given], place: str) -> tuple[ActionSet, dict[str, int]]:
    texts: dict[str, str] = {}
    for row in rows:
        text = action_text(row.category, function=row.function, response=row.response)
        texts.setdefault(row.category, text)
    for row in rows:
        for category in row.accepted:
            texts.setdefault(category, action_text(category))
    if len(texts) < 2:
        raise InputError(
            say("カテゴリは二つ以上必要です", "at least two categories are needed"),
            place=place,
            remedy=_remedy(),
        )
    ids = {category: number for number, category in enumerate(sorted(texts), start=1)}
    listed = tuple(Action(id=ids[c], text=texts[c]) for c in sorted(texts))
    return ActionSet(name=f"arta{len(texts)}", actions=listed), ids


def _instance(row: _Given, ids: dict[str, int], seed: int) -> Instance:
    utterance = unicodedata.normalize("NFKC", row.utterance).strip()
    identity = f"arta-{row.idx or _hash(utterance)[:12]}"
    drawn = int(_hash(f"{seed}:{identity}"), 16) % len(row.accepted)
    return Instance(
        id=identity,
        scene=Scene(id=identity, utterance=row.utterance.strip()),
        gold=ids[row.accepted[drawn]],
        plausible=tuple(sorted(ids[category] for category in row.accepted)),
        split=split_of(utterance),
        scene_id=identity,
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
