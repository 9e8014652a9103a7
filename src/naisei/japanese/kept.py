"""What a rewritten question must keep of what was said: names, numbers, dates, negations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from naisei.japanese.morph import Token, tokens
from naisei.japanese.normal import is_japanese, normalise
from naisei.japanese.quantities import missing

__all__ = ["Lost", "lost"]


@dataclass(frozen=True, slots=True)
class Lost:
    """Something that was said and is not in the rewriting."""

    kind: Literal["entity", "number", "date", "negation"]
    text: str


_QUOTED = re.compile(r"[「『\"“]([^」』\"”]{1,40})[」』\"”]")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9+#._-]*[A-Za-z0-9+#]|[A-Za-z]+\d+")
_KATAKANA = re.compile(r"[ァ-ヶー]{3,}")
#: The name of an era is part of a number: 令和6年 is 2024年.
_ERA = re.compile("(?:令和|平成|昭和)(?=[元0-9〇一二三四五六七八九十])")
_WHEN = re.compile(
    "一昨日|昨日|今日|本日|明日|明後日|先週|今週|来週|再来週|先月|今月|来月|再来月|去年|昨年|今年度|来年度|昨年度|今年|"
    "来年|再来年|上期|下期|年末|年始|月末|月初|年度末|[月火水木金土日]曜|上旬|中旬|下旬|午前|午後"
)


def _words(name: str) -> frozenset[str]:
    return frozenset((files("naisei.japanese") / name).read_text(encoding="utf-8").split())


#: Nouns that say nothing of the matter: a rewriting may drop them.
_HOLLOW = _words("hollow_nouns.txt")
#: Words of asking in English capitals and the like.
_PLAIN = _words("plain_english.txt")
_NEGATIVE = frozenset({"ない", "無い", "ず", "ぬ", "まい"})
#: Negations in form only: requests, duties, excuses, and not knowing the answer.
_FORMAL = re.compile(
    r"(?:いただけ|頂け|もらえ|貰え|くれ|くださ|下さ)(?:ない|ません|なか)|すみません|すいません|かもしれ(?:ない|ません)|"
    r"(?:なければ|なきゃ|ないと|なくては|なくちゃ)(?:いけ|なら|だめ|駄目)?(?:ない|ません)?|"
    r"(?:分|わ)か(?:ら|り)(?:ない|ません|なく|ず)|(?:知|し)(?:ら|り)(?:ない|ません|なく|ず)|"
    r"(?:じゃ|では)(?:ない|ありません)(?:です)?(?:か|でしょうか)|に(?:も)?かかわらず|"
    r"(?:ない|ません)でしょうか|"
    r"ありませんか|ませんか|ないですか|(?:じゃ|では)ない？|少なく|とんでもな|間違いな|仕方な|しょうがな"
)
_ENGLISH_NOT = re.compile(r"\b(?:not|never|without|cannot|no longer|neither|nor)\b|n't\b", re.I)


def lost(said: str, rewritten: str) -> tuple[Lost, ...]:
    """What of `said` is missing in `rewritten`; empty if everything is kept.

    entity: quoted words, Latin words, proper nouns, katakana words and compounds of nouns; the
    words of a compound may stand apart. number, date: by value (三日 is 3日). negation: each
    predicate that is denied; polite requests, duties (なければならない) and 「わかりません」 are
    none. Kept means kept as said: a name replaced by a synonym counts as lost.
    """
    found = [Lost("number", q.value + q.unit) for q in missing(said, rewritten)]
    folded = normalise(rewritten)
    found += [
        Lost("date", w) for w in dict.fromkeys(_WHEN.findall(normalise(said))) if w not in folded
    ]
    found += _entities(said, rewritten)
    found += _negations(said, rewritten)
    return tuple(found)


def _entities(said: str, rewritten: str) -> list[Lost]:
    target = normalise(rewritten)
    lower = target.lower()
    forms = {t.form for t in tokens(target)} | {t.surface for t in tokens(target)}
    folded = normalise(said)
    gone: dict[str, None] = {}
    for name in (*_QUOTED.findall(folded), *_KATAKANA.findall(folded)):
        if name.lower() not in lower:
            gone[name] = None
    for name in _LATIN.findall(folded):
        named = name.lower() not in _PLAIN and (is_japanese(folded) or _stands_out(name))
        if named and name.lower() not in lower:
            gone[name] = None
    if is_japanese(folded):
        for chain in _compounds(tokens(_ERA.sub("", folded))):
            text = "".join(t.surface for t in chain)
            if text in target or any(text in name for name in gone):
                continue
            if any(t.form not in forms and t.surface not in target for t in chain):
                gone[text] = None
    return [Lost("entity", name) for name in gone]


def _stands_out(name: str) -> bool:
    """In English text: capitals, digits or marks make a name of a word."""
    return any(c.isupper() or not c.isalpha() for c in name)


def _compounds(found: tuple[Token, ...]) -> list[list[Token]]:
    """Runs of nouns of two words or more, and proper nouns."""
    chains: list[list[Token]] = [[]]
    for token in found:
        if token.pos in ("名詞", "接尾辞", "接頭辞") and token.detail not in ("助動詞語幹", "数詞"):
            chains[-1].append(token)
        else:
            chains.append([])
    kept = []
    for chain in chains:
        solid = [t for t in chain if t.form not in _HOLLOW and t.pos == "名詞"]
        if len(solid) >= 2 or any(t.detail == "固有名詞" for t in solid):
            kept.append(solid)
    return kept


def _negations(said: str, rewritten: str) -> list[Lost]:
    if not is_japanese(said):
        if _ENGLISH_NOT.search(said) and not _ENGLISH_NOT.search(rewritten):
            return [Lost("negation", _ENGLISH_NOT.search(said)[0])]  # type: ignore[index]
        return []
    there = denied(rewritten)
    return [Lost("negation", word) for word in denied(said) if word not in there]


def denied(text: str) -> tuple[str, ...]:
    """Dictionary forms of what is denied: 使えない → 使う, Zoomではなく → Zoom, 未提出 → 提出."""
    plain = _FORMAL.sub("、", normalise(text))
    found: dict[str, None] = {}
    words = tokens(plain)
    for at, token in enumerate(words):
        if (
            token.surface in ("未", "不", "非", "無")
            and token.pos == "接頭辞"
            and at + 1 < len(words)
        ):
            found[words[at + 1].form] = None
        elif _denies(words, at) and (what := _predicate(words, at)):
            found[what] = None
    return tuple(found)


def _denies(words: tuple[Token, ...], at: int) -> bool:
    token = words[at]
    if token.lemma in _NEGATIVE and token.pos in ("助動詞", "形容詞"):
        return True
    # ません: ます followed by ん
    return token.surface == "ん" and at > 0 and words[at - 1].lemma == "ます"


#: Words that carry the denial of what stands before them: 取得でき|ない, 使っ|て|い|ない.
_LIGHT = frozenset({"為る", "出来る", "居る", "有る", "成る", "れる", "られる", "せる", "させる"})


def _predicate(words: tuple[Token, ...], at: int) -> str:
    for token in reversed(words[:at]):
        if token.pos in ("助動詞", "助詞", "補助記号", "空白", "接尾辞"):
            if token.surface in "、。":
                return ""
            continue
        if token.form in _LIGHT or token.lemma in ("する", "できる", "いる", "ある", "なる"):
            continue
        return _stem(token)
    return ""


def _stem(token: Token) -> str:
    """One form for 使う and 使える."""
    form = token.form
    if token.pos == "動詞" and len(form) >= 2 and form.endswith("る") and form[-2] in _POTENTIAL:
        return form[:-2] + _POTENTIAL[form[-2]]
    return form


_POTENTIAL = dict(zip("えけげせてねべめれ", "うくぐすつぬぶむる", strict=True))
