"""The utterances of a file of dialogue, one at a time, as they stand there: who, and what.

Tables (CSV, TSV, `;`) with named columns; transcripts with `name: text`, `name：text`,
`name<tab>text` or `name「text」` a row; objects of JSON. Who the names are, and which file holds
which form, is told by those that read: the director's scripts, and dialogues whose relationship
is read.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from naisei.core import InputError
from naisei.lang import say

#: Names of the column or key of the speaker, of the text and of the session; the first counts.
_SPEAKER = (
    "speaker",
    "speaker_name",
    "name",
    "話者",
    "話者名",
    "発話者",
    "名前",
    "role",
    "from",
    "author",
    "agent",
)
_TEXT = (
    "text",
    "utterance",
    "発話",
    "発話内容",
    "本文",
    "セリフ",
    "台詞",
    "内容",
    "content",
    "message",
    "line",
)
SESSION = ("session", "session_idx", "セッション", "回")

#: Beyond Excel's: a cell may hold a line of a megabyte.
_CELL = 1 << 30
_LABEL = re.compile(
    r"\s*(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?\s+|\d+[.)]\s+)?"
    r"[【\[]?([^：:「」『』【】\[\]。、！？!?\t]{1,40}?)[】\]]?\s*(?:\t|[：:](?!//))\s?"
)
_QUOTE = re.compile(r"\s*([^：:「」『』。、！？!?]{1,20}?)\s*(?=[「『])")
_ASIDE = re.compile(r"\s*(?:#|＃|//|[（(][^（）()]*[）)]\s*$|[-=＊*—─]{3,}\s*$)")


@dataclass(frozen=True, slots=True)
class Row:
    """One utterance as the file has it.

    number: of its first row in the file, from 1. speaker: "" where none is named. session: from
    1; 1 where the file knows none.
    """

    number: int
    speaker: str
    text: str
    session: int = 1


def is_table(row: str) -> bool:
    """Whether a first row names the columns of a table."""
    return _columns(row) is not None


def _columns(row: str) -> tuple[str, int, int, int | None] | None:
    """Delimiter, places of speaker, text and session; `None` if the row is no head."""
    csv.field_size_limit(_CELL)
    for delimiter in ("\t", ",", ";"):
        cells = next(csv.reader([row], delimiter=delimiter), [])
        names = [unicodedata.normalize("NFKC", cell).strip().lower() for cell in cells]
        who = next((names.index(n) for n in _SPEAKER if n in names), None)
        what = next((names.index(n) for n in _TEXT if n in names), None)
        if who is not None and what is not None and who != what:
            return delimiter, who, what, next((names.index(n) for n in SESSION if n in names), None)
    return None


def of_table(rows: Iterable[str], place: str) -> Iterator[Row]:
    """The utterances of a table whose first row that is not blank names its columns.

    rows: with their line ends, since a cell may hold some. An empty session is the one before.

    Raises:
        InputError: no such columns, or a row that does not fit them.
    """
    every = iter(rows)
    first = 1
    head = next(every)
    while not head.strip():
        first, head = first + 1, next(every)
    found = _columns(head)
    if found is None:
        raise InputError(
            say(
                "見出しに speaker と text の列がありません",
                "the head has no columns speaker and text",
            ),
            place=f"{place}:{first}",
            remedy=say(
                "1 行目に speaker,text (または 話者,発話) と書いてください",
                "let the first row name them: speaker,text (or 話者,発話)",
            ),
        )
    delimiter, who, what, when = found
    columns = len(next(csv.reader([head], delimiter=delimiter)))
    reader = csv.reader(every, delimiter=delimiter, strict=True)
    session = 1
    while True:
        number = first + reader.line_num + 1
        at = f"{place}:{number}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                say(f"CSV として読めません: {error}", f"is no CSV: {error}"),
                place=at,
                remedy=say(
                    'カンマ、引用符、改行を含む発言は "…" で囲み、中の " は "" と書いてください',
                    'put a text with commas, quotes or line ends in quotes: "…", "" for "',
                ),
            ) from None
        if not any(cell.strip() for cell in cells):
            continue
        spilt = what == columns - 1 and any(cell.strip() for cell in cells[columns:])
        if len(cells) <= max(who, what) or spilt:
            raise InputError(
                say(
                    f"見出しは {columns} 列なのに {len(cells)} 列あります",
                    f"has {len(cells)} cells under a head of {columns}",
                ),
                place=at,
                remedy=say(
                    'カンマを含む発言は "…" で囲んでください',
                    'put a text with commas in quotes: "…"',
                ),
            )
        if when is not None and when < len(cells) and cells[when].strip():
            session = session_number(cells[when], at)
        yield Row(number, cells[who].strip(), cells[what], session)


def session_number(value: object, place: str) -> int:
    """A session's number, from 1, of a cell such as `2` or 第2回. Raises `InputError`."""
    text = unicodedata.normalize("NFKC", str(value)).strip()
    found = re.fullmatch(r"\D*(\d{1,6})(?:\.0)?\D*", text)
    if found is None or int(found[1]) < 1:
        raise InputError(
            say(f"セッション番号 {text!r} が読めません", f"session {text!r} is no number from 1"),
            place=place,
        )
    return int(found[1])


def of_transcript(
    rows: Iterable[tuple[int, str]],
    *,
    is_name: Callable[[str], bool] | None = None,
    joined: bool = True,
) -> Iterator[Row]:
    """The utterances of a transcript.

    Blank rows, rows in （ ）, rules and rows that begin with # are passed over. An indented row
    goes on with the utterance before; another without a name is an utterance of nobody.

    Args:
        rows: numbered, from 1.
        is_name: whether a name is known. Known names count in indented rows too, and are the
            only ones before 「…」; by default every name does, in rows that are not indented.
        joined: `False`: each row is given at once, without waiting for rows that go on with it.
    """
    held: Row | None = None
    for number, ended in rows:
        row = ended.rstrip("\r\n")
        if not row.strip() or _ASIDE.match(row):
            continue
        indented = row[0].isspace()
        name, at = _named(row, is_name)
        if name and indented and not (is_name(name) if is_name else held is None):
            name, at = "", 0
        if not name and indented and held is not None:
            held = replace(held, text=f"{held.text}\n{row.strip()}")
            continue
        if held is not None:
            yield held
        held = Row(number, name, row[at:])
        if not joined:
            yield held
            held = None
    if held is not None:
        yield held


def _named(row: str, is_name: Callable[[str], bool] | None) -> tuple[str, int]:
    """The name at the beginning of a row, and where its text begins; else `("", 0)`."""
    if (label := _LABEL.match(row)) is not None and not label[1].strip().isdigit():
        return label[1].strip(), label.end()
    quote = _QUOTE.match(row)
    if quote is not None and (is_name(quote[1]) if is_name else row.rstrip()[-1] in "」』"):
        return quote[1].strip(), quote.end()
    return "", 0


def of_object(row: Any) -> tuple[str, str] | None:
    """Speaker ("" if there is none) and text of an object of JSON; `None` if it has no text."""
    if not isinstance(row, dict):
        return None
    named = (row[k] for k in _SPEAKER if isinstance(row.get(k), str | int))
    who = next((str(name) for name in named if not isinstance(name, bool)), "")
    what = next((row[k] for k in _TEXT if isinstance(row.get(k), str)), None)
    return None if what is None else (who, what)
