"""A negated yes/no question taken apart into what it asks and its denial.

A bare はい to 「飲まないんですか」 can be read either way, so whoever answers says the proposition
in full: 「はい、飲まないんです」「いえ、飲むんです」. English has no such need.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from naisei.japanese.morph import Token, is_japanese, normalise, tokens
from naisei.japanese.questions import LACKING
from naisei.lengths import cached_text


@dataclass(frozen=True, slots=True)
class Restated:
    """The two sides of a negated question, as plain clauses without an end: 「まだ飲む」 and
    「もう飲まない」 of 「もう飲まないんですか」. supposed: it supposes the positive one, as
    「眠いんじゃないですか」 does. judged: the positive clause without 「…ないと困る」."""

    positive: str
    negative: str
    judged: str
    supposed: bool = False


_AFTER_NOT = re.compile(
    r"(?:という(?:こと|わけ)|って(?:こと|わけ))?(?:の|(?<!ませ)ん)?(?:です|でしょう|でした|だろう)?"
    r"(?:よ?ね|か|かな|の|かしら|っけ|なあ?)*$"
)
_SUPPOSED = re.compile(r"(?<!わけ)(?<!訳)(?P<n>の|ん)?(?:では|じゃ)(?:ない|ありません)$")
_NO_REASON = re.compile(r"(?:という)?(?:わけ|訳|こと)(?:では|じゃ)?(?:ない|ありません)$")
_NO_NEED = re.compile(
    r"(?P<stem>な)くて(?:も)?(?:いい|よい|よろしい|結構|平気|大丈夫)(?:でしょう|です)?$"
)
#: Adverbs that go with a negation → those that go with what is denied.
_WITH_NOT = {
    "もう": "まだ", "まだ": "もう", "何も": "何か", "なにも": "何か", "誰も": "誰か", "あまり": "",
    "べつに": "", "別に": "", "そんなに": "", "全然": "", "ぜんぜん": "", "特に": "",
}  # fmt: skip


# 「もうすぐ」 is another word.
_WITH_A_NOT = re.compile("|".join(f"{w}(?!すぐ)" if w == "もう" else w for w in _WITH_NOT))
_OPENING = frozenset({"感動詞", "接続詞", "補助記号", "助詞", "副詞"})


@cached_text(4096)
def restated(text: str) -> Restated | None:
    """The proposition of a negated or supposing yes/no question in Japanese, both ways.

    None where its predicate is not understood, or it speaks to the person with honorifics.
    """
    asked = re.sub(r"(?:もしか|ひょっと)(?:して|すると|したら)、?", "", normalise(text))
    asked = asked.rstrip("。？！… 、")
    # 「絵はかかないのかな、ロケットに」: what follows the question is put aside.
    asked = re.sub(r"(?<=[かのなねん])、[^、。]{1,10}$", "", asked)
    for opening in re.split(r"(?<=、)", asked)[:-1]:
        if any(t.pos not in _OPENING for t in tokens(opening)):
            break
        asked = asked.removeprefix(opening)
    if not is_japanese(asked) or _HONORIFIC.search(asked):
        return None
    head = _AFTER_NOT.sub("", asked)
    if LACKING.search(head):
        return None
    if found := _NO_NEED.search(head):
        bare = head[: found.start()]
        judged = _denial(f"{bare}ない")
        return judged and Restated(f"{bare}ないと困る", f"{bare}なくていい", judged.positive)
    for frame in (_SUPPOSED, _NO_REASON):
        if (found := frame.search(head)) and (body := head[: found.start()]):
            name = tokens(body)[-1].pos in ("名詞", "形状詞", "接尾辞", "代名詞")
            negative = f"{body}{'' if name else 'わけ'}ではない"
            return Restated(body, negative, body, frame is _SUPPOSED)
    return _denial(head)


_HONORIFIC = re.compile(
    r"召し上が|いらっしゃ|おっしゃ|ご存じ|ご存知|なさ[るいら]|ご自分|ご自身|あなた|お[ぁ-ん一-龠]{1,4}(?:にな[らっる]|です)|"
    r"ください|くださ"
)
_PAST_ENDS = {
    "う": "った", "つ": "った", "る": "った", "む": "んだ", "ぶ": "んだ", "ぬ": "んだ",
    "く": "いた", "ぐ": "いだ", "す": "した",
}  # fmt: skip


def _denial(head: str) -> Restated | None:
    """By the word before the last ない: 「渇いていない」 → 「渇いている」."""
    cut = tokens(head)
    at = next((i for i in range(len(cut) - 1, 0, -1) if cut[i].form in ("ない", "無い", "ず")), 0)
    rest = [t.form for t in cut[at + 1 :]]
    if not at or any(f not in ("た", "です", "ます") for f in rest):
        return None
    past = "た" in rest
    word = cut[at - 1]
    if word.form == "ます":
        at, word = at - 1, cut[at - 2] if at > 1 else word
    if word.surface in ("は", "が", "も") and at > 1:
        # 「割れてはいない」 aside: 「心配はない」, 「焦げたことはない」.
        kept, verb = head[: word.end], "あった" if past else "ある"
    elif word.pos in ("動詞", "形容詞", "助動詞") and word.form not in ("だ", "です", "た"):
        kept = head[: word.start]
        verb = _past_of(word) if past else word.lemma
        kept = re.sub(r"(?<=て)は$", "", kept)
    else:
        return None
    body, end = head[: cut[at].start], "なかった" if past else "ない"
    if head[cut[at].start :].startswith(("ませ", "あり")):
        body = head[: word.start] + _stem_before_not(word) if word.pos == "動詞" else body
    positive = _turned(kept) + verb
    return Restated(positive, body + end, positive)


def _past_of(word: Token) -> str:
    lemma = word.lemma
    if word.pos == "形容詞" or lemma == "たい":
        return lemma[:-1] + "かった"
    if lemma in ("する", "為る"):
        return "した"
    if lemma in ("来る", "くる"):
        return lemma[:-2] + ("来た" if "来" in lemma else "きた")
    if lemma.endswith("行く") or lemma == "いく":
        return lemma[:-1] + "った"
    if _ichidan(word):
        return lemma[:-1] + "た"
    return lemma[:-1] + _PAST_ENDS.get(lemma[-1], "た")


def _ichidan(word: Token) -> bool:
    """Whether its stem is its lemma without る: 食べ, 見, られ."""
    return word.lemma.endswith("る") and word.surface == word.lemma[:-1]


_BEFORE_NOT = dict(zip("うつるむぶぬくぐす", "わたらまばなかがさ", strict=True))


def _stem_before_not(word: Token) -> str:
    """What stands before ない: 飲む → 飲ま, 食べる → 食べ, いる → い; ある → nothing."""
    lemma = word.lemma
    if lemma in ("ある", "有る"):
        return ""
    if lemma in ("する", "為る"):
        return "し"
    if lemma in ("来る", "くる"):
        return lemma[:-1]
    if lemma in ("いる", "てる") or _ichidan(word):
        return lemma[:-1]
    return lemma[:-1] + _BEFORE_NOT.get(lemma[-1], "")


def _turned(kept: str) -> str:
    """What stands before a predicate that is not denied any more."""
    return _WITH_A_NOT.sub(lambda found: _WITH_NOT[found[0]], kept)
