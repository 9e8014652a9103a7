"""Negated statements: which are asserted, which only ask for assent, which turn round.

Source: the retry-judgement specification, §3 (logic).
"""

from __future__ import annotations

import re

__all__ = ["denied", "double_negations", "negation_sign"]

#: The negated copula, and what of it may follow a noun or a nominal predicate.
_NOT = (
    r"(?:では|じゃ|でも|では無|じゃ無)(?:なかった|なくって|なくて|なければ|なきゃ|ない|無い|ねえ|ねぇ|ねー|なく|"
    r"(?:は|も)?(?:ありません|ございません|あるまい))"
)
#: After a negation: it is a question, a tag or a guess. Longer forms stand before their parts.
_TAG = re.compile(
    r"(?:ん|の)?(?:です|でした|でしょう|だろう|だろ|でしょ)?(?:よね|よな|よねえ)(?:[ぇえー〜。！？、…\s]|って|$)"
    r"|(?:ん|の)?(?:です|でしょう|だろう|でした)?か(?:[ぁあー]*な[ぁあー]*|しら|ね|ねえ|い)?(?:[。！？、…〜」）\s]|って|と|も|$)"
    r"|(?:ん|の)?(?:です|でしょう|だろう|でしょ|だろ)?[ぁあー]*？"
    r"|の[ぉおー〜]*(?:[。！、…\s]|$)"
    r"|(?:ん|の)?(?:だ|でし)?っけ"
)
_PREFIXED = re.compile(
    r"(?:まだ|いまだ|未だ)[^。！？\n]{0,20}?"
    r"(?:未(?!来|亡人|満|曾有|曽有)|不(?!動産|思議|良少)|非(?!常)|無(?!料|線|地|人島|印|礼講))"
    rf"[\u3400-\u9fff々]{{1,5}}(?:的)?(?:なの|なん|なもの|な状態|の状態|状態|扱い|のまま|な人|の人)?{_NOT}"
)
_TURNED = re.compile(
    r"(?:ない|ません|ぬ|無い)(?:という|って)?(?:こと|わけ|訳|もの|の)(?:は|が|も|では|じゃ)?なく(?:は|も)?"
    r"(?:なかった|ない|無い|ありません)"
    r"|なく(?:は|も)?なく(?:は|も)?(?:なかった|ない|無い|ありません)"
    r"|(?:ない|ません)(?:という|って)?(?:こと|わけ|訳)(?:は|も|では|じゃ)(?:ない|ありません)"
    r"(?:という|って)?(?:こと|わけ|訳)(?:は|も|では|じゃ)(?:ない|ありません)"
)
#: Cheap signs that there is anything to find.
_PREFIX, _CHAIN = re.compile("[未不非無]"), re.compile("なく(?:は|も)?[なあ無]")
#: Finds nothing in a line without double negations: most lines.
negation_sign = re.compile("まだ|未だ|なく|ないこと|ないわけ").search
_DENIAL = re.compile(
    rf"(?:な|だ|なの|だという|という|って|とは|とまで|する|した|して|している|してる|の)?"
    r"(?:わけ|訳|ほど|もの|こと|つもり|の)?"
    rf"(?:(?:とは|とまでは)?{_NOT}|とは(?:限|かぎ|言|い|思|おも)[^。！？、\n]{{0,4}}(?:ない|ません)"
    r"|(?:など|なんか|なんて|は|も|を|とか)?(?:し|した|して|する|してい|してる|している)?(?:こと|つもり|気|予定|わけ|必要)?(?:は|も|が)?"
    r"(?:しない|しません|してない|してません|していない|していません|してなかった|していなかった|ない|なかった|ありません|ないです|せず|せずに))"
)


def double_negations(text: str) -> list[tuple[int, int]]:
    """Spans of asserted double negations that invert what is meant.

    「まだ未成年じゃない」: まだ before a word in 未, 不, 非 or 無 before a negated copula; and
    chains of three negations (「行かないことはなくない」). Tag questions and guesses
    (「じゃない？」「じゃないかな」) are none, nor are plain litotes (「ないことはない」).
    """
    found: list[tuple[int, int]] = []
    if ("まだ" in text or "未だ" in text) and _PREFIX.search(text):
        found += (m.span() for m in _PREFIXED.finditer(text))
    if ("なく" in text and _CHAIN.search(text)) or "ないこと" in text or "ないわけ" in text:
        found += (m.span() for m in _TURNED.finditer(text))
    return [span for span in found if _TAG.match(text, span[1]) is None]


def denied(text: str, end: int, stop: int | None = None) -> bool:
    """Whether what ends at `end` is denied before `stop`: 「別居してるわけじゃない」.

    Tag questions (「別居じゃない？」) deny nothing.
    """
    found = _DENIAL.match(text, end, len(text) if stop is None else stop)
    return found is not None and _TAG.match(text, found.end()) is None
