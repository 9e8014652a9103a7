"""Scope of an assertion: negated, double-negated, quoted, supposed or wished statements.

Decides whether an expression in a line (「一人暮らし」) is asserted about the two speakers. Used by
the director's checks of setting and logic; kept separate because it parses Japanese. Source: the
retry-judgement specification, §3 (setting, logic).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

#: The negated copula, and its forms after a noun or a nominal predicate.
_NOT = (
    r"(?:では|じゃ|でも|では無|じゃ無)(?:なかった|なくって|なくて|なければ|なきゃ|ない|無い|ねえ|ねぇ|ねー|なく|"
    r"(?:は|も)?(?:ありません|ございません|あるまい))"
)
#: Endings that turn a negation into a question, a tag or a guess. Longer forms come first.
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
#: Cheap pre-checks for the two kinds of double negation.
_PREFIX, _CHAIN = re.compile("[未不非無]"), re.compile("なく(?:は|も)?[なあ無]")
#: Cheap pre-check: no match for most lines, which have no double negation.
negation_sign = re.compile("まだ|未だ|なく|ないこと|ないわけ").search
_DENIAL = re.compile(
    rf"(?:な|だ|なの|だという|という|って|とは|とまで|する|した|して|している|してる|の)?"
    r"(?:わけ|訳|ほど|もの|こと|つもり|の)?"
    rf"(?:(?:とは|とまでは)?{_NOT}|とは(?:限|かぎ|言|い|思|おも)[^。！？、\n]{{0,4}}(?:ない|ません)"
    r"|(?:など|なんか|なんて|は|も|を|とか)?(?:し|した|して|する|してい|してる|している)?(?:こと|つもり|気|予定|わけ|必要)?(?:は|も|が)?"
    r"(?:しない|しません|してない|してません|していない|していません|してなかった|していなかった|ない|なかった|ありません|ないです|せず|せずに))"
)


def double_negations(text: str) -> list[tuple[int, int]]:
    """Spans of asserted double negations that invert the intended meaning.

    「まだ未成年じゃない」: まだ before a word in 未, 不, 非 or 無 before a negated copula; and
    chains of three negations (「行かないことはなくない」). Tag questions and guesses
    (「じゃない？」「じゃないかな」) do not count, nor do plain litotes (「ないことはない」).
    """
    found: list[tuple[int, int]] = []
    if ("まだ" in text or "未だ" in text) and _PREFIX.search(text):
        found += (m.span() for m in _PREFIXED.finditer(text))
    if ("なく" in text and _CHAIN.search(text)) or "ないこと" in text or "ないわけ" in text:
        found += (m.span() for m in _TURNED.finditer(text))
    return [span for span in found if _TAG.match(text, span[1]) is None]


def denied(text: str, end: int, stop: int | None = None) -> bool:
    """Whether the expression ending at `end` is denied before `stop`: 「別居してるわけじゃない」.

    Tag questions (「別居じゃない？」) do not deny.
    """
    found = _DENIAL.match(text, end, len(text) if stop is None else stop)
    return found is not None and _TAG.match(text, found.end()) is None


_STOP = re.compile(r"[。！？\n]")
_REACH = 60
_SELF = re.compile(
    r"私|わたし|あたし|うちら|僕|俺|二人|ふたり|お互い|それぞれ|姉妹|姉|妹|あなた|あんた|きみ|(?<![一-鿿])君|(?<!い)やな(?!い)|あゆ"
)
_SUPPOSED = re.compile(
    r"(?:を|が|に|も)?(?:し|始め|はじめ|なっ|やっ|だっ|行っ|来|すると|するとし|するんだっ|し始め)?"
    r"(?:たら|だったら|ければ|れば|なら|とすれば|としたら|場合)|すれば|するなら|するとしたら|する(?:とき|時)(?:が来|には)"
)
_WISH = re.compile(
    r"(?:を|も|が|って|に|とか)?(?:、)?(?:し|やっ|始め|はじめ|行っ|行き|来)?(?:て|って)?(?:み|み[てる])?た(?:い|く|かっ|がっ)"
    r"|(?:を|も|とか)?(?:し|始め)(?:て)?(?:み)?よう(?:かな|か|と思|って思|と考)|(?:に|って|は|が)?(?:ちょっと)?(?:憧れ|あこがれ|夢)"
)
_TERM = re.compile(
    r"」?(?:という|って|っていう|と言う)(?:言葉|単語|語|漢字|文字|表現|用語|字|響き|ワード)|」?の(?:意味|定義|対義語|反対語|読み方|漢字|英語)"
    r"|」?とは、?(?!違)|」?は(?:英語|漢字)で"
)
_PAST_BEFORE = re.compile(
    r"昔|むかし|以前|かつて|前は|前に|子どもの頃|子供の頃|学生時代|学生の頃|あの頃|去年まで|一昨年|数年前|[0-9一二三四五六七八九十]年前"
)
_PAST_AFTER = re.compile(
    r"(?:を|も|が)?(?:し|して|してい|だっ|でし|始め|やって|やってい|続け|続けてい|して)?(?:まし)?た(?:[^い]|$)"
    r"|(?:時期|頃|ころ|こと)が?(?:も)?(?:あっ|あり)|時代|経験|だった|でした|(?:の)?(?:頃|時期|とき|時)(?:は|に|の)"
)


def excuse(
    text: str, start: int, end: int, allowed: Collection[str], others: tuple[str, ...]
) -> str:
    """The first of the `allowed` excuses that applies to text[start:end], or "".

    `negated`: it is denied. `term`: the word itself is the topic. `hypothetical`: if, when. `wish`:
    wanted or attempted. `past`: in the past tense. `others`: one of the words in `others` is its
    subject or the noun it describes, and neither speaker is named next to it.
    """
    left, right = _sentence(text, start, end)
    before, after = text[left:start], text[end:right]
    if "negated" in allowed and denied(text, end, right):
        return "negated"
    if "term" in allowed and (
        _TERM.match(after) or (before.endswith("「") and after.startswith("」") and _quoted(after))
    ):
        return "term"
    if "hypothetical" in allowed and (
        _SUPPOSED.match(after)
        or ("もし" in before and re.search(r"たら|なら|れば|ても|でも", after))
    ):
        return "hypothetical"
    if "wish" in allowed and _WISH.match(after):
        return "wish"
    if "past" in allowed and _PAST_BEFORE.search(before) and _PAST_AFTER.match(after):
        return "past"
    if "others" in allowed and _of_others(before, text[start:end], after, others):
        return "others"
    return ""


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Bounds of the sentence around a span, at most `_REACH` characters on each side."""
    left = max(0, start - _REACH)
    for before in _STOP.finditer(text, left, start):
        left = before.end()
    after = _STOP.search(text, end, end + _REACH)
    return left, after.end() if after else min(len(text), end + _REACH)


def _quoted(after: str) -> bool:
    return re.match(r"」(?:とか|って|という|と|の|は|なんて|も)", after) is not None


@lru_cache(maxsize=64)
def _people(others: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns for other people: as the noun right after an expression, and as a subject."""
    words = "|".join(map(re.escape, sorted(others, key=len, reverse=True)))
    described = re.compile(
        r"(?:を|も)?(?:して|してい|始め|はじめ|続け|中|する|し始め)?"
        r"(?:い?る|た|ている|てる|たばかり)?(?:の|な|する|、)?"
        rf"(?:[^。！？、はがを\n]{{0,4}})?(?:{words})"
    )
    subject = re.compile(
        rf"(?:{words})(?:さん|ちゃん|くん|たち|達|の子|の人)?"
        r"(?:が|は|も|って|、|なんて|だって|なら|の(?!家|うち))"
    )
    return described, subject


def _of_others(before: str, hit: str, after: str, others: tuple[str, ...]) -> bool:
    if not others:
        return False
    described, subject = _people(others)
    if described.match(after):
        return _SELF.search(before) is None
    subjects = list(subject.finditer(before))
    if not subjects:
        return False
    # 「友達と違って私は」: the person named after the others is the subject.
    return _SELF.search(before, subjects[-1].end()) is None and _SELF.search(hit) is None
