"""Dates in a text, and editions of a document recognised by name: 旅費規程_2021, 【旧】旅費規程."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date

_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "R": 2018, "H": 1988, "S": 1925}
_KANJI = {c: str(n) for n, c in enumerate("〇一二三四五六七八九")}
_N = r"(?:[0-9]{1,2}|[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九]|元)"
_DATE = re.compile(
    rf"(?:(?P<era>令和|平成|昭和|大正)\s*(?P<y1>{_N})\s*年(?P<fiscal1>度)?"
    r"|(?<![A-Za-z0-9])(?P<letter>[RHS])(?P<y2>[0-9]{1,2})(?=[年./-][0-9])[年./-]?"
    r"|(?<![0-9])(?<![0-9]-)(?P<y3>(?:19|20)[0-9]{2}|[一二]〇[〇一二三四五六七八九]{2})"
    r"(?:\s*年(?P<fiscal2>度)?|(?=[./-][0-9])|(?=[01][0-9](?:[0-3][0-9])?(?![0-9]))))"
    rf"(?:(?:\s*[./-]\s*)?(?P<m>{_N})(?:\s*月|(?=[./-])|(?=[0-9]{{2}}(?![0-9]))|(?![0-9年]))"
    rf"(?:(?:\s*[./-]\s*)?(?P<d>{_N})(?:\s*日|(?![0-9月年])))?)?"
)
_IN_FORCE = re.compile(
    r"施行|改定|改訂|改正|適用|実施|発効|変更日|有効|運用開始|effective|revised|in force", re.I
)
_MADE = re.compile(r"制定|策定|初版|発行|作成|更新|公開|updated|issued|created|published", re.I)
#: Words that refer to another document, or to a day other than the start.
_OTHER = re.compile(r"廃止|旧|従前|従来|予定|まで|失効|期限|締切|検討|expires|until|draft", re.I)
_NEAR = 14


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in a text, at [start, end) of its NFKC form. precise: `day`, `month` or `year`; the
    date is the first such day (1 April for a fiscal year, 年度)."""

    date: date
    start: int
    end: int
    precise: str


def dates_in(text: str) -> list[DateMention]:
    """Dates in order; invalid ones are skipped.

    >>> [w.date.isoformat() for w in dates_in("令和６年４月１日施行、平成元年制定")]
    ['2024-04-01', '1989-01-01']
    """
    found: list[DateMention] = []
    for match in _DATE.finditer(unicodedata.normalize("NFKC", text)):
        year = _year(match)
        month, day = match["m"], match["d"]
        fiscal = match["fiscal1"] or match["fiscal2"]
        first = 4 if fiscal and month is None else 1
        try:
            when = date(year, _number(month) if month else first, _number(day) if day else 1)
        except ValueError:
            continue
        precise = "day" if day else "month" if month else "year"
        found.append(DateMention(when, match.start(), match.end(), precise))
    return found


def named_years(text: str) -> set[int]:
    """Years in a text, alone (2023年度) or in dates."""
    folded = unicodedata.normalize("NFKC", text)
    alone = {int(m[0]) for m in _YEAR.finditer(folded)}
    eras = {_ERAS[m[1]] + (1 if m[2] == "元" else int(m[2])) for m in _ERA_YEAR.finditer(folded)}
    return alone | eras | {written.date.year for written in dates_in(text)}


def effective_date(text: str, context: str = "") -> tuple[int, date] | None:
    """Return (certainty, latest effective date in the text); `None` without one. Certainty 2: in
    force, revised (施行, 改定, …); 1: made, issued, updated (制定, 発行, 更新, …).

    context: the heading above, such as 改定履歴.

    >>> effective_date("この規程は令和6年4月1日から施行する。")
    (2, datetime.date(2024, 4, 1))
    """
    best: tuple[int, date] | None = None
    for line in unicodedata.normalize("NFKC", text).split("\n"):
        for when in dates_in(line):
            around = line[max(0, when.start - _NEAR) : when.end + _NEAR]
            # A whole sentence may be about another document.
            if _OTHER.search(around) and not re.search(r"施行日|改[定訂正]日|適用日", around):
                continue
            sure = (
                2 if _IN_FORCE.search(f"{around} {context}") else 1 if _MADE.search(around) else 0
            )
            if sure and (best is None or (sure, when.date) > best):
                best = (sure, when.date)
    return best


def _year(match: re.Match[str]) -> int:
    if era := match["era"] or match["letter"]:
        return _ERAS[era] + _number(match["y1"] or match["y2"])
    return int("".join(_KANJI.get(c, c) for c in match["y3"]))


def _number(written: str) -> int:
    if written == "元":
        return 1
    if "十" in written:
        tens, _, ones = written.partition("十")
        return 10 * int(_KANJI.get(tens, "1")) + int(_KANJI.get(ones, "0"))
    return int("".join(_KANJI.get(c, c) for c in written))


_VERSION = re.compile(
    # Possessive quantifiers, and no match starts inside another, so a series takes linear time.
    r"(?<![a-z])(?:version|ver|v|rev)[ ._-]?(\d++(?:\.\d++)*+)(?![a-z0-9])"
    r"|第(\d++(?:\.\d++)*+)[版号]|(?<!\d)(?<!\d\.)(\d++(?:\.\d++)*+)版"
)
_OLD = re.compile(
    r"旧(?:版|規程|規定|制度|$|[_\-\s)】\]])|(?:^|[_\-\s(【\[/])旧|(?<![a-z])(?:old|obsolete|archive[ds]?|"
    r"deprecated|superseded)(?![a-z])|廃止(?:版|済)|アーカイブ"
)
_EDITION = re.compile(
    r"改[訂定正]版?|最新版?|新版|旧版?|現行版?|確定版?|暫定版?|初版|廃止[版済]?|アーカイブ|年度|版|"
    r"(?<![a-z])(?:old|new|latest|final|draft|obsolete|archived?|deprecated|revised|updated|copy)(?![a-z])|"
    r"のコピー|コピー"
)
_SERIES = re.compile(
    r"議事録|会議録|社内報|月報|週報|日報|年報|ニュース|お知らせ|通知|通信|レポート|報告|速報|月号|"
    r"だより|カレンダー|minutes|report|news|letter|weekly|monthly|diary|calendar"
)
_ERA_YEAR = re.compile("(令和|平成)(元|[0-9]{1,2})年")
_NOISE = re.compile(r"[\W_]+")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def version_of(name: str) -> tuple[int, ...]:
    """The last version number in a name: `手順書_v2.1` → (2, 1); () if there is none."""
    found = _VERSION.findall(_fold(name))
    written = next((group for group in found[-1] if group), "") if found else ""
    # Longer numbers are not version numbers.
    return tuple(int(part[:9]) for part in written.split(".")[:4]) if written else ()


def is_old(name: str) -> bool:
    """Whether a name or path marks an old edition: 旧, 廃止, old, archive."""
    return _OLD.search(_fold(name)) is not None


def is_series(name: str) -> bool:
    """Whether the name belongs to a series: minutes, reports, newsletters (no edition replaces
    another)."""
    return _SERIES.search(_fold(name)) is not None


def work_name(name: str) -> str:
    """The name without dates, versions, edition words, marks and spaces.

    >>> work_name("【旧】旅費規程（2021年4月改定）"), work_name("旅費規程_v2")
    ('旅費規程', '旅費規程')
    """
    # Keep the case: era names in dates begin with a capital letter.
    text = unicodedata.normalize("NFKC", name).replace("_", " ")
    rest, at = [], 0
    for when in dates_in(text):
        rest.append(text[at : when.start])
        at = when.end
    text = " ".join([*rest, text[at:]])
    text = _YEAR.sub(" ", _VERSION.sub(" ", text.casefold()))
    return _NOISE.sub("", _EDITION.sub(" ", text))
