"""Whether what a question supposes is so, for a given need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from naisei.clarify.simulator.cues import Cue, fits, folded
from naisei.clarify.simulator.knowledge import Proposition, propositions
from naisei.japanese.english import words
from naisei.japanese.morph import tokens

__all__ = ["Judged", "facet_asked", "judge", "leads_nowhere", "matched"]

#: Nouns that add nothing to what is asked.
_LIGHT = frozenset(
    "物 こと 事 感じ 気分 今 それ 其れ 此れ これ あれ 何 予定 状態 状況 必要 為 方 時 後 前 手元 場所 自分 貴方 "
    "あなた 際 途中 最中 所 ところ 関係 気 中 用 意味 訳 類 系 何か 誰 どこ 一つ 少し 一番 つもり 事柄 ほう よう 様 "
    "ため 目的 用途 理由 人 誰か 皆 方面 近く 辺り 周り 回り 身 まま 儘 家 部屋 ご自身 次 さっき 先程 本 話 "
    "希望 要望 問題 お手伝い 手伝い 使用 利用 準備 用意 関連 種類 タイプ もの".split()
)
_EITHER_OF = re.compile(
    r"[^、か]や[^、]|とか|または|もしくは|(?:物|もの|もん)か[^。？、]+(?:です|？)"
)


@dataclass(frozen=True, slots=True)
class Judged:
    """truth: `yes`, `no`, `maybe`, `mixed` (partly so), or `unknown`. facet: what to tell."""

    truth: str
    facet: str = "state"


@lru_cache(maxsize=16384)
def _having(text: str, language: str) -> frozenset[str]:
    if language == "en":
        return frozenset(words(text))
    return folded(t.form for t in tokens(text) if t.pos != "補助記号")


def _longest(cues: list[Cue]) -> list[Cue]:
    return [c for c in cues if not any(c < other for other in cues)]


@lru_cache(maxsize=16384)
def matched(text: str, language: str) -> tuple[Proposition, ...]:
    """What is asked or said in a text: its propositions, those within longer ones left out."""
    having = _having(text, language)
    known = propositions(language)
    hits = {p.name: fits(p.cues, having) for p in known.items}
    longest = set(_longest([c for found in hits.values() for c in found]))
    return tuple(p for p in known.items if any(c in longest for c in hits[p.name]))


def leads_nowhere(text: str, language: str) -> bool:
    """Whether it is about something that has no bearing on any need."""
    having = _having(text, language)
    nowhere = fits(propositions(language).outside, having)
    if not nowhere:
        return False
    told = [c for p in propositions(language).items for c in fits(p.cues, having)]
    return not any(out < c for out in nowhere for c in told)


def _strange_object(text: str, language: str) -> bool:
    """Whether it speaks of a thing that no proposition knows: then a yes would be a guess."""
    if language == "en":
        return False
    vocabulary = propositions(language).vocabulary
    found = tokens(text)
    for token, after in zip(found, found[1:], strict=False):
        if (
            token.pos == "名詞"
            and token.detail in ("普通名詞", "固有名詞")
            and after.surface in ("を", "が", "に", "の")
            and not (folded([token.form, token.surface]) & (vocabulary | _LIGHT))
        ):
            return True
    return False


def judge(text: str, need: int, language: str) -> Judged:
    """The truth of what a text supposes about a need; `unknown` where nothing in it is known."""
    asked = matched(text, language)
    if not asked:
        return Judged("unknown")
    truths = {p.name: p.truth(need) for p in asked}
    values = set(truths.values())

    def told(truth: str) -> str:
        return next(p.facet for p in asked if truths[p.name] == truth)

    if language == "ja" and len(asked) > 1 and _EITHER_OF.search(text) and "yes" in values:
        return Judged("yes", told("yes"))
    if values == {"yes"}:
        return Judged("maybe" if _strange_object(text, language) else "yes", told("yes"))
    if "no" in values:
        return Judged("mixed", told("yes")) if "yes" in values else Judged("no")
    # What holds, said together with what may hold, holds.
    if "yes" in values and not _strange_object(text, language):
        return Judged("yes", told("yes"))
    return Judged("maybe", told("maybe"))


def facet_asked(text: str, language: str) -> str:
    """What an open question asks after, or an empty string."""
    having = _having(text, language)
    return next((f.name for f in propositions(language).facets if fits(f.cues, having)), "")
