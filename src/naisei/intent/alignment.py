"""Compares a sentence of an answer with the rows and columns of the passages it cites."""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from naisei.japanese.content_preservation import Quantity, quantities
from naisei.japanese.query_analysis import is_stopword
from naisei.japanese.sentences import related, search_tokens
from naisei.retrieval.chunking import cells_of, spans

#: Separators between the clauses of a sentence.
CLAUSE = re.compile(r"(?<![0-9０-９])[、,]|[、,](?![0-9０-９])|[;；／]|(?<=[^0-9])/(?=[^0-9])")


def across(sentence: str, text: str) -> str:
    """Return a value from a row or column other than the one that the sentence names."""
    tables: dict[str, list[list[str]]] = {}
    outside: set[str] = set()
    for unit in spans(text):
        if unit.header:
            tables.setdefault(unit.header, []).append(cells_of(unit.written))
        else:
            outside |= set(search_tokens(unit.written))
    for header, rows in tables.items():
        names = cells_of(header)
        rows = [row for row in rows if len(row) == len(names)]
        columns = [list(column) for column in zip(names, *rows, strict=True)][1:]
        named = set(search_tokens(" ".join([header, *(row[0] for row in rows)])))
        for lines in (rows, columns):
            # Values of another column often identify the row.
            if what := _elsewhere(lines, sentence, outside | named, rows=lines is rows):
                return what
    return ""


def _elsewhere(lines: Sequence[Sequence[str]], said: str, outside: set[str], *, rows: bool) -> str:
    """Return the value that occurs only in other rows or columns; empty if there is none.

    lines: rows or columns, name first. The sentence must name exactly one of them."""
    words, values = solid(said), quantities(said)
    keys = [set(search_tokens(line[0])) for line in lines]
    matched = [
        sum(w in words and sum(w in other for other in keys) == 1 for w in key - _COUNTED)
        for key in keys
    ]
    # A name written in full is more specific than its words.
    whole = [n for n, line in enumerate(lines) if len(line[0]) > 1 and line[0] in said]
    if len(whole) == 1:
        matched = [int(n == whole[0]) for n in range(len(lines))]
    if sum(m > 0 for m in matched) != 1:
        return ""
    held = [quantities(" ".join(line[1:])) for line in lines]
    at = matched.index(max(matched))
    own = quantities(lines[at][0]) | held[at]
    for value in values:
        alone = sum(q.unit == value.unit for q in values) == 1
        elsewhere = any(holds(other, value) for other in held) and not holds(own, value)
        # Values of another column may identify the row; a rival row must have the unit, too.
        rival = rows or any(q.unit == value.unit for q in own)
        if alone and elsewhere and rival and value.value not in outside:
            return value.value + value.unit
    return ""


#: Units, which do not identify a row.
_COUNTED = frozenset("日月年円回人時分点件個0123456789")
_RANGED = re.compile(
    r"(?<![月0-9.])(?P<low>[0-9.]+)(?:万)?(?P<u1>[^0-9〜～~ー\-以超をか]{0,3})(?:以上|超|を超え)?[、]?(?:〜|～|~|-|ー|から|以上|超|を超え)+"
    r"(?P<high>[0-9.]+)?(?P<u2>[^0-9以未]{0,3})(?P<open>未満)?"
    r"|(?<![月0-9.])(?P<most>[0-9.]+)(?P<u3>[^0-9以未ま]{0,3})(?:以下|(?P<under>未満)|まで|以内)"
)


def ranges(value: Quantity, text: str) -> bool:
    """Whether a text gives a range of the same measure: 10年未満 for 11年."""
    folded = unicodedata.normalize("NFKC", text).replace(",", "")
    return any(
        bool(value.unit)
        and any(u and u.startswith(value.unit) for u in (m["u1"], m["u2"], m["u3"]))
        for m in _RANGED.finditer(folded)
    )


def in_range(value: Quantity, cell: str) -> bool:
    """Whether a cell is this quantity or a range that contains it (勤続7年 in 5年以上10年未満)."""
    folded = unicodedata.normalize("NFKC", cell).replace(",", "")
    number = float(value.value)
    told = [m for m in _RANGED.finditer(folded) if not value.unit or ranges(value, m[0])]
    if not told:
        return bool(value.unit) and value in quantities(folded)
    for m in told:
        low, high = _scaled(m, "low") or 0, _scaled(m, "high") or _scaled(m, "most") or math.inf
        if low <= number and (number < high or (number == high and not (m["open"] or m["under"]))):
            return True
    return False


#: 第2期, 4回目, 2級; the last group: "and later ones".
_ORDINAL = re.compile(
    "(?:第(?P<n>[0-9一二三四五六七八九]+)|(?P<m>[0-9]+))(?P<unit>学年|年生|回目|[期回次種類級子号])目?"
    "(?P<open>以降|以上|から|[~〜～])?"
)
_NUMERALS = str.maketrans("一二三四五六七八九", "123456789")


def _ordinals(text: str) -> set[tuple[int, str, bool]]:
    """Return the ordinals in a text: (number, unit, whether later ones are included)."""
    found = list(_ORDINAL.finditer(unicodedata.normalize("NFKC", text)))
    return {
        (
            int((m["n"] or m["m"]).translate(_NUMERALS)),
            _YEAR.sub("年", m["unit"])[0],
            bool(m["open"]),
        )
        for m in found
        if m["n"] or m["unit"] in _COUNTED_OFF
    }


_YEAR = re.compile("学年|年生")
#: Units that form ordinals without 第; 2回 is an amount.
_COUNTED_OFF = ("年生", "学年", "回目", "期", "次", "級")


def another_ordinal(query: str, row: str) -> bool:
    """Whether a row lacks the ordinal in the question.

    >>> another_ordinal("第2期は何歳ですか", "第1期 3歳"), another_ordinal("第4子は", "第3子以降")
    (True, False)
    """
    asked = _ordinals(query)
    told = _ordinals(row) if asked else set()
    return any(
        not any(u == unit and (n == number or (after and n < number)) for n, u, after in told)
        for number, unit, _ in asked
    )


def _scaled(m: re.Match[str], name: str) -> float:
    """The value in base units: 500万円 is 5,000,000円; 0 without a number."""
    if not m[name]:
        return 0.0
    return float(m[name]) * (10_000 if m.string[m.end(name) : m.end(name) + 1] == "万" else 1)


def holds(values: Iterable[Quantity], wanted: Quantity) -> bool:
    return any(q.value == wanted.value and (q.unit == wanted.unit or not q.unit) for q in values)


def aligned(sentence: str, texts: Iterable[str]) -> list[str]:
    """Return up to two sentences or rows of the passages that share most words with this one."""
    words = solid(sentence)
    words |= set(related(words))
    wholes = dict.fromkeys(
        unit.said if unit.header else unit.written for text in texts for unit in spans(text)
    )
    shared = {w: len(words & set(search_tokens(w))) for w in wholes}
    top = max(shared.values(), default=0)
    return [w for w in shared if top and shared[w] == top][:2]


def solid(text: str) -> set[str]:
    """The text's search words that name a topic."""
    return {w for w in search_tokens(text) if not is_stopword(w)}


#: Unit → (what it measures, factor to the smallest unit).
_MEASURES = {
    **dict.fromkeys(("mm", "ミリ", "ミリメートル"), ("length", 1.0)),
    **dict.fromkeys(("cm", "センチ", "センチメートル"), ("length", 10.0)),
    **dict.fromkeys(("m", "メートル"), ("length", 1e3)),
    **dict.fromkeys(("km", "キロメートル"), ("length", 1e6)),
    **dict.fromkeys(("ml", "cc", "ミリリットル"), ("volume", 1.0)),
    **dict.fromkeys(("l", "リットル"), ("volume", 1e3)),
    **dict.fromkeys(("g", "グラム"), ("weight", 1.0)),
    **dict.fromkeys(("kg", "キロ", "キログラム"), ("weight", 1e3)),
    "秒": ("time", 1.0),
    **dict.fromkeys(("分", "分間"), ("time", 60.0)),
    "時間": ("time", 3600.0),
    **dict.fromkeys(("日", "日間"), ("time", 86400.0)),
    **dict.fromkeys(("週", "週間"), ("time", 604800.0)),
    **dict.fromkeys(("か月", "ヶ月", "カ月", "ヵ月", "ケ月"), ("months", 1.0)),
    "年": ("months", 12.0),
    **dict.fromkeys(("%", "パーセント"), ("share", 0.01)),
    "割": ("share", 0.1),
}
_MEASURE = re.compile(
    rf"([0-9]+(?:\.[0-9]+)?)({'|'.join(sorted(_MEASURES, key=len, reverse=True))})(半)?"
)
_SHARE = re.compile(r"([0-9]+)分の([0-9]+)|([0-9]+)/([0-9]+)(?![0-9/])")
_HALF = {"半年": ("months", 6.0), "半日": ("time", 43200.0), "半額": ("share", 0.5)}


def measures(text: str) -> set[tuple[str, tuple[str, float]]]:
    """Return (digits, (measure, value in the smallest unit)) for each quantity in a text."""
    folded = unicodedata.normalize("NFKC", text).replace(",", "").lower()
    found: set[tuple[str, tuple[str, float]]] = set()
    for m in _MEASURE.finditer(folded):
        what, size = _MEASURES[m[2]]
        amount = (float(m[1]) + (0.5 if m[3] else 0.0)) * size
        found.add((f"{float(m[1]):.10g}", (what, round(amount, 4))))
    for m in _SHARE.finditer(folded):
        under, over = (m[1], m[2]) if m[1] else (m[4], m[3])
        if float(under):
            found.add((over, ("share", round(float(over) / float(under), 4))))
    found |= {("0.5", base) for word, base in _HALF.items() if word in folded}
    return found | ({("0.5", ("share", 0.5))} if "半分" in folded else set())


@cache
def _polarity() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of negations, and of words that only look like one (polarity.toml)."""
    data = tomllib.loads((files("naisei.intent") / "polarity.toml").read_text(encoding="utf-8"))
    return re.compile(data["denied"]), re.compile(data["affirmed"])


def denies(text: str) -> bool:
    """Whether a text negates; duties (なければなりません) and conditions (ないとき) do not.

    >>> denies("支所では預かりません。"), denies("届け出なければなりません。")
    (True, False)
    """
    denied, affirmed = _polarity()
    return denied.search(affirmed.sub("", unicodedata.normalize("NFKC", text))) is not None
