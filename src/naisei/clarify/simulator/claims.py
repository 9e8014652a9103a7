"""Compares claims with facts by words, mode and time.

A fact *settles* a claim if it has all its content words, and the same time and mode:
「焼いた」 is not settled by 「焼きたい」. A fact that shares some words, or has a similar sentence
vector, is *near* it: that is evidence only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from naisei.clarify.simulator.topics import LIGHT, having
from naisei.clarify.things import mentioned
from naisei.japanese.morph import Token, normalise, tokens
from naisei.japanese.questions import denied, words
from naisei.models.base import Embedder

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Words ignored in a claim that only names a thing: verbs, and frames (「…の話」).
_FRAME_WORDS = (
    "持つ 来る 取る 要る 片付ける 仕舞う 戻す 使う 話 件 側 派 方 事 欲しい 言う 頼む 願う "
    "出す 何方 どちら 物 為る 居る 有る 良い 気 別 他 奴 感じ それ これ 此れ 其れ 必要 用 "
    "探す 求める 指す 意味 本当 多分 若しかする 因みに 確認 一番 "
    "bring need want get mean one thing talk "
)
#: Time → its words.
_TIMES = {
    "now": "今 いま 只今 これから 此れから 直ぐ すぐ now currently",
    "today": "今日 today",
    "tomorrow": "明日 tomorrow",
    "yesterday": "昨日 夕べ yesterday",
    "later": "後 あと 後で 後程 later",
    "before": "さっき 先程 earlier",
    "morning": "朝 午前 今朝 morning",
    "afternoon": "昼 午後 afternoon",
    "evening": "夜 夕方 今夜 晩 evening tonight",
}
_TIME_OF = {word: time for time, names in _TIMES.items() for word in names.split()}
#: Words that a fact need not repeat.
_PASSING = frozenset(["もう", "まだ", "又", "未だ", "さん", "様", "今", "いま", "只今"])
FRAME = frozenset(_FRAME_WORDS.split()) | _TIME_OF.keys()


Mode = Literal["wish", "plan", "past", "state", "act", ""]


@dataclass(frozen=True, slots=True)
class Claim:
    """The comparable form of a text. desire: it expresses a desire. mode: a `wish`, a `plan`, the
    `past`, a `state`, a future `act`, or empty (a mere name). times: keys of `_TIMES`. averse:
    it expresses an aversion: 「散らかるのがいやだ」."""

    words: frozenset[str]
    things: tuple[str, ...]
    negated: bool
    desire: bool = False
    mode: Mode = ""
    times: frozenset[str] = frozenset()
    averse: bool = False

    @staticmethod
    def of(text: str, language: str) -> Claim:
        return _claim(text, language)


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact, or a part of one. text: the whole sentence, or a clause without its end (`clause`).

    holds: whether its content is true, negation included. so: whether the text itself is true; a
    false 「ジュースがない」 means that there is juice. other: it explains why something else is not
    wanted.
    """

    text: str
    claim: Claim
    holds: bool
    clause: bool = False
    so: bool = True
    other: bool = False


@lru_cache(maxsize=32768)
def _claim(text: str, language: str) -> Claim:
    text = normalise(text).strip("。？！、 ")
    text = re.sub(r"(?:もしか|ひょっと)(?:して|すると|したら)、?", "", text)
    text = re.sub(r"(?:これ|此れ)から", "今から", text)
    # 「調べたいことがある」 is a wish.
    text = re.sub(r"(?<=たい)(?:こと|もの|物)(?:が|は)?(?:ある|あり|ござい)", "", text)
    # 「ぬるんか」 in western dialects.
    text = re.sub(r"(?<=[うくすつぬむるぐぶいた])んか?$", "", text)
    mode: Mode = ""
    if language == "en":
        every = words(text)
        found = frozenset(w for w in every if w not in _EN_LIGHT and not w.endswith("n't"))
        times = frozenset(_TIME_OF[w] for w in every if w in _TIME_OF)
    else:
        cut = tokens(text)
        content = {t.form for t in cut if t.content}
        found = frozenset(f for f in having(text, language) if f in content or _folded(f)) - LIGHT
        times = frozenset(_TIME_OF[t.form] for t in cut if t.form in _TIME_OF)
        mode = "wish" if _RATHER.search(text) else _mode(cut)
        if _SELF.search(text):
            # The subject of the verb is part of the claim.
            found |= {"自分"}
    desire = re.search(r"た(?:い|く|かった)|\b(?:want|like)\b", text) is not None
    averse = _AVERSE.search(text) is not None
    things, negated = mentioned(text), denied(text)
    return Claim(found - _PASSING, things, negated, desire, mode, times, averse)


#: Words of aversion.
AVERSE = frozenset(
    [
        "嫌",
        "困る",
        "心配",
        "怖い",
        "恐い",
        "不安",
        "気掛かり",
        "恥ずかしい",
        "辛い",
        "成る",
        "worry",
        "afraid",
    ]
)
_AVERSE = re.compile(
    r"いや(?:な|だ|です|なん|で|$)|嫌|困[るっり]|心配|怖|こわ[いく]|不安|気がかり|気にな[るっり]|"
    r"恥ずかし|\b(?:worried|afraid|trouble)"
)
_SELF = re.compile(r"(?:ご?自分|ご自身|あなた|お宅)(?:さま|様)?(?:が|は|で)")


#: 「冷たいほうがいい」 is a wish.
_RATHER = re.compile(r"(?:ほう|方)が(?:いい|良い|よい)")


def _folded(form: str) -> bool:
    return form in ("お腹", "御飯", "ゴミ", "もらう", "すぐ", "酒")


_EN_LIGHT_WORDS = (
    "rather mean then say after so about a an the is are am was were be been do doe does "
    "did you your i my it its it's that this there to of for in on at with and or so "
    "would could should can will have has had some any right now just something anything "
    "somebody someone thing like want need please if about feel going go what which not "
    "n't no more i'm you're we our they them he she his her me up out one "
)
_EN_LIGHT = frozenset(_EN_LIGHT_WORDS.split())
_WISHES = frozenset({"たい", "欲しい", "たがる"})
_PLANS = frozenset({"積もり", "予定"})
#: Adverbs that do not change the mode.
_PASSED = frozenset({"です", "ます", "の", "こと", "訳", "ない", "ず", "だ", "と", "言う", "って"})


def _mode(cut: Sequence[Token]) -> Mode:
    """The mode, from the predicate's last word, ignoring particles, copula and negation."""
    last = [t for t in cut if t.pos not in ("助詞", "補助記号", "感動詞") and t.form not in _PASSED]
    if not last:
        return ""
    word, before = last[-1], last[-2] if len(last) > 1 else None
    if word.form in _WISHES or (word.form == "無い" and before and before.form == "たい"):
        return "wish"
    if word.form in _PLANS:
        return "plan"
    if word.form == "た" and word.pos == "助動詞":
        return "past"
    held = word.form in ("居る", "てる", "有る", "おる", "とる") and before is not None
    if held or word.form in ("そう", "気味", "がち") or word.pos in ("形容詞", "形状詞"):
        return "state"
    return "act" if word.pos in ("動詞", "助動詞") else ""


#: Mode of a claim → modes of a fact that settle it.
_SETTLED_BY: Mapping[Mode, frozenset[str]] = {
    "wish": frozenset({"wish", "plan"}),
    "plan": frozenset({"plan", "wish", "act"}),
    "past": frozenset({"past", "state"}),
    "state": frozenset({"state", "past", "act", ""}),
    "act": frozenset({"act", "plan", "wish", "state", ""}),
    "": frozenset({"wish", "plan", "past", "state", "act", ""}),
}
#: If a claim names one of these times, a fact must too in order to settle it.
_DATED = frozenset(_TIMES) - {"now", "later"}


def shared(needed: Iterable[str], known: frozenset[str]) -> frozenset[str]:
    """The shared words, including other forms of a stem: 「散らかる」「散らかす」,
    「乾き」「乾く」, 「さび」「さびる」."""
    stems, shorter = _forms(known)
    return frozenset(
        word
        for word in needed
        if word in known
        or (len(word) > 1 and word in shorter)
        or (_shorter(word) in known)
        or (_stem(word) in stems)
    )


@lru_cache(maxsize=4096)
def _forms(words: frozenset[str]) -> tuple[frozenset[str | None], frozenset[str | None]]:
    """The stems of words, and words without trailing kana."""
    stems, shorter = frozenset(map(_stem, words)), frozenset(map(_shorter, words))
    return stems - {None}, shorter - {None}


@lru_cache(maxsize=16384)
def _stem(word: str) -> str | None:
    found = _STEM.match(word)
    return found[1] if found is not None and found[1] not in _TWO_VERBS else None


def _shorter(word: str) -> str | None:
    return word[:-1] if len(word) > 2 and _KANA.fullmatch(word[-1]) else None


_KANA = re.compile(r"[ぁ-ん]")
#: Kanji with trailing kana: a verb, or a noun derived from it.
_STEM = re.compile(r"([一-龠]+)[ぁ-ん]{1,3}$")
#: Kanji shared by verbs with different meanings: 着く, 着る.
_TWO_VERBS = frozenset(
    ["着", "行", "通", "覚", "出", "入", "生", "下", "冷", "起", "空", "立", "付", "開"]
)


def settles(fact: Claim, needed: frozenset[str], claim: Claim) -> bool | None:
    """Whether a true fact settles a claim: True if it confirms it, False if the times differ,
    None if undecided.

    needed: the words of the claim that the fact must contain.
    """
    if not needed or shared(needed, fact.words) != needed:
        return None
    if fact.mode not in _SETTLED_BY[claim.mode]:
        return None
    if not at_once(fact, claim):
        return False
    return None if claim.times & _DATED - fact.times else True


def repeats(fact: Claim, claim: Claim) -> bool:
    """Whether a claim repeats a fact word for word."""
    same = fact.words == claim.words and bool(fact.words)
    alike = fact.mode == claim.mode or {fact.mode, claim.mode} == {"plan", "act"}
    return same and fact.times <= claim.times and alike


def dreads(fact: Claim, claim: Claim) -> bool:
    """Whether a fact calls the content of an averse claim unwelcome."""
    needed = claim.words - FRAME - AVERSE
    unwelcome = fact.averse or (fact.negated and fact.mode == "wish")
    return bool(needed) and unwelcome and shared(needed, fact.words) == needed


#: Pairs of times that exclude each other.
_DIFFERENT_TIMES = (
    "now-tomorrow now-yesterday now-later now-before today-tomorrow today-yesterday "
    "tomorrow-yesterday later-before morning-afternoon morning-evening afternoon-evening"
)
_DIFFERENT = frozenset(frozenset(pair.split("-")) for pair in _DIFFERENT_TIMES.split())


def at_once(fact: Claim, claim: Claim) -> bool:
    """Whether both may concern the same time."""
    return not any(frozenset((a, b)) in _DIFFERENT for a in claim.times for b in fact.times)


def clauses(sentence: str, language: str) -> tuple[str, ...]:
    """Split a sentence into parts with separate polarity: 「気が散って進まない」 has two."""
    marked = re.split(r"[、。！？,.!?…]+", sentence)
    if language == "en":
        return tuple(p for p in marked if p)
    out = []
    for part in marked:
        cut, start = tokens(part), 0
        text = normalise(part)
        for token, after in pairwise(cut):
            # Not the て of 「渇いている」「食べてしまう」.
            if token.detail == "接続助詞" and after.detail != "非自立可能":
                out.append(text[start : token.end])
                start = token.end
        out.append(text[start:])
    return tuple(p for p in out if p)


def likeness(claim: Claim, fact: Claim, apart: frozenset[str] = frozenset()) -> float:
    """How much of a claim a fact covers, 0 to about 1.2. apart: words to ignore."""
    needed = claim.words - FRAME - apart or claim.words
    if not needed:
        return 0.0
    common = shared(needed, fact.words)
    cover = len(common) / len(needed)
    if len(needed) <= 2 and cover < 1:
        return 0.0
    alike = 0.06 if claim.desire == fact.desire else 0.0
    return cover + 0.2 * len(common) / max(1, len(fact.words)) + alike


def leaning(text: str, statements: Sequence[Statement]) -> float:
    """How much nearer a text is to true than to false statements, by sentence vectors; -2 to 2, 0
    unless both kinds exist."""
    so = [s.text for s in statements if s.holds]
    not_so = [s.text for s in statements if not s.holds]
    if not so or not not_so:
        return 0.0
    vector = _vector(text)
    return max(float(vector @ _vector(t)) for t in so) - max(
        float(vector @ _vector(t)) for t in not_so
    )


def nearest(text: str, sentences: Sequence[str]) -> str:
    """The sentence nearest to a text by vector; empty without sentences."""
    vector = _vector(text)
    return max(sentences, key=lambda s: float(vector @ _vector(s)), default="")


def nearness(text: str, sentences: Sequence[str]) -> float:
    """The cosine of a text and its nearest sentence; -1 without sentences."""
    vector = _vector(text)
    return max((float(vector @ _vector(s)) for s in sentences), default=-1.0)


@lru_cache(maxsize=16384)
def _vector(text: str) -> npt.NDArray[np.float32]:
    vector: npt.NDArray[np.float32] = _embedder().embed([text], "query")[0]
    return vector


@cache
def _embedder() -> Embedder:
    from naisei.models.embedders.unigram import FastEmbedder

    return FastEmbedder()
