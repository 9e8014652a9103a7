"""Topics that a line raises; for the director. Source: the retry-judgement specification, §6.2."""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib.resources import files

from naisei.japanese.cues import around

__all__ = ["topics"]

_WRITTEN = "\u3400-\u9fff々〆ァ-ヶーA-Za-z0-9〓"
#: A noun before a place, read from there backwards: kanji, katakana or Latin, else kana.
_NOUN = re.compile(rf"」?([{_WRITTEN}]+(?:[ぁ-ん][{_WRITTEN}]+)?|[ぁ-ん]+)")
_NAMED = re.compile(
    r"について|に関し|に関する|"
    r"の話(?=[をがはもにでなとっだ、。！？…\s]|題|です|する|しよ|した[いか]|していい|してよ|$)|"
    r"と(?:いえ|言え)ば|って(?:いえ|言え)ば|っていうと"
)
#: は after a noun, or after kana that can be one: those that particles, forms, greetings and
#: laughter end in are no topics.
_SPOKEN = re.compile(
    rf"は(?<=[{_WRITTEN}ぁ-ん」]は)(?<![でにとのてへくもがはあえお]は)"
    r"(?<!(?:から|まで|より|だけ|ほど|ばか|など|なら|たり|ちゃ|ない|ずに|それ|これ|あれ|どれ|[こそあど]こ|うち)は)"
    r"(?<!(?:ばかり|くらい|ぐらい|わたし|あたし|みんな|[こそあ]っち|ほんと|いつも)は)"
    r"(?<!(?:こんにち|こんばん|やっぱり|もちろん)は)"
    r"、?(?=[^\s。！？、…〜はにへ」）])"
)
#: Not raising a topic but leaving one.
_LEFT = re.compile(
    r"(?:題)?(?:は|を|も|なんて|なんか)?(?:もう)?(?:やめ|止め|置いと|おいと|後に|あとに|いい|終わ)"
)
_REACH = 16
_DOUBTS = 24
#: Pronouns, time words, adverbs and hollow nouns: no topics of their own.
_HOLLOW = frozenset((files("naisei.japanese") / "hollow.txt").read_text(encoding="utf-8").split())
_POINTING = re.compile(r"(?:\A|[^ぁ-ん])(?:こ|そ|あ|ど|こん?な|そんな|あんな|どんな)\Z")


def topics(text: str, masked: str, hollow: Collection[str] = ()) -> tuple[str, ...]:
    """Distinct topics, in order: 「Xについて」, 「Xの話」, 「Xといえば」, 「Xは＋活用語」.

    Pronouns, time words, particle compounds (では, には, のは) and the names in `hollow`
    (the speakers) raise none. Topics inside quotations do not count; one named by a
    quotation (「『星』の話」) does. text and masked are of the same length.
    """
    found: dict[str, None] = {}
    if (
        "の話" in masked
        or "えば" in masked
        or "につ" in masked
        or "に関" in masked
        or "いうと" in masked
    ):
        for match in _NAMED.finditer(masked):
            if match[0] == "の話" and _LEFT.match(masked, match.end()):
                continue
            name = _name(text, match.start(), hollow)
            if match[0] == "の話" and _POINTING.search(
                text[max(0, match.start() - 4) : match.start()]
            ):
                continue
            if name:
                found[name] = None
    if "は" in masked:
        doubts = _DOUBTS
        for match in _SPOKEN.finditer(masked):
            at = match.start()
            if not "ぁ" <= text[at - 1] <= "ん":
                name = _name(text, at, hollow)
            elif doubts:
                doubts -= 1
                name = _looked_up(text, at, hollow)
            else:
                continue
            if name:
                found[name] = None
    return tuple(found)


def _name(text: str, end: int, hollow: Collection[str]) -> str:
    found = _NOUN.match(text[max(0, end - _REACH) : end][::-1])
    if found is None:
        return ""
    name = found[1][::-1]
    if name in ("たち", "達"):
        return ""
    if name[0] in "今昨明" and name[-1] in "日年朝夜週月":
        return ""
    return "" if name in _HOLLOW or name in hollow else name


def _looked_up(text: str, at: int, hollow: Collection[str]) -> str:
    """The noun before は, if Sudachi reads one there and は as a particle."""
    words, start, _ = around(text, at, at + 1)
    before = None
    place = 0
    for word in words:
        if place == start:
            if word.surface != "は" or word.pos != "助詞" or before is None:
                return ""
            if before.pos not in ("名詞", "接尾辞") or before.detail in ("助動詞語幹", "数詞"):
                return ""
            name = before.surface
            return "" if name in hollow or {name, before.form} & _HOLLOW else name
        place += len(word.surface)
        before = word
    return ""
