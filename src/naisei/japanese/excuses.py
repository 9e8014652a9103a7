"""What takes a statement back from the speakers: said of others, denied, supposed, wished.

Decides for an expression inside a line (「一人暮らし」) whether it is stated of the
speakers. In doubt it is: every excuse must show in the words next to the expression.
Source: the retry-judgement specification, §3 (setting).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from naisei.japanese.negation import denied

__all__ = ["excuse"]

_STOP = re.compile(r"[。！？\n]")
_REACH = 60
_SELF = re.compile(
    r"私|わたし|あたし|うちら|僕|俺|二人|ふたり|お互い|それぞれ|姉妹|姉|妹|あなた|あんた|きみ|(?<![一-鿿])君|(?<!い)やな(?!い)|あゆ"
)
_DOING = r"(?:を|も|が|は)?(?:して|始めて|はじめて|続けて|つづけて)?(?:い|し|やって|やってい)?"
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
    """The first of the `allowed` excuses that holds for text[start:end], or "".

    `negated`: it is denied. `term`: the word itself is spoken of. `hypothetical`: if, when.
    `wish`: wanted, tried for. `past`: once, with a past tense. `others`: one of the words
    in `others` is its subject or the noun it describes, and nobody present is named beside.
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
    """Bounds of the sentence around a span, at most `_REACH` characters to each side."""
    left = max(0, start - _REACH)
    for before in _STOP.finditer(text, left, start):
        left = before.end()
    after = _STOP.search(text, end, end + _REACH)
    return left, after.end() if after else min(len(text), end + _REACH)


def _quoted(after: str) -> bool:
    return re.match(r"」(?:とか|って|という|と|の|は|なんて|も)", after) is not None


@lru_cache(maxsize=64)
def _people(others: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Others as the noun that is described, right after an expression, and as a subject."""
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
    # 「友達と違って私は」: whoever is named after the others is the subject.
    return _SELF.search(before, subjects[-1].end()) is None and _SELF.search(hit) is None
