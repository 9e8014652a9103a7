"""Whether what a question supposes is so, for a given need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from naisei.clarify.simulator.knowledge import Cue, Proposition, fits, folded, propositions
from naisei.japanese.morph import Token, tokens
from naisei.japanese.questions import words

#: Nouns that add nothing to what is asked.
_LIGHT_WORDS = (
    "物 こと 事 感じ 気分 今 それ 其れ 此れ これ あれ 何 予定 状態 状況 必要 為 方 時 後 "
    "前 手元 場所 自分 貴方 あなた 際 途中 最中 所 ところ 関係 気 中 用 意味 訳 類 系 "
    "何か 誰 どこ 一つ 少し 一番 積もり 事柄 ほう よう 様 ため 目的 用途 理由 人 誰か 皆 "
    "方面 近く 辺り 周り 回り 上 下 身 まま 儘 家 部屋 ご自身 次 さっき 先程 本 話 希望 "
    "要望 問題 お手伝い 手伝い 使用 利用 準備 用意 関連 種類 タイプ もの "
)
LIGHT = frozenset(_LIGHT_WORDS.split())


@dataclass(frozen=True, slots=True)
class Judged:
    """truth: `yes`, `no`, `maybe`, `mixed` (partly so), or `unknown`. facet: what to tell."""

    truth: str
    facet: str = "state"


@lru_cache(maxsize=16384)
def having(text: str, language: str) -> frozenset[str]:
    """The words of a text as cues spell them, particles and auxiliaries among them."""
    if language == "en":
        return frozenset(words(text))
    # 「手を焼く」 has nothing to do with baking.
    found = tokens(text.replace("手を焼", "困っ"))
    return folded(
        t.form
        for before, t in zip((None, *found), found, strict=False)
        if t.pos != "補助記号" and not _auxiliary(before, t)
    )


def _auxiliary(before: Token | None, token: Token) -> bool:
    """Whether it is the しまう of 「食べてしまう」, which puts nothing away."""
    return token.form == "仕舞う" and before is not None and before.surface in ("て", "で")


#: Words of a cue that only say how something is meant.
_MANNER = frozenset(
    {"物", "こと", "事", "ところ", "所", "予定", "た", "関係", "為る", "居る", "です"}
)
_DESIRE = frozenset({"たい", "欲しい", "気分", "必要"})


def _longest(cues: list[Cue]) -> set[Cue]:
    """Cues that are not part of another; among equals, those that speak of a wish."""
    return {c for c in cues if not any(_within(c, other) for other in cues)}


def _within(cue: Cue, other: Cue) -> bool:
    if cue < other:
        return True
    core, outer = cue - _MANNER - _DESIRE, other - _MANNER - _DESIRE
    if core == outer:
        return bool(other & _DESIRE) and not cue & _DESIRE
    return bool(core) and core < outer


@lru_cache(maxsize=16384)
def matched(text: str, language: str) -> tuple[Proposition, ...]:
    """What is asked or said in a text: its propositions, those within longer ones left out."""
    held = having(text, language)
    known = propositions(language)
    hits = known.told(held)
    longest = _longest([cue for cue, _ in hits])
    return tuple(known.items[n] for n in sorted({n for cue, n in hits if cue in longest}))


def leads_nowhere(text: str, language: str) -> bool:
    """Whether it is about something that has no bearing on any need."""
    held = having(text, language)
    nowhere = fits(propositions(language).outside, held)
    if not nowhere:
        return False
    told = propositions(language).told(held)
    return not any(out < cue for out in nowhere for cue, _ in told)


def _strange_object(text: str, language: str) -> bool:
    """Whether it speaks of a thing that no proposition knows: then a yes would be a guess."""
    if language == "en":
        return False
    vocabulary = propositions(language).vocabulary
    found = tokens(text)
    for token, after in pairwise(found):
        if (
            token.pos == "名詞"
            and token.detail in ("普通名詞", "固有名詞")
            and after.surface in ("を", "が", "に", "の")
            and not (folded([token.form, token.surface]) & (vocabulary | LIGHT))
        ):
            return True
    return False


def _listed(text: str, language: str) -> frozenset[str]:
    """The words joined by や, とか or "or"; empty where there is no such list."""
    found = tokens(text) if language == "ja" else ()
    for at, token in enumerate(found):
        if token.pos == "助詞" and token.surface in ("や", "とか") and at > 0:
            after = next((t.form for t in found[at + 1 :] if t.content), "")
            return folded([found[at - 1].form, after])
    return frozenset()


def judge(text: str, need: int, language: str) -> Judged:
    """The truth of what a text supposes about a need; `unknown` where nothing in it is known."""
    asked = matched(text, language)
    if not asked:
        return Judged("unknown")
    truths = {p.name: p.truth(need) for p in asked}
    values = set(truths.values())

    def told(truth: str) -> str:
        # A fact of the need itself before one that only a list made true.
        holding = [p for p in asked if truths[p.name] == truth]
        return next((p.facet for p in holding if p.truth(need) == truth), holding[0].facet)

    if len(asked) > 1 and (listed := _listed(text, language)):
        # 「飲み物や食べ物に…」: of the things listed, one is enough.
        among = [p.name for p in asked if any(c & listed for c in p.cues)]
        if any(truths[n] == "yes" for n in among):
            for name in among:
                truths[name] = "yes"
            values = set(truths.values())
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
    held = having(text, language)
    return next((f.name for f in propositions(language).facets if fits(f.cues, held)), "")


#: 「どうしたの」「というと？」 asks for whatever comes first.
WHAT_IS_UP = re.compile(
    r"どう(?:し|なさい)(?:た|まし)|(?:って|と)(?:いう|言う)と[？。]?$|どういう(?:意味|こと)|何のこと|"
    r"\bwhat(?:'s| is) (?:up|the matter|wrong|going on)|\bwhat do you mean"
)
TELL_ME = re.compile(r"\btell me (?:a little |a bit )?(?:more|about|what|why|how)\b")
