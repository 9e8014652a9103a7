"""Content preservation: which quantities, names and negations a rewriting preserves.

Used by the intent system to check rewritten questions and answers against their source, and by the
director.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from naisei.japanese.morph import Token, is_japanese, normalise, tokens
from naisei.lengths import cached_text


@dataclass(frozen=True, slots=True)
class Quantity:
    """value: plain digits (`50000`, `0.5`). unit: 日, 円, 人, …; empty if none follows."""

    value: str
    unit: str = ""


_DIGIT = {c: n for n, c in enumerate("〇一二三四五六七八九")} | {"零": 0}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "億": 10**8, "兆": 10**12}
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "R": 2018, "H": 1988, "S": 1925}
_UNITS = (
    "年度|年|[かヶケヵ箇]?月|週間|週|日間|日|時間|時|分間|分|秒|人|名|件|回|個|円|ドル|%|パーセント|割|歳|才|泊|"
    "社|台|枚|冊|点|通|倍|階|号|条|項|章|版|つ|GB|MB|TB|KB|km|kg|cm|mm|m"
)
_SAME = {
    "年度": "年",
    "週間": "週",
    "日間": "日",
    "分間": "分",
    "名": "人",
    "才": "歳",
    "パーセント": "%",
    **{f"{c}月": "か月" for c in "かヶケヵ箇"},
}
_ERA_quantities = re.compile(
    r"(令和|平成|昭和|(?<![A-Za-z])[RHS](?=\d))\s*(元|[〇一二三四五六七八九十]+|\d+)(?=年|[./-]\d)"
)
_ISO = re.compile(r"(?<![\d/.-])(\d{4})[/.-](\d{1,2})(?:[/.-](\d{1,2}))?(?![\d/-])")
_YEN = re.compile(r"[¥\\]\s*(\d[\d,.]*\d|\d)")
_SLASH = re.compile(r"(?<![\d/.-])(1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9])(?![\d/])")
_CLOCK = re.compile(r"(?<![\d:])([01]?\d|2[0-4]):([0-5]\d)(?![\d:])")
_ARABIC = re.compile(
    rf"(\d+(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"((?:[十百千万億兆]+(?:\d+[千百十万]*)*)?)\s*({_UNITS})?"
)
#: A kanji number counts only before a unit: 一般 and 第三者 contain none.
_KANJI = re.compile(
    rf"(?<![\u3400-\u9fff第\d])([〇零一二三四五六七八九十百千万億兆]+)({_UNITS})(?![\u3400-\u9fff]*的)"
)
_NO_NUMBER = re.compile(
    "一(?:つ|度|回|日中|人ひとり|点張|号)|一人ひとり|一日も|十分(?![間後前以])|万一"
)


@cached_text(8192)
def quantities(text: str) -> frozenset[Quantity]:
    """All quantities. Dates are split into 年, 月 and 日; 9:00 into 時 and 分."""
    folded = unicodedata.normalize("NFKC", text)
    folded = _ERA_quantities.sub(
        lambda m: str(_ERAS[m[1]] + _whole("1" if m[2] == "元" else m[2])), folded
    )
    folded = _ISO.sub(lambda m: f"{m[1]}年{m[2]}月" + (f"{m[3]}日" if m[3] else ""), folded)
    folded = _YEN.sub(r"\1円", folded)
    folded = _SLASH.sub(lambda m: f"{m[1]}月{m[2]}日", folded)
    folded = _CLOCK.sub(lambda m: f"{m[1]}時" + (f"{m[2]}分" if int(m[2]) else ""), folded)
    found: set[Quantity] = set()
    for m in _ARABIC.finditer(folded):
        found.add(Quantity(_arabic(m[1], m[2]), _unit(m[3])))
    for m in _KANJI.finditer(_NO_NUMBER.sub("＿", folded)):
        found.add(Quantity(str(_whole(m[1])), _unit(m[2])))
    if "半日" in folded:
        found.add(Quantity("0.5", "日"))
    return frozenset(found)


def missing(wanted: str, given: str) -> tuple[Quantity, ...]:
    """Quantities of `wanted` that are missing from `given`.

    A value with a unit matches the same value with the same unit, or without one.
    """
    held = quantities(given)
    values = {q.value for q in held}
    bare = {q.value for q in held if not q.unit}
    lost = (
        q
        for q in quantities(wanted)
        if q.value not in values or (q.unit and q not in held and q.value not in bare)
    )
    return tuple(sorted(lost, key=lambda q: (q.value, q.unit)))


def _unit(found: str | None) -> str:
    return _SAME.get(found or "", found or "")


#: Longest number: floats end at 10^308.
_DIGITS = 100


def _arabic(digits: str, rest: str) -> str:
    """Convert digits and a rest in kanji and digits to plain digits: 5 万, 1 万5千, 3 百."""
    total, section, number = 0.0, 0.0, float(digits.replace(",", "")[:_DIGITS])
    for part in re.findall(r"\d+|[十百千万億兆]", rest):
        if part.isdigit():
            number = float(part[:_DIGITS])
        elif part in _SMALL:
            section += (number or 1) * _SMALL[part]
            number = 0
        else:
            total += (section + number or 1) * _LARGE[part]
            section = number = 0
    total += section + number
    return f"{total:.10g}" if total < 1e10 else str(int(total))


def _whole(text: str) -> int:
    """A whole number in kanji or digits: 二百三十, 二〇二四, 12."""
    if text.isdigit() and text.isascii():
        return int(text)
    if not any(c in _SMALL or c in _LARGE for c in text):
        return int("".join(str(_DIGIT[c]) for c in text))
    total = section = digit = 0
    for c in text:
        if c in _DIGIT:
            digit = digit * 10 + _DIGIT[c]
        elif c in _SMALL:
            section += (digit or 1) * _SMALL[c]
            digit = 0
        else:
            total += (section + digit or 1) * _LARGE[c]
            section = digit = 0
    return total + section + digit


@dataclass(frozen=True, slots=True)
class LostContent:
    """Content missing in the rewriting."""

    kind: Literal["entity", "number", "date", "negation"]
    text: str


_QUOTED = re.compile(r"[「『\"“]([^」』\"”]{1,40})[」』\"”]")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9+#._-]*[A-Za-z0-9+#]|[A-Za-z]+\d+")
_KATAKANA = re.compile(r"[ァ-ヶー]{3,}")
#: An era name is part of a number: 令和6年 is 2024年.
_ERA = re.compile("(?:令和|平成|昭和)(?=[元0-9〇一二三四五六七八九十])")
_WHEN = re.compile(
    "一昨日|昨日|今日|本日|明日|明後日|先週|今週|来週|再来週|先月|今月|来月|再来月|去年|昨年|今年度|来年度|昨年度|今年|"
    "来年|再来年|上期|下期|年末|年始|月末|月初|年度末|[月火水木金土日]曜|上旬|中旬|下旬|午前|午後"
)


def _words(name: str) -> frozenset[str]:
    return frozenset((files("naisei.japanese") / name).read_text(encoding="utf-8").split())


#: Empty nouns that a rewriting may drop.
_HOLLOW = _words("hollow_nouns.txt")
#: Request and question words in English capitals, and similar words.
_PLAIN = _words("plain_english.txt")
_NEGATIVE = frozenset({"ない", "無い", "ず", "ぬ", "まい"})
#: Negative forms that do not negate: requests, duties, apologies, and not knowing the answer.
_FORMAL = re.compile(
    r"(?:いただけ|頂け|もらえ|貰え|くれ|くださ|下さ)(?:ない|ません|なか)|すみません|すいません|かもしれ(?:ない|ません)|"
    r"(?:なければ|なきゃ|ないと(?![きこしっ])|なくては|なくちゃ)(?:いけ|なら|だめ|駄目)?(?:ない|ません)?|"
    r"(?:分|わ)か(?:ら|り)(?:ない|ません|なく|ず)|(?:知|し)(?:ら|り)(?:ない|ません|なく|ず)|"
    r"(?:じゃ|では)(?:ない|ありません)(?:です)?(?:か|でしょうか)|に(?:も)?かかわらず|"
    r"(?:ない|ません)でしょうか|"
    r"ありませんか|ませんか|ないですか|(?:じゃ|では)ない？|少なく|とんでもな|間違いな|仕方な|しょうがな"
)
_ENGLISH_NOT = re.compile(r"\b(?:not|never|without|cannot|no longer|neither|nor)\b|n't\b", re.I)


def lost(said: str, rewritten: str) -> tuple[LostContent, ...]:
    """Return content of `said` that is missing in `rewritten`.

    entity: quoted words, Latin words, proper nouns, katakana words and compound nouns; the words of
    a compound may be separated. number, date: by value (三日 is 3日). negation: each negated
    predicate, except polite requests, duties (なければならない) and 「わかりません」. A name
    replaced by a synonym counts as lost.
    """
    found = [LostContent("number", q.value + q.unit) for q in missing(said, rewritten)]
    folded = normalise(rewritten)
    found += [
        LostContent("date", w)
        for w in dict.fromkeys(_WHEN.findall(normalise(said)))
        if w not in folded
    ]
    found += _entities(said, rewritten)
    found += _negations(said, rewritten)
    return tuple(found)


def _entities(said: str, rewritten: str) -> list[LostContent]:
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
    return [LostContent("entity", name) for name in gone]


def _stands_out(name: str) -> bool:
    """Whether capitals, digits or marks turn an English word into a name."""
    return any(c.isupper() or not c.isalpha() for c in name)


def _compounds(found: tuple[Token, ...]) -> list[list[Token]]:
    """Runs of two or more nouns, and proper nouns."""
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


def _negations(said: str, rewritten: str) -> list[LostContent]:
    if not is_japanese(said):
        if _ENGLISH_NOT.search(said) and not _ENGLISH_NOT.search(rewritten):
            return [LostContent("negation", _ENGLISH_NOT.search(said)[0])]  # type: ignore[index]
        return []
    there = denied(rewritten)
    return [LostContent("negation", word) for word in denied(said) if word not in there]


def denied(text: str) -> tuple[str, ...]:
    """Dictionary forms of negated words: 使えない → 使う, Zoomではなく → Zoom, 未提出 → 提出."""
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


#: Words that negate the preceding words: 取得でき|ない, 使っ|て|い|ない.
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
    """Return one form for 使う and 使える."""
    form = token.form
    if token.pos == "動詞" and len(form) >= 2 and form.endswith("る") and form[-2] in _POTENTIAL:
        return form[:-2] + _POTENTIAL[form[-2]]
    return form


_POTENTIAL = dict(zip("えけげせてねべめれ", "うくぐすつぬぶむる", strict=True))
