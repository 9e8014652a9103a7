"""Parses a question: its form (yes/no, a choice, or open), facet and words.

Japanese uses Sudachi's words, English simple rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from naisei.japanese.alternatives import WH, Asks, alternatives, joins, picks
from naisei.japanese.morph import Token, is_japanese, normalise, tokens
from naisei.japanese.sentences import sentences
from naisei.lengths import cached_text

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_IRREGULAR = {
    "ate": "eat",
    "brought": "bring",
    "cold": "cold",
    "did": "do",
    "done": "done",
    "drank": "drink",
    "drunk": "drunk",
    "going": "go",
    "gone": "gone",
    "got": "get",
    "used": "use",
    "using": "use",
    "messy": "messy",
    "movies": "movie",
    "wiping": "wipe",
    "baking": "bake",
    "charging": "charge",
    "preparing": "prepare",
    "going to": "go",
    "thing": "thing",
    "things": "thing",
    "something": "something",
    "anything": "anything",
    "bring": "bring",
    "during": "during",
    "evening": "evening",
    "morning": "morning",
}


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """`cooking` → `cook`, `snacks` → `snack`. Rough: for matching one word list to another."""
    if word in _IRREGULAR or "'" in word:
        return _IRREGULAR.get(word, word)
    for suffix, back in (
        ("ies", "y"),
        ("ing", ""),
        ("ied", "y"),
        ("ed", ""),
        ("es", ""),
        ("s", ""),
    ):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            base = word[: -len(suffix)] + back
            if suffix == "es" and not base.endswith(("s", "x", "z", "ch", "sh", "o")):
                base += "e"
            if (
                suffix in ("ing", "ed")
                and len(base) > 3
                and base[-1] == base[-2]
                and base[-1] not in "ls"
            ):
                base = base[:-1]
            return base
    return word


@cached_text(8192)
def words(text: str) -> tuple[str, ...]:
    """The words of an English text in order, lower-cased and stemmed. `don't` stays whole."""
    return tuple(stem(w) for w in _WORD.findall(normalise(text).lower()))


Form = Literal["polar", "alternative", "wh", "none"]


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question.

    text: the question itself, normalised, without sentences that ask nothing. form: `none` for a
    text without a question. asks: the facet of an open question. content: content words in
    normalised form (English: stems). sides: for a choice only, the alternatives as texts, at least
    two; tail: the shared predicate after them. negated: the predicate is negated. indefinite: it
    contains 何か, どこか, 誰か, something, anything.
    """

    text: str
    form: Form
    asks: Asks = ""
    content: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    negated: bool = False
    indefinite: bool = False
    japanese: bool = True
    tail: str = ""


_ASKING_END = re.compile(
    r"(?:か|かな|かね|かしら|の|っけ|だろう|でしょう|って|けど|感じ|ん)?？$|か[。…！]*$|かな。?$|っけ。?$|かしら。?$|かい。?$|"
    r"(?:よね|でしょ|(?:です|だ)ね|ほう|方|のこと|の話|やつ|のん)[。…！]*$"
)
_REQUEST = re.compile(
    r"教えて|聞かせて|おしえて|説明して|話して(?:くだ|くれ|もら|いただ)|言って(?:くだ|くれ|もら|いただ)|"
    r"(?:聞い|伺っ|うかがっ)ても(?:いい|よろし|構)|もう少し詳しく"
)
_NEGATED = re.compile(
    r"(?:な(?:い|かった)|ません(?:でした)?|ず)(?:という(?:こと|わけ)|って(?:こと|わけ))?(?:の|ん)?(?:です|でしょう|だろう)?(?:か|の|かな)?？?。?$"
)
#: ない without a negative meaning.
LACKING = re.compile(
    r"(?:物足り|足り|つまら|たまら|もったい|落ち着か|間に合わ|しょうが|仕方が?|危|少|頼り|かもしれ|"
    r"(?:な(?:ければ|くては)|ないと|なきゃ|なくちゃ)(?:なら|いけ))な(?:い|く|かった)"
)
_INDEFINITE = re.compile(r"(?:何|なに|なん|どこ|誰|だれ|いつ|どれ|いくつ)か|何らか|なにか")


@cached_text(16384)
def parse(text: str) -> Question:
    """Parse a question; sentences that ask nothing are ignored. Never raises."""
    pauses = re.sub(r"(?:…|\.{2,}|・{2,})+(?=[？?！!。]|$)", "", text.strip())
    asked = normalise(re.sub(r"(?:…|\.{2,}|・{2,})+", "、", pauses)).strip("「」\"' ")
    if not is_japanese(asked):
        return _english(asked)
    parts = _asking(sentences(asked))
    if not parts:
        return Question(asked, "none", "", _content(asked))
    whole = "".join(parts)
    asks = _wh(tokens(whole))
    sides, tail = alternatives(whole)
    form: Form
    if sides:
        form = "alternative"
    elif asks or _REQUEST.search(whole):
        form = "wh"
    else:
        form = "polar"
    return Question(
        whole,
        form,
        asks if form == "wh" else "",
        _content(whole),
        sides,
        denied(whole),
        bool(_INDEFINITE.search(whole)),
        tail=tail,
    )


_SUPPOSING = re.compile(
    r"(?<!わけ)(?<!訳)(?:の|ん)?(?:では|じゃ)(?:ない|ありません)(?:の(?:です)?か?|です(?:か)?|でしょうか)?か?(?:な|ね)?[？?。]*$(?<=[か？])"
)
_STATED_NOT = re.compile(
    r"(?:な(?:い|かった|く)|ません(?:でした)?|ねえ|へん)"
    r"(?:の|ん|って|という|わけ|こと)*(?:です|でした|だ|よ|ね|な|から|けど|し|わ|さ|もん|かな|なあ|ので)*[。！…]*$|"
    # 「飲まん」「知らんのじゃ」, not 「痛いんだ」.
    r"(?<=[わかさばまらきけへせ])ん(?:の|よ|ね|な|から|けど|し|わ|もん|じゃ|のう)*[。！…]*$"
)


def denied(text: str) -> bool:
    """Whether a question or a statement is negated: 「渇いていませんか」「渇いてないよ」, not
    「足りない」 or 「…じゃないですか」. English: by not and n't."""
    if not is_japanese(text):
        # 「Aren't you thirsty?」 assumes that you are.
        asked = r"\w+n't (?:it|you|he|she|they|that|this|there|the|your|we)\b"
        plain = re.sub(rf"^(?:\w+, )?{asked}|, {asked}\??$", "", normalise(text).lower())
        return bool(re.search(r"\b(?:not|never|no)\b|n't", plain))
    bare = LACKING.sub("", normalise(text))
    if re.search(r"なくて(?:も)?(?:いい|よい|よろし|結構|平気|大丈夫)", bare):
        return True
    # 「眠いのではないですか」 assumes; 「眠いんじゃない」「眠いんじゃないよ」 negate.
    bare = _SUPPOSING.sub("か？", bare)
    return bool(_NEGATED.search(bare) or _STATED_NOT.search(bare))


def _asking(every: Sequence[str]) -> list[str]:
    """The asking sentences with their alternatives: 「コップと水筒。どれのこと？」,
    「写真を撮るの。それとも、のどが渇いたの。」"""
    kept = [_asks(s) or (at > 0 and joins(s)) for at, s in enumerate(every)]
    for at in range(1, len(every)):
        if joins(every[at]) or (kept[at] and picks(every[at])):
            kept[at - 1] = True
    return [s for s, keep in zip(every, kept, strict=True) if keep]


def _asks(sentence: str) -> bool:
    return bool(_ASKING_END.search(sentence) or _REQUEST.search(sentence) or _wh(tokens(sentence)))


def _content(text: str) -> tuple[str, ...]:
    return tuple(t.form for t in tokens(text) if t.content)


def _wh(found: tuple[Token, ...]) -> Asks:
    """The first question word that is neither indefinite (何か) nor universal (何も, いつでも)."""
    for i, token in enumerate(found):
        after = found[i + 1].surface if i + 1 < len(found) else ""
        last = found[i + 2].surface if i + 2 < len(found) else ""
        asks = WH.get(token.form) or WH.get(token.lemma)
        if not asks:
            continue
        if (
            after in ("か", "も", "でも", "らか", "にか")
            or (after == "に" and last == "か")
            or (after == "で" and last == "も")
        ):
            continue
        if token.surface == "どう" and after in ("ぞ", "やら", "しても"):
            continue
        if asks == "how" and after == "し" and last == "て":
            return "why" if _why(found[i:]) else "how"
        if asks in ("how", "which") and after in ("くらい", "ぐらい", "ほど"):
            return "how-much"
        if asks == "which" and token.surface == "どの" and after in ("よう", "様"):
            return "how"
        return asks
    return ""


def _why(rest: tuple[Token, ...]) -> bool:
    """Whether どうして means "why", unlike in どうしてほしい (what to do)."""
    return len(rest) < 4 or rest[3].form not in ("欲しい", "貰う", "頂く", "くれる", "差し上げる")


_EN_WH: dict[str, Asks] = {
    "what": "what",
    "which": "which",
    "where": "where",
    "why": "why",
    "how": "how",
    "who": "who",
    "whom": "who",
    "when": "when",
}
_EN_STOP_WORDS = (
    "a an the is are am was were be been do does did you your i me my it its that this there to of "
    "for in on at with and or so would could should can will shall may might have has had some any "
    "right now currently just something anything somebody someone anyone thing like want please "
    "what which where why how who whom when if about"
)
_EN_STOP = frozenset(_EN_STOP_WORDS.split())


def _english(text: str) -> Question:
    parts = [
        s
        for s in sentences(text)
        if s.endswith("?") or re.match(r"(?:please )?(?:tell|describe|explain)", s.lower())
    ]
    whole = " ".join(parts)
    content = tuple(w for w in words(whole or text) if w not in _EN_STOP)
    if not whole:
        return Question(text, "none", "", content, japanese=False)
    lead = re.sub(
        r"^(?:so|and|well|okay|ok|then|could you tell me|may i ask)[, ]+", "", whole.lower()
    )
    # "…, what do you …": the question word may come after an opening clause.
    first = next((w for w in words(lead)[:1]), "")
    opened = re.search(r"(?:^|, )(what|which|where|why|how|who|when)\b", lead)
    asks: Asks = _EN_WH.get(first) or (_EN_WH[opened[1]] if opened else "")
    if asks == "how" and re.search(r"how (?:much|many)", lead):
        asks = "how-much"
    sides: tuple[str, ...] = ()
    if re.search(r",? or\b", lead) and (not asks or asks == "which"):
        # "Which is it, the cup or the glass?"
        offered = re.sub(r"^which\b[^,]*, ", "", whole, flags=re.IGNORECASE)
        parts = [p.strip(" ?,") for p in re.split(r",? or (?:rather )?(?!not\b)", offered)]
        if len(parts) > 1:
            # "the cup, the glass or the bottle": a list, unless clauses follow one another.
            parts[:1] = re.split(r", (?=(?:the|a|an|is|are|do) |\w+$)", parts[0])
        sides = tuple(p for p in parts if p)
    if len(sides) >= 2:
        return Question(whole, "alternative", "", content, sides, japanese=False)
    form: Form = "wh" if asks or not whole.endswith("?") else "polar"
    return Question(
        whole,
        form,
        asks,
        content,
        negated=denied(whole),
        indefinite=bool(re.search(r"\b(?:some|any)(?:thing|one|body|where)\b", whole.lower())),
        japanese=False,
    )
