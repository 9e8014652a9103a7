"""Topics of questions: the facet asked about, and its relevance (`topics.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from naisei.japanese.morph import Token, tokens
from naisei.japanese.questions import words

#: Normalised words, all of which must occur.
Cue = frozenset[str]

#: One form for each negation, and for pairs that Sudachi distinguishes.
_SPELT = (
    "無い-ない ぬ-ない ず-ない すく-空く ほしい-欲しい 御腹-お腹 ご飯-御飯 ごみ-ゴミ "
    "暖かい-温かい 暖める-温める 関わる-関係 関する-関係 関連-関係 纏わる-関係 貰う-もらう "
    "くる-来る 直ぐ-すぐ お子-子 お酒-酒 御酒-酒 だ-です 掛ける-かける 為さる-為る"
)
_SAME = dict(pair.split("-") for pair in _SPELT.split())
#: Nouns without a topic.
_LIGHT_WORDS = (
    "物 こと 事 感じ 気分 今 それ 其れ 此れ これ あれ 何 予定 状態 状況 必要 為 方 時 後 "
    "前 手元 場所 自分 貴方 あなた 際 途中 最中 所 ところ 関係 気 中 用 意味 訳 類 系 "
    "何か 誰 どこ 一つ 少し 一番 積もり 事柄 ほう よう 様 ため 目的 用途 理由 人 誰か 皆 "
    "方面 近く 辺り 周り 回り 上 下 身 まま 儘 家 部屋 ご自身 次 さっき 先程 本 話 希望 "
    "どう 如何 要望 問題 お手伝い 手伝い 使用 利用 準備 用意 関連 種類 タイプ もの "
)
LIGHT = frozenset(_LIGHT_WORDS.split())


@lru_cache(maxsize=16384)
def having(text: str, language: str) -> frozenset[str]:
    """The words of a text in the cues' spelling, with particles and auxiliaries."""
    if language == "en":
        return frozenset(words(text))
    # 「手を焼く」 is an idiom unrelated to baking.
    found = tokens(text.replace("手を焼", "困っ"))
    return _folded(
        t.form
        for before, t in zip((None, *found), found, strict=False)
        if t.pos != "補助記号" and not _auxiliary(before, t)
    )


def _folded(forms: Iterable[str]) -> frozenset[str]:
    return frozenset(_SAME.get(f, f) for f in forms)


def _auxiliary(before: Token | None, token: Token) -> bool:
    """Whether a token is the auxiliary しまう, as in 「食べてしまう」."""
    return token.form == "仕舞う" and before is not None and before.surface in ("て", "で")


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "topics.toml").read_text(encoding="utf-8"))


@cache
def _facets(language: str) -> Sequence[tuple[str, tuple[Cue, ...]]]:
    return [(f["name"], _cues(f[language], language)) for f in _table()["facet"]]


@cache
def _outside(language: str) -> tuple[Cue, ...]:
    return _cues(_table()["outside"][language], language)


def _cues(listed: Sequence[str], language: str) -> tuple[Cue, ...]:
    if language == "en":
        return tuple(frozenset(words(text)) for text in listed)
    return tuple(_folded(f for part in text.split("+") for f in _part(part)) for text in listed)


def _part(part: str) -> list[str]:
    # 為る and 居る are tokenised differently on their own.
    if part.startswith("=") or part in ("為る", "居る"):
        return [part.removeprefix("=")]
    found = tokens(part)
    return [t.form for t in found if t.content] or [t.form for t in found]


def facet_asked(text: str, language: str) -> str:
    """The facet of an open question, or ""."""
    held = having(text, language)
    return next((n for n, cues in _facets(language) if any(c <= held for c in cues)), "")


def leads_nowhere(text: str, language: str) -> bool:
    """Whether a question is irrelevant to any need, or asks the person to do something:
    「時計を見せてもらえますか」."""
    held = having(text, language)
    return any(c <= held for c in _outside(language)) or _BIDDING.search(text.lower()) is not None


def speaks_of_things(text: str, language: str) -> bool:
    """Whether a text has a meaningful noun, unlike 「何に手こずっているのですか」."""
    if language == "en":
        return bool(having(text, language) - _EN_ASKING)
    return any(t.pos == "名詞" and t.content and t.form not in LIGHT for t in tokens(text))


_EN_ASKING = frozenset(words("what which how is are it that this you do does so exactly now about"))
_BIDDING = re.compile(
    r"(?<!教え)(?<!聞かせ)(?<!話し)(?<!説明し)[てで](?:もらえ|いただけ|くれ)(?:ます|ません|る|ない)|"
    r"^(?:may i|could you|can you|would you mind)\b"
)
#: 「どうしたの」「というと？」 invites any fact.
WHAT_IS_UP = re.compile(
    r"どう(?:し|なさい)(?:た|まし)|(?:って|と)(?:いう|言う)と[？。]?$|どういう(?:意味|こと)|何のこと|"
    r"\bwhat(?:'s| is) (?:up|the matter|wrong|going on)|\bwhat do you mean"
)
TELL_ME = re.compile(r"\btell me (?:a little |a bit )?(?:more|about|what|why|how)\b")
