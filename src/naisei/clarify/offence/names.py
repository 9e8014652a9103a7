"""The things that the actions of a set are about, as questions may call them."""

from __future__ import annotations

import re
from functools import lru_cache

from naisei.clarify.schemas import ActionSet
from naisei.japanese.normal import is_japanese, normalise

__all__ = ["english_names", "japanese_names", "objects"]

_SHORT = {
    "ゴミ": ("ごみ",),
    "スマホ": ("携帯", "スマートフォン"),
    "充電ケーブル": ("充電器", "ケーブル"),
    "宅配便": ("荷物", "宅配"),
    "ティッシュ箱": ("ティッシュ",),
    "サランラップ": ("ラップ",),
    "じゃがいも": ("ジャガイモ",),
}
_ENGLISH = {
    "バナナ": ("banana",),
    "充電ケーブル": ("charging cable", "charger"),
    "コップ": ("cup", "mug"),
    "ケチャップ": ("ketchup",),
    "宅配便": ("parcel", "package", "delivery"),
    "ペットボトル": ("bottle",),
    "リモコン": ("remote",),
    "スマホ": ("phone", "smartphone"),
    "お菓子": ("snack", "sweet"),
    "ティッシュ箱": ("tissue",),
    "ミニカー": ("toy car",),
    "ゴミ": ("trash", "garbage", "rubbish"),
    "缶切り": ("can opener", "tin opener"),
    "クッキングシート": ("baking paper", "parchment"),
    "グラス": ("glass",),
    "おろし器": ("grater",),
    "キッチンペーパー": ("kitchen paper", "paper towel"),
    "レモン": ("lemon",),
    "オリーブオイル": ("olive oil",),
    "じゃがいも": ("potato",),
    "サランラップ": ("wrap", "cling film"),
    "水筒": ("flask", "thermos"),
    "タッパー": ("container", "tupperware"),
}
_EN_VERB = re.compile(
    r"^(?:bring|fetch|put|tidy|store|throw|heat|get|clear|take)\b(?: away| up)?(?: me)?"
    r"(?: the| a| an| some)? "
)


def objects(text: str) -> tuple[str, ...]:
    """The things an action's text names: 「タッパーをレンジに入れる」 → ("タッパー",)."""
    head, mark, _ = normalise(text).partition("を")
    return (head,) if mark else ()


@lru_cache(maxsize=64)
def japanese_names(actions: ActionSet) -> tuple[str, ...]:
    """Names and everyday short forms, longest first."""
    found = {o for action in actions for o in objects(action.text)}
    found |= {short for name in found for short in _SHORT.get(name, ())}
    return tuple(sorted(found, key=lambda name: (-len(name), name)))


@lru_cache(maxsize=64)
def english_names(actions: ActionSet) -> tuple[str, ...]:
    """Names for an English question: from English action texts, or for the 40 Japanese ones."""
    found: list[str] = []
    for action in actions:
        if is_japanese(action.text):
            found += [n for o in objects(action.text) for n in _ENGLISH.get(o, ())]
        else:
            rest = _EN_VERB.sub("", action.text.lower())
            found.append(re.split(r"\b(?:away|in|on|into|to|back)\b", rest)[0].strip())
    return tuple(dict.fromkeys(found))
