"""Fill levels of containers in a scene, and questions about them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from naisei.clarify.schemas import Instance
from naisei.japanese.morph import normalise

Level = Literal["empty", "part", "full"]

_NAMES = {
    "コップ": r"コップ|カップ(?!麺|めん|ラーメン|焼|ケーキ|スープ|うどん|そば|アイス)|"
    r"湯のみ|湯呑み|マグ|\b(?:cup|mug)\b",
    "グラス": r"グラス|\bglass\b",
    "ペットボトル": r"ペットボトル|ボトル|\bbottle\b",
    "水筒": r"水筒|マイボトル|タンブラー|\b(?:flask|thermos)\b",
    "タッパー": r"タッパー|保存容器|弁当箱|\b(?:container|tupperware|lunch box)\b",
}
#: Unambiguous names of containers other than the key.
_PROPER = {"ペットボトル": r"ペットボトル|\bplastic bottles?\b"}
_STATE = re.compile(
    r"空(?!い|腹|気|間|調)|からっぽ|カラッポ|中身|残って|残り|満杯|いっぱい|入って|入れて(?:い|あ)|"
    r"飲み(?:終|干|切|き)|飲みかけ|使用中|\b(?:empty|full|left in|anything in|inside)\b"
)
_EMPTY = re.compile(r"空(?!い|腹)|からっぽ|カラッポ|飲み(?:終|干|切|き)|\bempty\b|\bfinished\b")
_EMPTY_SEEN = re.compile(
    r"空の|空に|空っぽ|飲み終|飲み干|食べ終|洗っ|伏せ|乾い|水切り|\b(?:empty|washed|dry|finished)\b"
)
_PART_SEEN = re.compile(r"飲みかけ|飲み残|残|半分|使いかけ|\b(?:half|left)\b")
_FULL_SEEN = re.compile(r"入り|入っ|未開封|詰め|[（(]|の水|のお茶|の麦茶|\b(?:full|unopened)\b")


def asked_container(question: str) -> str:
    """The container whose contents a question asks about, or ""."""
    text = normalise(question).lower()
    if not _STATE.search(text):
        return ""
    return next((name for name, pattern in _NAMES.items() if re.search(pattern, text)), "")


def asks_empty(question: str) -> bool:
    """Whether "yes" to the question means empty."""
    return _EMPTY.search(normalise(question).lower()) is not None


def _mentioned_level(thing: str) -> Level | None:
    if _PART_SEEN.search(thing):
        return "part"
    if _EMPTY_SEEN.search(thing):
        return "empty"
    return "full" if _FULL_SEEN.search(thing) else None


def levels(container: str, instance: Instance) -> list[Level]:
    """The levels of such containers in the scene; those in hand or in reach first."""
    shown = [thing.lower() for thing in instance.scene.entries]
    # ボトル means no oil bottle if there is a ペットボトル.
    proper = re.compile(_PROPER.get(container, container))
    called = any(map(proper.search, shown))
    pattern = proper if called else re.compile(_NAMES.get(container, re.escape(container)))
    return [s for t in shown if pattern.search(t) and (s := _mentioned_level(t))]


def level(container: str, instance: Instance) -> Level | None:
    """The first of `levels`; `None` if the scene does not show one."""
    return next(iter(levels(container, instance)), None)


#: Phrases for fill levels.
LEVELS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "ja": {
        "empty": ("もう空っぽな", "もう何も入っていない"),
        "part": ("まだ少し残っている", "途中まで減っている"),
        "full": ("まだちゃんと入っている", "中身はたっぷりある"),
    },
    "en": {
        "empty": ("It's empty", "There's nothing left in it"),
        "part": ("There's still a little left", "It's about half full"),
        "full": ("There's plenty in it", "It's full"),
    },
}
