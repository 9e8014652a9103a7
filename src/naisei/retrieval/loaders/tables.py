"""Tables as displayed: spanning cells, header rows, labels next to values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

_WIDEST, _LONGEST = 100, 20_000
#: Most characters of a header, which each row repeats; names in a longer one are cut, but not
#: below the second number.
_HEADER, _SHORTEST = 250, 5
#: Longest list item that labels the table below it.
_LABEL = 40
#: Longer text is no label or column name.
_LONG = 60
_VALUE = re.compile(r"[\d０-９一二三四五六七八九十]|[。．.]$|.{20}")
_UNITS = re.compile(r"[\d０-９]\s*([^\d０-９\s.,，．、以未超]{1,2})")
_DIGITS = re.compile(r"[\d０-９]+|[一二三四五六七八九十]+(?=[条章節])")
#: Column names for things and for values.
_NAMES = re.compile(
    r"(?:区分|項目|種類|種別|名称?|品目|品名|対象|内容|曜日|地区|番号|場所|施設|区画|担当|理由|氏名|部署|役職|職種|年度|事由"
    r"|続柄|名前|科目|期間|金額|額|料金|単価|日数|時間|日|月|年数|回数|数量|電話|内線|連絡先|備考|説明|方法|定員|締切|期限)"
    r"[（(]?.{0,8}$|^(?:no|name|item|type|id|fee|price|days?|date|value|description)\.?$",
    re.I,
)


class Cell(NamedTuple):
    """head: marked as a header. rows, columns: how many it spans."""

    text: str
    head: bool = False
    rows: int = 1
    columns: int = 1


@dataclass(frozen=True, slots=True)
class TableLine:
    """header: for a row `| a | b |`, its header in the same form; empty for text."""

    text: str
    header: str = ""


def row(cells: Iterable[str]) -> str:
    """A table row as text: `| 区分 | 日数 |`."""
    return "| " + " | ".join([" ".join(cell.split()).replace("|", "｜") for cell in cells]) + " |"


def grid(lines: Iterable[Sequence[Cell]]) -> list[list[Cell]]:
    """Rows of full width, with spanning cells repeated."""
    made: list[list[Cell]] = []
    down: dict[int, tuple[int, Cell]] = {}
    for cells in lines:
        line: list[Cell] = []
        again: dict[int, tuple[int, Cell]] = {}
        left = list(reversed(cells))
        while (left or len(line) in down) and len(line) < _WIDEST:
            if len(line) in down:
                rows, cell = down[len(line)]
                columns = 1
            else:
                cell = left.pop()
                rows, columns = cell.rows, min(cell.columns, _WIDEST)
            for _ in range(max(1, columns)):
                if rows > 1:
                    again[len(line)] = (rows - 1, cell)
                line.append(cell)
        down = again
        made.append(line)
        if len(made) >= _LONGEST:
            break
    width = max(map(len, made), default=0)
    return [line + [Cell("")] * (width - len(line)) for line in made]


def table_lines(
    table: Sequence[Sequence[Cell]], *, item: str = "", header: str | None = None
) -> Iterator[TableLine]:
    """A table's rows, or lines of label and value if it has no header.

    item: the list item above, the subject of each row. header: of the table continued here.
    """
    filled = [line for line in table if any(cell.text.strip() for cell in line)]
    while filled and header is None and _across(filled[0]) and len(filled) > 1:
        yield TableLine(filled.pop(0)[0].text)
    label = [item] if item and is_label(item) else []
    count = 0 if header is not None else _header_rows(filled)
    if header is None:
        names = [_name([line[n].text for line in filled[:count]]) for n in range(_width(filled))]
        header = row([*([""] if label else []), *names]) if count else ""
        if len(header) > _HEADER:
            room = _HEADER // len(names) - 3
            header = row(name[:room] for name in names) if room >= _SHORTEST else ""
    elif filled and row(cell.text for cell in filled[0]) == header:
        count = 1
    body = filled[count:]
    if not header:
        yield from _labelled(body, label[0] if label else "")
        return
    for line in body:
        if _across(line):
            yield TableLine(line[0].text)
        else:
            yield TableLine(row([*label, *(cell.text for cell in line)]), header)


def is_label(text: str) -> bool:
    """Whether a line can label the text below it."""
    return len(text) <= _LABEL and not text.endswith(("。", "．", "."))


def _width(table: Sequence[Sequence[Cell]]) -> int:
    return max(map(len, table), default=0)


def _across(line: Sequence[Cell]) -> bool:
    """Whether one cell fills the whole row."""
    return len(line) > 1 and all(cell is line[0] for cell in line)


def _name(parts: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(part for part in parts if part.strip()))


def _header_rows(table: Sequence[Sequence[Cell]]) -> int:
    """Number of header rows."""
    if not table or _width(table) < 2:
        return 0
    if any(cell.head for line in table for cell in line):
        marked = list(
            takewhile(lambda line: all(c.head or not c.text.strip() for c in line), table)
        )
        return len(marked) if len(marked) < len(table) else 1
    first = table[0]
    if any(cell.columns > 1 for cell in first):
        below = table[1] if len(table) > 1 else first
        tall = max(cell.rows for cell in first)
        if tall == 1 and any(
            c.columns == 1 and b.text.strip() not in ("", c.text.strip())
            for c, b in zip(first, below, strict=True)
        ):
            return 1  # a name spanning the row-name columns
        return min(max(2, tall), len(table) - 1)
    counted = [_measures(line) for line in table]
    if len(counted) > 1 and all(counted):
        # Years of service above the number of days.
        return int(not any(counted[0] & units for units in counted[1:]))
    if len(table) == 1 or all(_VALUE.search(cell.text) for cell in first[1:]):
        return 0
    if any(
        _shaped(cell.text) & {s for line in table[1:] for s in _shaped(line[n].text)}
        for n, cell in enumerate(first)
    ):
        return 0
    if len(first) > 2:
        return int(all(len(cell.text) <= _LONG for cell in first))
    named = [_NAMES.search(cell.text.strip()) is not None for cell in first]
    valued = all(_VALUE.search(line[1].text) for line in table[1:])
    labels = [line for line in table if not _VALUE.search(line[0].text)]
    many = sum(_NAMES.search(line[0].text.strip()) is not None for line in labels) > 1
    return int((valued and named[1]) or (not many and (valued or any(named))))


def _measures(line: Sequence[Cell]) -> set[str]:
    """The units in a row of three or more quantities, apart from its label; else empty."""
    values = [cell.text for cell in line if cell.text.strip()]
    found = [_UNITS.findall(text) for text in values]
    counted = found if found and found[0] else found[1:]
    return {u for units in counted for u in units} if len(counted) > 2 and all(counted) else set()


def _shaped(text: str) -> set[str]:
    """The form of a numbered text, equal for 第1章 and 第12章; else empty."""
    return {shape} if (shape := _DIGITS.sub("9", text.strip())) != text.strip() else set()


def _labelled(body: Sequence[Sequence[Cell]], item: str) -> Iterator[TableLine]:
    """Yield lines of `label：value` pairs, one per table row; under an item a single line."""
    said: list[str] = []
    for line in body:
        if any(len(cell.text) > _LONG for cell in line[:-1]):  # columns of text
            said += [cell.text for cell in line if cell.text.strip()]
        elif text := "、".join(_pairs(line)):
            said.append(text)
    if item and said:
        yield TableLine(f"{item}　{'、'.join(said)}")
    else:
        yield from (TableLine(text) for text in said)


def _pairs(line: Sequence[Cell]) -> Iterator[str]:
    cells = [c for n, c in enumerate(line) if c.text.strip() and (n == 0 or c is not line[n - 1])]
    heads = [n for n, cell in enumerate(cells) if cell.head]
    if len(heads) < 2 or len(heads) == len(cells):
        heads = [0] if cells else []
    for start, end in zip(heads, [*heads[1:], len(cells)], strict=True):
        values = "、".join(" ".join(cell.text.split()) for cell in cells[start + 1 : end])
        label = " ".join(cells[start].text.split())
        yield f"{label}：{values}" if values else label
