"""Compares amounts and adds up the rows that a question names.

Gives only exact results: each row must have one plain amount in the requested unit, without range
or condition, and the table must be complete.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from naisei.core import Evidence
from naisei.japanese.content_preservation import quantities
from naisei.lang import Language
from naisei.retrieval.chunking import Table, cells_of, spans, tables_of

_WHICH = re.compile(r"どちら|どっち|どれ|どの|\bwhich\b", re.I)
_MOST = re.compile(
    r"一番|いちばん|最も|もっとも|最[安高長短大小多少]|\b(?:most|cheapest|longest)\b", re.I
)
_APART = re.compile(
    r"の差|違[いうっ]|(?:いくら|何.|どれ(?:だけ|くらい|ぐらい))(?:高|安|長|短|多|少)|difference",
    re.I,
)
_SUM = re.compile(
    r"合計|合わせて|あわせて|全部で|全員で|トータル|総額|総計|\b(?:in total|altogether|total)\b",
    re.I,
)
_PRICE = re.compile(
    r"いくら|料金|費用|金額|値段|何円|[安高][いくか]|総額|お得|how much|cheap|expensive|cost|price",
    re.I,
)
#: Comparisons: the words for each, and whether it asks for the smaller.
_ASKED = (
    ("安[いくか]|最安|お得|cheap", "安い", "cheaper", True),
    ("高[いくか]|最高|expensive", "高い", "more expensive", False),
    ("短[いくか]|最短|short", "短い", "shorter", True),
    ("長[いくか]|最長|long", "長い", "longer", False),
    ("少な|小さ|最[少小]|few|small|less", "少ない", "less", True),
    ("多[いくか]|大き|広[いくか]|最[多大]|more|larg|big", "多い", "more", False),
)
_COUNTED = re.compile("何(時間|日|回|人|枚|点|冊|件|個|年|週|分|種類|か所|ヶ所|つ)")
#: Signs that an amount is not plain.
_VAGUE = re.compile("[〜～~/／]|以[上下内外]|未満|まで|約|程度|から|超|につき|ごと|ただし|除")
_PLAIN = re.compile(r"[0-9,.]+")
#: A unit in a column's name, valid for all of its cells.
_UNIT = re.compile("[（(](円|日|年|か月|時間|分|人|件|回|個|点|冊)[)）]")
_TOTAL = re.compile("(?:合|総|小)?計|total", re.I)
_FREE = re.compile("無料|free", re.I)
_TIMES = r"(?:[のがは]|を)?\s*([0-9]+|[一二三四五六七八九])\s*(?:人|名|枚|個|冊|本|部|台|着|食|つ)"
_KANJI = {c: n for n, c in enumerate("一二三四五六七八九", 1)}
_PAIR = re.compile(r"([一-龥々ァ-ヶーA-Za-z0-9]+)(?:と|か|より)([一-龥々ァ-ヶーA-Za-z0-9]+)")
#: Most rows quoted in full.
_ROWS = 12


class Amount(NamedTuple):
    """name: row or column name. table: index of the hit, and the header of its table."""

    name: str
    value: Decimal
    unit: str
    times: int
    table: tuple[int, str]
    written: str

    @property
    def as_text(self) -> str:
        return _number(self.value, self.unit)


class Worked(NamedTuple):
    """told: the result; empty if the rows are only listed. parts: (index of the hit, its rows)."""

    told: str
    parts: tuple[tuple[int, str], ...]


def worked(query: str, hits: Sequence[Evidence], language: Language) -> Worked | None:
    """The comparison or sum that a question asks for; `None` for other questions and inexact
    results."""
    asked = unicodedata.normalize("NFKC", query)
    adjective = next((words for form, *words in _ASKED if re.search(form, asked, re.I)), None)
    beside = _WHICH.search(asked) is not None and adjective is not None
    differ = _APART.search(asked) is not None
    apart = differ and _unit(asked) != ""
    summed = _SUM.search(asked) is not None
    added = _unit(asked) != "" and (summed or re.search(_TIMES, asked) is not None)
    if not (beside or differ or added):
        return None
    whole = summed or (beside and _MOST.search(asked) is not None)
    found = _amounts(asked, hits, whole)
    told = ""
    if (beside or apart) and len(found) > 1:
        told = _beside(adjective if beside else None, found, language)
    elif added and not (beside or apart) and sum(amount.times for amount in found) > 1:
        told = _total(found, language)
    if not told:
        both = _both(asked, hits) if beside or differ else ()
        return Worked("", both) if len(both) else None
    parts: list[tuple[int, str]] = []
    for (at, header), rows in groupby(found, key=lambda amount: amount.table):
        lines = dict.fromkeys([*([header] if header else []), *(row.written for row in rows)])
        parts.append((at, "\n".join(lines)))
    return Worked(told, tuple(parts))


def _both(asked: str, hits: Sequence[Evidence]) -> tuple[tuple[int, str], ...]:
    """The rows of one table that the question names, else the first sentences of the sections whose
    headings it names; empty if fewer than two."""
    for at, hit in enumerate(hits):
        for header, rows in tables_of(hit.text):
            named = _named(_calls([cells for cells, _ in rows]), asked)[0]
            if 1 < len(named) <= _ROWS:
                lines = [*([header] if header else []), *(rows[n][1] for n in sorted(named))]
                return ((at, "\n".join(lines)),)
    sections: dict[str, tuple[int, str]] = {}
    for at, hit in enumerate(hits):
        headings = hit.meta.get("headings")
        if isinstance(headings, list) and headings and _named([[str(headings[-1])]], asked)[0]:
            first = next((unit.written for unit in spans(hit.text) if not unit.header), "")
            sections.setdefault(str(headings[-1]), (at, first))
    return tuple(sections.values()) if len(sections) > 1 else ()


def _amounts(asked: str, hits: Sequence[Evidence], whole: bool) -> list[Amount]:
    """The amounts of the named rows in one or more tables. A table's only named row takes the name
    of the named heading above it. If no row is named and `whole`, uses all rows of a table."""
    several: dict[str, Amount] = {}
    tables = [(at, hit, table) for at, hit in enumerate(hits) for table in tables_of(hit.text)]
    columns = {name for _, _, table in tables for name in cells_of(table.header)[1:]}
    wanted = {name for name in columns if name and _named([[name]], asked)[0]}
    # If 授業料 is asked for, do not look the courses up in the 検定料 table.
    tables.sort(key=lambda found: not wanted & set(cells_of(found[2].header)))
    rest = asked
    for at, hit, table in tables:
        found, left = _of_table(asked, rest, (at, table.header), table.rows)
        above = next(iter(_named_above(hit, asked)), "")
        if len(found) == 1 and above and above not in several:
            several[above] = found[0]._replace(name=above)
        elif found:
            several.update((amount.name, amount) for amount in found)
            rest = left
        elif whole and not several and (rows := _all_rows(asked, hit, at, table)):
            return rows
    found = list(several.values())
    if len(found) > 1 and len({amount.unit for amount in found}) == 1:
        return found
    return _of_clauses(asked, hits) or found[:1]


def _unit(asked: str) -> str:
    if counted := _COUNTED.search(asked):
        return counted[1]
    return "円" if _PRICE.search(asked) else ""


def _of_table(
    asked: str, rest: str, table: tuple[int, str], rows: list[tuple[list[str], str]]
) -> tuple[list[Amount], str]:
    """The amounts of the rows, or of the columns of one row, that `rest` names, and the text
    remaining."""
    names = cells_of(table[1]) if table[1] else ["", ""]
    units = [m[1] if (m := _UNIT.search(name)) else "" for name in names]
    rows = [(cells, line) for cells, line in rows if len(cells) == len(names)]
    named, left = _named(_calls([cells for cells, _ in rows]), rest)
    columns = sorted(n + 1 for n in _named([[name] for name in names[1:]], left)[0])
    if len(named) == 1 and len(columns) > 1:
        ((cells, line),) = (rows[n] for n in named)
        by_column = [
            [_amount(names[n], cells[n] + units[n], asked, table, line) for n in columns],
        ]
    else:
        by_column = [
            [
                _amount(named[r], rows[r][0][n] + units[n], asked, table, rows[r][1])
                for r in sorted(named)
            ]
            for n in columns or range(1, len(names))
        ]
    some = [amounts for amounts in by_column if any(amounts)]
    found = [amount for amount in some[0] if amount is not None] if len(some) == 1 else []
    exact = found and len(found) == len(some[0]) and len({a.unit for a in found}) == 1
    return (found, left) if exact else ([], rest)


def _all_rows(asked: str, hit: Evidence, at: int, table: Table) -> list[Amount]:
    """The amounts of all rows, if the question names the table's heading or first column."""
    names = [cells[0] for cells, _ in table.rows]
    first = cells_of(table.header)[:1]
    if (
        hit.meta.get("cut_table")
        or not 1 < len(names) <= _ROWS
        or any(map(_TOTAL.fullmatch, names))
    ):
        return []
    if not (_named_above(hit, asked) or _named([first], asked)[0]):
        return []
    return _of_table(asked, f"{asked} {' '.join(names)}", (at, table.header), table.rows)[0]


def _calls(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The unique names of each row: its first cells, up to the first quantity, whole and in parts
    (昼間コース of 学域生（昼間コース）), except names shared with another row."""
    calls: list[set[str]] = []
    for cells in rows:
        keys = [cells[0], *takewhile(lambda cell: not quantities(cell), cells[1:-1])]
        parts = {part for key in keys for part in re.split(r"[\s（()）]+", key) if len(part) > 1}
        calls.append({*keys, *parts})
    counts = Counter(name for names in calls for name in names)
    return [sorted(name for name in names if counts[name] == 1) for names in calls]


def _named_above(hit: Evidence, asked: str) -> list[str]:
    """The headings above a hit, and its title, that the question contains, innermost first."""
    headings = hit.meta.get("headings")
    names = [str(name) for name in headings][::-1] if isinstance(headings, list) else []
    names.append(str(hit.meta.get("title") or ""))
    return [names[at] for at in sorted(_named([[name] for name in names], asked)[0])]


def _named(calls: Sequence[Sequence[str]], text: str) -> tuple[dict[int, str], str]:
    """Find names in a text, longest first. Returns index in `calls` → name, and the text without
    the names."""
    text = re.sub(r"\s", "", text)
    plain = [
        (re.sub(r"[（(].*?[)）]|\s", "", unicodedata.normalize("NFKC", name)), at)
        for at, names in enumerate(calls)
        for name in names
    ]
    found: dict[int, str] = {}
    for name, at in sorted(plain, key=lambda pair: (-len(pair[0]), pair[1])):
        if name and name in text:
            found.setdefault(at, name)
            text = text.replace(name, "＿" * len(name))
    return found, text


def _amount(
    name: str, cell: str, asked: str, table: tuple[int, str], written: str
) -> Amount | None:
    """The cell's amount; `None` unless single, plain and in the right unit."""
    unit, plain = _unit(asked), unicodedata.normalize("NFKC", cell).strip()
    held = {q for q in quantities(plain) if q.value != "1" or q.unit == unit}
    if unit == "円" and _FREE.fullmatch(plain):
        value, told = Decimal(0), unit
    elif len(held) == 1 and not _VAGUE.search(plain):
        (only,) = held
        value, told = Decimal(only.value), only.unit
    else:
        return None
    if not told and unit in ("", "円") and _PLAIN.fullmatch(plain):
        unit = ""  # for points, and numbers without a unit
    elif not told or (unit and told != unit) or (told in "年月" and "日" not in unit):
        return None
    short = re.sub(r"[（(].*?[)）]|\s", "", unicodedata.normalize("NFKC", name))
    many = re.search(re.escape(short) + _TIMES, asked)
    times = 1 if many is None else _KANJI.get(many[1]) or int(many[1])
    return Amount(name, value, told, times, table, written)


def _of_clauses(asked: str, hits: Sequence[Evidence]) -> list[Amount]:
    """The amounts of two things in the question: from the first clause naming only that thing."""
    pair = _PAIR.search(asked)
    found: list[Amount] = []
    for name, other in ((pair[1], pair[2]), (pair[2], pair[1])) if pair else ():
        for at, hit in enumerate(hits):
            clauses = (
                (clause, unit.written)
                for unit in spans(hit.text)
                if not unit.header
                for clause in re.split(r"[、,](?![0-9])", unit.written)
                if name in clause and other not in clause
            )
            amounts = (_amount(name, c, asked, (at, ""), whole) for c, whole in clauses)
            if first := next(filter(None, amounts), None):
                found.append(first)
                break
    return found if len({amount.unit for amount in found}) == 1 else []


def _number(value: Decimal, unit: str) -> str:
    plain = f"{value:,f}"
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain) + unit


def _total(found: Iterable[Amount], language: Language) -> str:
    amounts = list(found)
    total = _number(sum((a.value * a.times for a in amounts), Decimal(0)), amounts[0].unit)
    parts = "＋".join(f"{a.name} {a.as_text}" + f"×{a.times}" * (a.times > 1) for a in amounts)
    return f"合計は{total}（{parts}）です。" if language == "ja" else f"Total: {total} ({parts})."


def _beside(adjective: list[Any] | None, found: Sequence[Amount], language: Language) -> str:
    """Say which amount is asked for and how much they differ. adjective: an entry of `_ASKED`."""
    ordered = sorted(found, key=lambda amount: amount.value)
    least, most = ordered[0], ordered[-1]
    apart = _number(most.value - least.value, least.unit)
    if least.value == most.value:
        return f"どちらも{least.as_text}です。" if language == "ja" else f"Both: {least.as_text}."
    parts = f"{most.name} {most.as_text} − {least.name} {least.as_text}"
    apart += f"（{parts}）" if language == "ja" else f" ({parts})"
    if adjective is None:
        return f"差は{apart}です。" if language == "ja" else f"The difference is {apart}."
    ja, en, less = adjective
    first = least if less else most
    if len(found) > 2:
        told = f"一番{ja}のは{first.name}（{first.as_text}）です。"
        return told if language == "ja" else f"{en} of all: {first.name} ({first.as_text})."
    told = f"{ja}のは{first.name}です。差は{apart}です。"
    return told if language == "ja" else f"{en}: {first.name}; the difference is {apart}."
