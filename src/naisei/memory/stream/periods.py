"""Times that a question names or asks about: 去年の夏, 先週の土曜, last Friday; いつ, 今.

Japanese and English. Relative ones are resolved from the day they were said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from naisei.japanese.dates import dates_in

#: What a question asks for: the present state, a named period, a date, or a timeless fact.
About = Literal["now", "time", "when", "fact"]


@dataclass(frozen=True, slots=True)
class Period:
    """From the first to the last day, both included."""

    first: date
    last: date


_NOW = re.compile(
    r"今(?![日朝晩夜週月年度回後]|まで|頃|更)|いま(?!ま)|現在|最近|近頃|このごろ|目下|最新|"
    r"まだ|もう(?!一|少|す)|結局|今のところ|\b(?:now|nowadays|currently|current|these days|"
    r"at the moment|latest|lately|recently|still|so far|at present|today|as of|"
    r"any ?more|in the end)\b",
    re.I,
)
_WHEN = re.compile(
    r"いつ(?!も)|何月|何日|何年|何曜|何時|何[週か]|どの(?:くらい|ぐらい)(?:前|経|た)|何日前|時期|"
    r"\b(?:when|what (?:date|day|month|year|time)|which (?:day|month|year|week|weekend)|"
    r"how long ago|how long (?:has|have|did|was)|since when|"
    r"how many (?:days|weeks|months|years))\b",
    re.I,
)
_KANJI = {c: n for n, c in enumerate("一二三四五六七八九十", 1)}
_NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_WORDS = {w: n for n, w in enumerate(_NUMBERS, 1)} | {"a": 1, "an": 1, "a few": 3, "several": 4}
_N = rf"(\d{{1,3}}|[一二三四五六七八九十]|an?|{'|'.join(_NUMBERS)}|a few|several)"
_TOLD = re.compile(
    r"昨日|きのう|一昨日|おととい|明日|あした|明後日|今日|今朝|今晩|今夜|昨夜|ゆうべ|先日|"
    r"この[前間]|こないだ|"
    r"[先今来再]々?[週月]|[去昨今来]年|おととし|一昨年|"
    r"[0-9一二三四五六七八九十]+(?:日|週間?|[かヶケ]月|年|時間)(?:前|後|ぶり)|"
    r"[月火水木金土日]曜|週末|連休|[0-9]{1,2}月|[0-9]{1,2}日|年末|年始|正月|お盆|"
    r"春|夏(?!目)|秋|冬|さっき|来月|数日|"
    r"\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|next|this|past|coming) (?:night|week|"
    r"weekend|month|year|mon|tue|wed|thu|fri|sat|sun|spring|summer|fall|autumn|winter)\w*|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|"
    r"september|october|november|december|since \w+|for \d+ \w+|"
    r"(?:19|20)\d\d|recently|the other day)\b",
    re.I,
)


def about(text: str) -> About:
    """A question's focus, from its words; default `fact`."""
    folded = unicodedata.normalize("NFKC", text)
    if _WHEN.search(folded):
        return "when"
    if periods_in(folded, date(2000, 6, 15)):
        return "time"
    return "now" if _NOW.search(folded) else "fact"


def tells_time(text: str) -> bool:
    """Whether a line states a time: a date, a day of the week, or a relative day."""
    return _TOLD.search(unicodedata.normalize("NFKC", text)) is not None


_DAYS = {c: n for n, c in enumerate("月火水木金土日")}
_DAYS |= {d: n for n, d in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_SEASONS |= {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}


def _whole(written: str) -> int:
    low = written.lower()
    return _WORDS.get(low) or _KANJI.get(written) or int(written)


def _month(year: int, month: int, months: int = 1) -> Period:
    """A period of whole months; month 13 is January of the next year."""
    first = date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
    end = month + months
    return Period(first, date(year + (end - 1) // 12, (end - 1) % 12 + 1, 1) - timedelta(1))


def _part(whole: Period, part: str) -> Period:
    """The early, middle or late part of a month; the whole month for other words."""
    part = part.lower()
    if part.startswith(("上旬", "初", "頭", "early", "beginning", "start")):
        return Period(whole.first, whole.first + timedelta(11))
    if part.startswith(("中旬", "半ば", "mid")):
        return Period(whole.first + timedelta(9), whole.first + timedelta(20))
    if part.startswith(("下旬", "末", "終", "late", "end")):
        return Period(whole.first + timedelta(18), whole.last)
    return whole


def _year(now: date, written: str | None, month: int) -> int:
    if not written:  # the latest year whose month is not in the future
        return now.year if month <= now.month else now.year - 1
    if written.isdigit():
        return int(written)
    return now.year - {"去年": 1, "昨年": 1, "last year": 1, "一昨年": 2, "おととし": 2}.get(
        written.lower(), 0
    )


def _week(now: date, back: int) -> Period:
    monday = now - timedelta(now.weekday() + 7 * back)
    return Period(monday, monday + timedelta(6))


def _weekday(now: date, which: str, day: str) -> Period:
    at = _DAYS[day.lower()[:3] if day.isascii() else day]
    if which in ("先週", "今週", "来週", "先々週"):
        first = _week(now, {"先週": 1, "今週": 0, "来週": -1, "先々週": 2}[which]).first
        found = first + timedelta(at)
    elif which.lower() in ("next", "次の", "今度の", "this coming"):
        found = now + timedelta((at - now.weekday() - 1) % 7 + 1)
    else:
        found = now - timedelta((now.weekday() - at - 1) % 7 + 1)
    return Period(found, found)


def _ago(now: date, count: str, unit: str, sign: int) -> Period:
    n, unit = _whole(count), unit.lower()
    if unit.startswith(("日", "day")):
        at = now + timedelta(sign * n)
        return Period(at, at)
    if unit.startswith(("週", "week")):
        at = now + timedelta(sign * 7 * n)
        return Period(at - timedelta(3), at + timedelta(3))
    if unit.startswith(("か", "ヶ", "ケ", "month")):
        return _month(now.year, now.month + sign * n)
    return _month(now.year + sign * n, 1, 12)


def _season(now: date, year: str | None, name: str) -> Period:
    first = _SEASONS[name.lower()]
    return _month(_year(now, year, first), first, 3)


Read = Callable[[re.Match[str], date], Period]
_DAY_WORDS = {"昨日": -1, "きのう": -1, "yesterday": -1, "一昨日": -2, "おととい": -2}
_DAY_WORDS |= {"今日": 0, "今朝": 0, "today": 0, "this morning": 0, "明日": 1, "tomorrow": 1}
_SPANS = {"先週": (7, 1), "last week": (7, 1), "今週": (7, 0), "this week": (7, 0)}
_SPANS |= {"先々週": (7, 2), "来週": (7, -1), "next week": (7, -1)}
_IN_MONTHS = {"先月": -1, "last month": -1, "今月": 0, "this month": 0, "来月": 1}
_IN_MONTHS |= {"先々月": -2, "next month": 1}
_IN_YEARS = {"去年": -1, "昨年": -1, "last year": -1, "今年": 0, "this year": 0}
_IN_YEARS |= {"来年": 1, "next year": 1, "一昨年": -2, "おととし": -2}


def _any(words: dict[str, int] | dict[str, tuple[int, int]]) -> str:
    listed = sorted(words, key=len, reverse=True)
    return "|".join(rf"\b{w}\b" if w.isascii() else w for w in listed)


def _day_word(m: re.Match[str], now: date) -> Period:
    at = now + timedelta(_DAY_WORDS[m[0].lower()])
    return Period(at, at)


#: Longest and most certain first; later patterns skip matched text.
_READ: tuple[tuple[re.Pattern[str], Read], ...] = tuple(
    (re.compile(pattern, re.I), read)
    for pattern, read in (
        (
            rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}\b\.?,?(?: ((?:19|20)\d\d))?",
            lambda m, now: _on(now, m[3], m[2], m[1]),
        ),
        (
            rf"\b{_MONTH}\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? ((?:19|20)\d\d))?",
            lambda m, now: _on(now, m[3], m[1], m[2]),
        ),
        (
            rf"(?:\b(early|mid|late|beginning of|end of|start of)[- ])?\b{_MONTH}\b"
            r"(?! (?:I|we|you|he|she|they|be|have)\b)(?:,? ((?:19|20)\d\d|last year))?",
            lambda m, now: _part(_named(now, m[3], m[2]), m[1] or ""),
        ),
        (
            r"(?:(20\d\d)年の?|(去年|昨年|今年|一昨年)の?)?(?<!\d)(1[0-2]|0?[1-9])月(?!曜)の?"
            r"(上旬|初め|頭|中旬|半ば|下旬|末|終わり)?(?:([0-3]?\d)日)?",
            lambda m, now: _japanese(now, m[1] or m[2], int(m[3]), m[4] or "", m[5]),
        ),
        (
            r"(先々週|先週|今週|来週)の?([月火水木金土日])曜",
            lambda m, now: _weekday(now, m[1], m[2]),
        ),
        (
            r"(この前の|前の|次の|今度の)([月火水木金土日])曜",
            lambda m, now: _weekday(now, m[1], m[2]),
        ),
        (
            r"\b(last|this past|past|next) (mon|tue|wed|thu|fri|sat|sun)\w*day\b",
            lambda m, now: _weekday(now, m[1], m[2]),
        ),
        (
            _N + r" ?(日|週間?|[かヶケ]月|年|days?|weeks?|months?|years?) ?(前|ago)",
            lambda m, now: _ago(now, m[1], m[2], -1),
        ),
        (
            r"(20\d\d年|去年|昨年|今年|一昨年)の?(春|夏|秋|冬)",
            lambda m, now: _season(now, m[1].removesuffix("年") if m[1][0] == "2" else m[1], m[2]),
        ),
        (
            r"\b(?:in |over )?(?:the )?(spring|summer|fall|autumn|winter) (?:of |in )?(20\d\d)\b",
            lambda m, now: _season(now, m[2], m[1]),
        ),
        (_any(_DAY_WORDS), _day_word),
        (_any(_SPANS), lambda m, now: _week(now, _SPANS[m[0].lower()][1])),
        (_any(_IN_MONTHS), lambda m, now: _month(now.year, now.month + _IN_MONTHS[m[0].lower()])),
        (_any(_IN_YEARS), lambda m, now: _month(now.year + _IN_YEARS[m[0].lower()], 1, 12)),
        (r"(?<![\d])(20\d\d)(?:年(?!\d)|\b)(?![-/.]\d)", lambda m, now: _month(int(m[1]), 1, 12)),
        (r"\b(?:in|during|over|last) (?:the )?(spring|summer|fall|autumn|winter)\b",
         lambda m, now: _season(now, None, m[1])),
        (r"(春|夏|秋|冬)(?=に|の|は|頃|ごろ|休み)", lambda m, now: _season(now, None, m[1])),
    )
)  # fmt: skip


def _on(now: date, year: str | None, month: str, day: str) -> Period:
    number = _MONTHS.index(month.lower()[:3]) + 1
    at = date(_year(now, year, number), number, int(day))
    return Period(at, at)


def _named(now: date, year: str | None, month: str) -> Period:
    number = _MONTHS.index(month.lower()[:3]) + 1
    return _month(_year(now, year, number), number)


def _japanese(now: date, year: str | None, month: int, part: str, day: str | None) -> Period:
    if day is None:
        return _part(_month(_year(now, year, month), month), part)
    at = date(_year(now, year, month), month, int(day))
    return Period(at, at)


def periods_in(text: str, now: date) -> list[Period]:
    """The times that a text names, relative to the day `now`; a month without a year is the latest
    past one. Skips invalid dates.

    >>> [p.first.isoformat() for p in periods_in("去年の夏と先月", date(2026, 4, 6))]
    ['2025-06-01', '2026-03-01']
    """
    left = unicodedata.normalize("NFKC", text)
    found: list[Period] = []
    for written in reversed(dates_in(left)):
        if written.precise == "day":
            found.append(Period(written.date, written.date))
            left = f"{left[: written.start]}　{left[written.end :]}"
    for pattern, read in _READ:
        for match in reversed(list(pattern.finditer(left))):
            try:
                found.append(read(match, now))
            except (ValueError, OverflowError):
                continue
            left = f"{left[: match.start()]}　{left[match.end() :]}"
    return found
