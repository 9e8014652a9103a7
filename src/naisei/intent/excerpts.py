"""Text that belongs to a quoted row, list item or sentence and is quoted with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from naisei.intent.alignment import in_range
from naisei.intent.person_kinds import person_kinds
from naisei.japanese.content_preservation import quantities
from naisei.japanese.query_analysis import answered_by, is_stopword
from naisei.japanese.sentences import codes, refers_back, search_tokens
from naisei.retrieval.chunking import Span, cells_of

_ITEM = re.compile(
    r"^\s*(?:[-*+・●○◆■•※]|[0-9０-９]{1,2}[.．)）]\s|[(（][0-9０-９]{1,2}[)）]|[①-⑳])"
)
#: A sentence that restricts or continues the preceding text.
_NARROWS = re.compile(
    r"^\s*(?:[-*・※]\s*)?(?:※|ただし|但し|なお|また、?これ|この場合|その場合|ない場合|上記|except|however)",
    re.I,
)
_QUESTION = re.compile(r"(?:か[。？?]?|[？?])\s*$")
#: Questions answered by a whole list.
_SEVERAL = re.compile(
    "手順|流れ|手続き?[はをがの]|やり方|方法|どうやって|どうすれば|どうしたら|何が(?:必要|要)|必要(?:な(?:もの|物|書類)|書類)|"
    "持ち物|何を(?:持|すれば|したら|用意)|書類|種類|どんなもの|一覧|全部|何したら|steps|how do"
)
_WIDE, _LIST = 170, 420


def is_list_asked(query: str, words: Sequence[str], heading: str, text: str) -> bool:
    """Whether a list question names the same thing as the heading of a list."""
    named = {w for w in search_tokens(heading) if not is_stopword(w)}
    several = _SEVERAL.search(query) is not None and _SEVERAL.search(heading) is not None
    items = sum(_ITEM.match(line) is not None for line in text.split("\n"))
    return several and bool(named) and named <= set(words) and items > 1


def lead_of(lines: Sequence[str], at: int) -> str:
    """The line that introduces a row's table or an item's list; empty if there is none."""
    table, deep = lines[at].lstrip().startswith("|"), _depth(lines[at])
    if not table and not _ITEM.match(lines[at]):
        return ""
    for line in reversed(lines[:at]):
        if line.lstrip().startswith("|"):
            continue
        above = table or not _ITEM.match(line) or _depth(line) < deep
        if above or (INTRODUCES.search(line) and not _FULL.search(lines[at])):
            return line if len(line) <= _WIDE else ""
    return ""


#: A sentence completed by the items or rows after it; an item that is a case without its
#: consequence; an item that is a sentence (土曜日（第3土曜日を除く。） is not).
INTRODUCES = re.compile("次の|次に掲げる|以下の|下記|下の表|各号")
_BARE_CASE = re.compile("(?:場合|とき|時|者)[）)。]?$")
_FULL = re.compile(r"。$|^\s*[（(][^（(]*。[）)]$")


def end_of(lines: Sequence[str], at: int) -> int:
    """Return the line after an item's content: after its nested items and rows, or, if there are
    none, after those that it introduces or what applies in its case."""
    end = at + 1
    while end < len(lines) and _below(lines[end], _depth(lines[at])):
        end += 1
    if end > at + 1:
        return end
    if _BARE_CASE.search(lines[at]) and end < len(lines) and not _BARE_CASE.search(lines[end]):
        return end + 1
    while INTRODUCES.search(lines[at]) and end < len(lines) and not _FULL.search(lines[end]):
        end += 1
    return end


def filled_by(lines: Sequence[str], unit: Span) -> list[str]:
    """The lines that a sentence such as 「次のとおりとする。」 introduces; empty if too long to
    quote."""
    filled = list(lines[unit.line + 1 : end_of(lines, unit.line)])
    whole = INTRODUCES.search(unit.written) is not None and sum(map(len, filled)) <= _LIST
    return filled if whole else []


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


#: A label with its value, as in tables without a header and short lists.
_LABELLED = re.compile(r"^[^。：]{1,40}：\S")


def around(
    query: str,
    words: Sequence[str],
    units: Sequence[Span],
    best: int,
    scores: Sequence[float],
    text: str,
) -> str:
    unit = units[best]
    lines = text.split("\n")
    if unit.header:
        above = lead_of(lines, unit.line)
        mates = [
            n
            for n, other in enumerate(units)
            if other.header == unit.header and lead_of(lines, other.line) == above
        ]
        # If the question names no row, equally matching rows are included.
        keyed = _named(words, units)
        least = 0.97 if best in keyed else 0.88
        rows = [n for n in mates if scores[n] >= least * scores[best]]
        whole = best not in keyed and sum(len(units[n].written) for n in rows) <= _LIST
        rows = rows if len(rows) <= 5 or whole else [best]
        table = [unit.header, *(units[n].written for n in rows)]
        if _SEVERAL.search(query) and sum(map(len, lines)) <= _LIST:
            table = [unit.header, *(u.written for u in units if u.header == unit.header)]
        note = units[best + 1] if best + 1 < len(units) else None
        after = [note.written] if note and not note.header and _NARROWS.match(note.written) else []
        lead = [above.strip()] if _ITEM.match(above) else []
        return "\n".join([*lead, *_columns(query, table), *after]).strip()
    if _LABELLED.match(lines[unit.line]) and not _SEVERAL.search(query):
        return lines[unit.line].strip()
    if _ITEM.match(lines[unit.line]):
        return _item(query, lines, unit.line)
    if len(text) <= _WIDE and not any(u.header for u in units):
        return text.strip()
    if filled := filled_by(lines, unit):
        return "\n".join([unit.written, *filled]).strip()
    return _sentences(query, units, best)


def _keys(unit: Span) -> set[str]:
    """Return the words that identify a row: those in its first cell and in other cells without a
    quantity."""
    first, *others = cells_of(unit.written)
    return set(search_tokens(" ".join([first, *(c for c in others if not quantities(c))])))


def _named(words: Sequence[str], units: Sequence[Span]) -> set[int]:
    """The rows that share a word with the question that no other row of their table has."""
    keys = {n: _keys(unit) for n, unit in enumerate(units) if unit.header}
    counts = Counter((units[n].header, w) for n, key in keys.items() for w in key)
    return {
        n
        for n, key in keys.items()
        if any(counts[units[n].header, w] == 1 for w in key & set(words))
    }


def _columns(query: str, table: Sequence[str]) -> list[str]:
    """A table's rows without the columns for models or kinds of persons other than the requested
    one."""
    rows = [cells_of(row) for row in table]
    if any(len(row) != len(rows[0]) for row in rows):
        return list(table)
    columns = [
        (set(codes(name)), {(k.field, k.kind) for k in person_kinds(name)}) for name in rows[0]
    ]
    models, kinds = set(codes(query)), {(k.field, k.kind) for k in person_kinds(query)}
    fields = {field for field, _ in kinds}
    dropped: set[int] = set()
    if any(models & named for named, _ in columns):
        dropped |= {n for n, (named, _) in enumerate(columns) if named and not models & named}
    if any(kinds & named for _, named in columns):
        dropped |= {
            n
            for n, (_, named) in enumerate(columns)
            if not kinds & named and fields & {field for field, _ in named}
        }
    if not dropped:
        return list(table)
    kept = [n for n in range(len(columns)) if n not in dropped]
    return ["| " + " | ".join(row[n] for n in kept) + " |" for row in rows]


def _item(query: str, lines: Sequence[str], at: int) -> str:
    """A list item with its nested lines and the line that introduces its list; the whole list if
    the question asks for it, or if it is short and the question names no single item."""
    deep, first, last = _depth(lines[at]), at, at + 1
    lead = lead_of(lines, at)
    while first > 0 and lines[first - 1] != lead and _below(lines[first - 1], deep - 1):
        first -= 1
    while last < len(lines) and _below(lines[last], deep - 1):
        last += 1
    whole = "\n".join([lead, *lines[first:last]]).strip()
    alone = any(in_range(v, lines[at]) for v in quantities(query))
    if (len(whole) <= _WIDE and not alone) or (_SEVERAL.search(query) and len(whole) <= _LIST):
        return whole
    end = end_of(lines, at)
    while at > first and refers_back(_ITEM.sub("", lines[at])):
        at -= 1
    while end < len(lines) and _NARROWS.match(lines[end]):
        end += 1
    while end > at + 1 and sum(map(len, lines[at:end])) > _LIST:
        end -= 1
    if _depth(lead) == deep and not lead.rstrip().endswith(_LEADS):
        lead = ""
    return "\n".join([lead, *lines[at:end]]).strip()


_LEADS = ("。", "：", ":", "す", "）", "、")


def _below(line: str, deep: int) -> bool:
    """Whether a line belongs to a deeper level: an item or one of its rows."""
    if line.lstrip().startswith("|"):
        return True
    return bool(line) and _depth(line) > deep and (deep >= 0 or _ITEM.match(line) is not None)


def _sentences(query: str, units: Sequence[Span], best: int) -> str:
    """The sentence with the preceding ones it refers to and its exceptions. If it lacks what the
    question's form asks for, add as much of its paragraph as fits."""

    def length(a: int, b: int) -> int:
        return sum(len(u.written) for u in units[a:b])

    start, end = best, best + 1
    while start > 0 and refers_back(units[start].written) and not units[start - 1].header:
        start -= 1
    while end < len(units) and _NARROWS.match(units[end].written):
        end += 1
    if _QUESTION.search(units[best].written):
        # In a list of questions, quote the answer.
        while end < len(units) and length(start + 1, end + 1) <= _WIDE:
            end += 1
    answers = answered_by(query, units[best].said)
    # The further steps of a scale: 9日前までは40%、当日は全額.
    steps = answers and _STEP.search(units[best].written)
    while (
        steps and end < len(units) and _is_step(query, units[end]) and length(start, end) <= _LIST
    ):
        end += 1
    while steps and start > 0 and _is_step(query, units[start - 1]) and length(start, end) <= _LIST:
        start -= 1
    line = units[best].line if not answers else -1
    while end < len(units) and units[end].line == line and length(start, end + 1) <= _WIDE:
        end += 1
    while start > 0 and units[start - 1].line == line and length(start - 1, end) <= _WIDE:
        start -= 1
    parts = [units[start].written]
    for before, unit in zip(units[start:], units[start + 1 : end], strict=False):
        apart = " " if before.written[-1:].isascii() and unit.written[:1].isascii() else ""
        parts += ["\n" if unit.line != before.line else apart, unit.written]
    return "".join(parts).strip()


_STEP = re.compile(
    "[0-9０-９][^0-9０-９。]{0,4}(?:まで|から|以[上下内前後]|未満|を?超え|前)|当日|同日"
)


def _is_step(query: str, unit: Span) -> bool:
    """Whether a sentence gives the requested value for another range."""
    ranged = not unit.header and _STEP.search(unit.written) is not None
    return ranged and answered_by(query, unit.said) is True


def excerpt(query: str, words: Sequence[str], units: Sequence[Span], at: int, text: str) -> str:
    """One of a text's sentences, items or rows with what belongs to it."""
    alone = [float(n == at) for n in range(len(units))]
    return around(query, words, units, at, alone, text)
