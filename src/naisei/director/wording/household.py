"""Finds expressions that contradict a shared home or a kinship: who lives where, who is older.

Used by the director's check of the setting, which reads from a character's profile whether the two
share a home and who is older. Looks for patterns of owner, place and movement, so that inflection
and wording may vary; `naisei.director.wording.assertion_scope` decides whether they are said about
the two speakers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from naisei.director.wording.assertion_scope import excuse

Kind = Literal["home", "kin", "address"]


@dataclass(frozen=True, slots=True)
class Bond:
    """together: the two share a home. kin: the speaker is `elder` or `younger`; empty: unrelated.

    own, partner: the names of each. calls: how the speaker calls the partner; all other forms of
    the partner's names are wrong; empty: any form is allowed.
    """

    own: tuple[str, ...]
    partner: tuple[str, ...]
    together: bool = False
    kin: Literal["elder", "younger", ""] = ""
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A span that contradicts the bond. certain: never occurs in natural lines in character."""

    kind: Kind
    start: int
    end: int
    certain: bool


#: Other people, who may live alone, come to stay or have a sister.
_OTHERS = (
    "友達",
    "友だち",
    "ともだち",
    "友人",
    "先輩",
    "後輩",
    "同僚",
    "上司",
    "先生",
    "知り合い",
    "知人",
    "いとこ",
    "従兄弟",
    "従姉妹",
    "おばさん",
    "おじさん",
    "おばあちゃん",
    "おじいちゃん",
    "祖母",
    "祖父",
    "叔母",
    "叔父",
    "伯母",
    "伯父",
    "両親",
    "父",
    "母",
    "お隣",
    "隣の",
    "近所",
    "大家さん",
    "主人公",
    "ヒロイン",
    "キャラ",
    "俳優",
    "女優",
    "学生",
    "新社会人",
    "高齢者",
    "若者",
    "人たち",
    "夫婦",
    "夫",
    "妻",
    "同級生",
    "クラスメイト",
    "店長",
    "店員",
    "お客さん",
    "お客様",
    "彼女",
    "彼氏",
    "彼",
    "みんな",
    "あの子",
    "あの人",
    "誰か",
    "業者",
    "宅配",
    "配達",
    "猫",
    "犬",
    "鳥",
    "ドラマ",
    "映画",
    "小説",
    "漫画",
    "アニメ",
    "記事",
    "動画",
    "番組",
    "さんが",
    "さんは",
    "さんの",
    "くんが",
    "くんは",
    "リスナー",
    "方が",
    "方は",
    "人が",
    "人は",
    "ペンネーム",
)
_EXCUSES = ("negated", "hypothetical", "wish", "past", "term", "others")


def speaks_of_others(text: str) -> bool:
    """Whether the text mentions other people, who may live elsewhere."""
    return any(word in text for word in _OTHERS)


class Household:
    """Finds expressions that contradict one bond. Linear in the length of the line."""

    def __init__(self, bond: Bond) -> None:
        partner = "|".join(map(re.escape, sorted(bond.partner, key=len, reverse=True))) or r"(?!)"
        hearer = rf"(?:{partner}|あなた|あんた|きみ|そっち|そちら)(?:ちゃん|さん)?"
        frames: list[tuple[Kind, bool, str]] = []
        known = _expressions()
        own = "|".join(map(re.escape, bond.own)) or r"(?!)"
        names = {
            "own": own,
            "partner": partner,
            "hearer": hearer,
            "me": rf"(?:{known['parts']['self']}|{own})",
            "you": rf"(?:{partner}|あなた|あんた|きみ)",
            **known["parts"],
        }
        kinship = ("kin", bond.kin) if bond.kin else ()
        for group in (*(("apart",) if bond.together else ()), *kinship):
            kind: Kind = "home" if group == "apart" else "kin"
            for listed, sure in ((known, True), (known["doubtful"], False)):
                frames += [(kind, sure, _filled(text, names)) for text in listed[group]]
        if bond.calls:
            frames.append(("address", True, _called(bond, partner)))
        if bond.calls and bond.kin == "younger":
            frames.append(("address", False, _called_elder(bond)))
        self._frames = [(kind, sure, re.compile(frame)) for kind, sure, frame in frames]
        #: Cheap pre-check: no match for most lines.
        self._sign = re.compile("|".join(frame for *_, frame in frames) or r"(?!)").search

    def find(self, text: str, masked: str) -> Iterator[Contradiction]:
        """Contradictions in a folded line; ignores quotations, which are masked."""
        for kind, sure, frame in self._frames if self._sign(masked) else ():
            for match in frame.finditer(masked):
                called = kind == "address" and sure
                if called or not excuse(text, *match.span(), _EXCUSES, _OTHERS):
                    yield Contradiction(kind, *match.span(), sure)


@lru_cache(maxsize=1)
def _expressions() -> dict[str, Any]:
    text = (files("naisei.director.wording") / "household.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _filled(text: str, names: dict[str, str]) -> str:
    """Fill the placeholders of an expression with names and parts; parts may be nested."""
    while "<<" in text:
        text = re.sub(r"<<(\w+)>>", lambda m: names[m[1]], text)
    return text


def _called_elder(bond: Bond) -> str:
    """A form of address for an elder sister that the speaker does not use."""
    allowed = "|".join(map(re.escape, bond.calls))
    return rf"(?<![のお])(?!{allowed})(?:お?姉(?:ちゃん|さん)|姉貴|お?ねえちゃん)(?!の(?:いる|人))"


def _called(bond: Bond, partner: str) -> str:
    """A form of address for the partner that the speaker does not use."""
    allowed = "|".join(map(re.escape, sorted(bond.calls, key=len, reverse=True)))
    return (
        rf"(?!{allowed}(?:[^ぁ-んァ-ヶ一-鿿]|[はがもにのをとで]|$))(?:^|(?<=[、。！？…\s]))"
        rf"(?:{partner})(?:ちゃん|さん|様|さま|くん|先輩|姉|ねえ)"
    )
