"""Two things compared, and sums over rows: what the rows that a question names come to.

Told only where it is exact: each row has one plain amount of the unit that is asked for, no range
and no condition, and of a whole table every row is there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

from naisei.core import Evidence
from naisei.japanese.content_preservation import quantities
from naisei.lang import Language
from naisei.retrieval.chunking import cells_of, spans

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
#: What is asked for of the two, the words for it, and whether that is the lesser one.
_ASKED = (
    ("安[いくか]|最安|お得|cheap", "安い", "cheaper", True),
    ("高[いくか]|最高|expensive", "高い", "more expensive", False),
    ("短[いくか]|最短|short", "短い", "shorter", True),
    ("長[いくか]|最長|long", "長い", "longer", False),
    ("少な|小さ|最[少小]|few|small|less", "少ない", "less", True),
    ("多[いくか]|大き|広[いくか]|最[多大]|more|larg|big", "多い", "more", False),
)
_COUNTED = re.compile("何(時間|日|回|人|枚|点|冊|件|個|年|週|分|種類|か所|ヶ所|つ)")
#: What makes an amount no plain one.
_VAGUE = re.compile("[〜～~/／]|以[上下内外]|未満|まで|約|程度|から|超|につき|ごと|ただし|除")
_PLAIN = re.compile(r"[0-9,.]+")
#: That a column's name tells for all of its cells.
_UNIT = re.compile("[（(](円|日|年|か月|時間|分|人|件|回|個|点|冊)[)）]")
_TOTAL = re.compile("(?:合|総|小)?計|total", re.I)
_FREE = re.compile("無料|free", re.I)
_TIMES = r"(?:[のがは]|を)?\s*([0-9]+|[一二三四五六七八九])\s*(?:人|名|枚|個|冊|本|部|台|着|食|つ)"
_KANJI = {c: n for n, c in enumerate("一二三四五六七八九", 1)}
_LABELLED = re.compile(r"^\s*(?:[-*・●○]\s*)?([^。：、]{1,40})：([^：]+)$")
_PAIR = re.compile(r"([一-龥々ァ-ヶーA-Za-z0-9]+)(?:と|か|より)([一-龥々ァ-ヶーA-Za-z0-9]+)")
#: Rows that are still quoted whole.
_ROWS = 12


class Amount(NamedTuple):
    """name: of the row or column. table: the place of the hit and the header of its table."""

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
    """told: what the rows come to; empty where they only stand beside each other. parts: (place of
    the hit, rows as they stand)."""

    told: str
    parts: tuple[tuple[int, str], ...]


def worked(query: str, hits: Sequence[Evidence], language: Language) -> Worked | None:
    """The comparison or sum that a question asks for; `None` where it asks for none, or where it
    would not be exact."""
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
    if not (beside or apart or added):
        told = ""
    elif beside or apart:
        told = _beside(adjective if beside else None, found, language) if len(found) > 1 else ""
    else:
        told = _total(found, language) if sum(amount.times for amount in found) > 1 else ""
    if not told and (told := _count(asked, hits, language) if summed else ""):
        return Worked(told, ((0, hits[0].text),))
    if not told:
        both = _both(asked, hits) if beside or differ else ()
        return Worked("", both) if len(both) else None
    parts: list[tuple[int, str]] = []
    for (at, header), rows in groupby(found, key=lambda amount: amount.table):
        lines = dict.fromkeys([*([header] if header else []), *(row.written for row in rows)])
        parts.append((at, "\n".join(lines)))
    return Worked(told, tuple(parts))


def _both(asked: str, hits: Sequence[Evidence]) -> tuple[tuple[int, str], ...]:
    """The rows of one table that the question names, or the beginnings of the sections whose
    headings it does, where there are two at least."""
    for at, hit in enumerate(hits):
        for header, rows in _tables(hit.text):
            named = _named([cells[0] for cells, _ in rows], asked)[0]
            if 1 < len(named) <= _ROWS:
                lines = [*([header] if header else []), *(rows[n][1] for n in named)]
                return ((at, "\n".join(lines)),)
    sections: dict[str, tuple[int, str]] = {}
    for at, hit in enumerate(hits):
        headings = hit.meta.get("headings")
        if isinstance(headings, list) and headings and _named([str(headings[-1])], asked)[0]:
            first = next((unit.written for unit in spans(hit.text) if not unit.header), "")
            sections.setdefault(str(headings[-1]), (at, first))
    return tuple(sections.values()) if len(sections) > 1 else ()


def _amounts(asked: str, hits: Sequence[Evidence], whole: bool) -> list[Amount]:
    """Of one table; else one each of several, called by the heading that the question names."""
    several: dict[str, Amount] = {}
    for at, hit in enumerate(hits):
        found = _of_rows(asked, hits, at, whole)
        if len(found) > 1:
            return found
        for amount in found:
            name = next(iter(_named_above(hit, asked)), amount.name)
            several.setdefault(name, amount._replace(name=name))
    found = list(several.values())
    if len(found) > 1 and len({amount.unit for amount in found}) == 1:
        return found
    return _of_clauses(asked, hits) or found[:1]


def _count(asked: str, hits: Sequence[Evidence], language: Language) -> str:
    """How many rows the table of the first hit has, which is about what the question names."""
    if not _COUNTED.search(asked) or not hits or hits[0].meta.get("cut_table"):
        return ""
    tables = list(_tables(hits[0].text))
    if len(tables) != 1 or not _named_above(hits[0], asked) or not 1 < len(tables[0][1]) <= _ROWS:
        return ""
    names = [cells[0] for cells, _ in tables[0][1]]
    if any(map(_TOTAL.fullmatch, names)):
        return ""
    if language == "ja":
        return f"記載は{len(names)}行（{'、'.join(names)}）です。"
    return f"There are {len(names)} rows ({', '.join(names)})."


def _unit(asked: str) -> str:
    if counted := _COUNTED.search(asked):
        return counted[1]
    return "円" if _PRICE.search(asked) else ""


def _of_rows(asked: str, hits: Sequence[Evidence], at: int, whole: bool) -> list[Amount]:
    """The amounts of the rows, or of the columns of one row, that are named, in the first table of
    a hit that has them; where none is named and `whole`, of all rows."""
    for header, rows in _tables(hits[at].text):
        names = cells_of(header) if header else ["", ""]
        units = [m[1] if (m := _UNIT.search(name)) else "" for name in names]
        rows = [(cells, line) for cells, line in rows if len(cells) == len(names)]
        rest = asked
        named, rest = _named([cells[0] for cells, _ in rows], rest)
        columns, _ = _named(names[1:], rest)
        columns = [n + 1 for n in columns]
        if not named and whole and not hits[at].meta.get("cut_table") and 1 < len(rows) <= _ROWS:
            if any(_TOTAL.fullmatch(cells[0]) for cells, _ in rows):
                continue
            if not (_named_above(hits[at], asked) or _named(names[:1], asked)[0]):
                continue
            named = list(range(len(rows)))
        table = (at, header)
        if len(named) == 1 and len(columns) > 1:
            cells, line = rows[named[0]]
            found = [_amount(names[n], cells[n] + units[n], asked, table, line) for n in columns]
        else:
            valued = columns or range(1, len(names))
            by_column = [
                [
                    _amount(rows[r][0][0], rows[r][0][n] + units[n], asked, table, rows[r][1])
                    for r in named
                ]
                for n in valued
            ]
            some = [amounts for amounts in by_column if any(amounts)]
            found = some[0] if len(some) == 1 else []
        amounts = [amount for amount in found if amount is not None]
        if amounts and len(amounts) == len(found) and len({a.unit for a in amounts}) == 1:
            return amounts
    return []


def _tables(text: str) -> Iterator[tuple[str, list[tuple[list[str], str]]]]:
    """(header, rows as cells and as they stand); labels with values are a table without one."""
    units = spans(text)
    for header, rows in groupby((u for u in units if u.header), key=lambda unit: unit.header):
        yield header, [(cells_of(unit.written), unit.written) for unit in rows]
    labelled = [(m, line) for line in text.split("\n") if (m := _LABELLED.match(line))]
    if labelled:
        yield "", [([m[1].strip(), m[2].strip()], line.strip()) for m, line in labelled]


def _named_above(hit: Evidence, asked: str) -> list[str]:
    """The headings above, or the title, that stand in the question, the innermost first."""
    headings = hit.meta.get("headings")
    names = [str(name) for name in headings][::-1] if isinstance(headings, list) else []
    names.append(str(hit.meta.get("title") or ""))
    return [names[at] for at in _named(names, asked)[0]]


def _named(names: Sequence[str], text: str) -> tuple[list[int], str]:
    """Places of the names that stand in a text, longer ones first, and the text without them."""
    plain = [re.sub(r"[（(].*?[)）]|\s", "", unicodedata.normalize("NFKC", n)) for n in names]
    text = re.sub(r"\s", "", text)
    found: list[int] = []
    for at in sorted(range(len(plain)), key=lambda n: (-len(plain[n]), n)):
        if plain[at] and plain[at] in text:
            found.append(at)
            text = text.replace(plain[at], "＿" * len(plain[at]))
    return sorted(found), text


def _amount(
    name: str, cell: str, asked: str, table: tuple[int, str], written: str
) -> Amount | None:
    """`None` for what is no single plain amount of the unit that is asked for."""
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
        unit = ""  # of points, and of what the table calls its numbers
    elif not told or (unit and told != unit) or (told in "年月" and "日" not in unit):
        return None
    short = re.sub(r"[（(].*?[)）]|\s", "", unicodedata.normalize("NFKC", name))
    many = re.search(re.escape(short) + _TIMES, asked)
    times = 1 if many is None else _KANJI.get(many[1]) or int(many[1])
    return Amount(name, value, told, times, table, written)


def _of_clauses(asked: str, hits: Sequence[Evidence]) -> list[Amount]:
    """Of two that the question names, the one amount of the first clause that holds it alone."""
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
    """Which of the amounts is the one that is asked for, and by how much they differ. adjective:
    of `_ASKED`."""
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
