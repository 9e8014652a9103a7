"""Numbers, amounts and dates of a text in one form: 三日 and 3日, 令和6年 and 2024年, 5万円."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Quantity", "missing", "quantities"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """value: plain digits (`50000`, `0.5`). unit: 日, 円, 人, …; empty where none follows."""

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
_ERA = re.compile(
    r"(令和|平成|昭和|(?<![A-Za-z])[RHS](?=\d))\s*(元|[〇一二三四五六七八九十]+|\d+)(?=年|[./-]\d)"
)
_ISO = re.compile(r"(?<![\d/.-])(\d{4})[/.-](\d{1,2})(?:[/.-](\d{1,2}))?(?![\d/-])")
_SLASH = re.compile(r"(?<![\d/.-])(1[0-2]|0?[1-9])/(3[01]|[12]\d|0?[1-9])(?![\d/])")
_CLOCK = re.compile(r"(?<![\d:])([01]?\d|2[0-4]):([0-5]\d)(?![\d:])")
_ARABIC = re.compile(
    rf"(\d+(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"((?:[十百千万億兆]+(?:\d+[千百十万]*)*)?)\s*({_UNITS})?"
)
#: A number in kanji counts only before a unit: 一般 and 第三者 hold none.
_KANJI = re.compile(
    rf"(?<![\u3400-\u9fff第\d])([〇零一二三四五六七八九十百千万億兆]+)({_UNITS})(?![\u3400-\u9fff]*的)"
)
_NO_NUMBER = re.compile(
    "一(?:つ|度|回|日中|人ひとり|点張|号)|一人ひとり|一日も|十分(?![間後前以])|万一"
)


@lru_cache(maxsize=8192)
def quantities(text: str) -> frozenset[Quantity]:
    """All of them. Dates come apart into 年, 月 and 日; a clock's 9:00 into 時 and 分."""
    folded = unicodedata.normalize("NFKC", text)
    folded = _ERA.sub(lambda m: str(_ERAS[m[1]] + _whole("1" if m[2] == "元" else m[2])), folded)
    folded = _ISO.sub(lambda m: f"{m[1]}年{m[2]}月" + (f"{m[3]}日" if m[3] else ""), folded)
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
    """Quantities of `wanted` that `given` does not hold.

    A value with a unit is held by the same value with the same unit, or with none.
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


def _arabic(digits: str, rest: str) -> str:
    """Digits, then the rest in kanji and digits: 5 万, 1 万5千, 3 百."""
    total, section, number = 0.0, 0.0, float(digits.replace(",", ""))
    for part in re.findall(r"\d+|[十百千万億兆]", rest):
        if part.isdigit():
            number = float(part)
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
