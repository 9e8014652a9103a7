"""Reading lines to be checked: JSONL, CSV and plain scripts, one at a time, of any length.

JSONL: an object a row, `{"speaker", "text", "history"?}`; the history is a list of texts or of
such objects, oldest first. CSV or TSV: a head with `speaker` and `text`. Plain: `やな: …`,
`やな：…` or `やな「…」`; an indented row goes on with the line before; blank rows, rows in
（ ） and rows that begin with # are passed over.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

from naisei.core import InputError
from naisei.director.character import Character, load_character, shipped
from naisei.lang import say
from naisei.lengths import LINE, bounded

__all__ = ["KINDS", "Kind", "ScriptLine", "Speakers", "read_lines"]


class Speakers:
    """The shipped characters, and those given on top.

    Args:
        given: ids, names or paths of profiles. The first speaks the lines that name nobody; one
            of the id or name of a shipped character takes its place.
        skip_others: a speaker that is not known is nobody to be checked, instead of an error.

    Raises:
        InputError: a character that cannot be loaded.
    """

    def __init__(self, given: Sequence[str | Path] = (), *, skip_others: bool = False) -> None:
        mine = [load_character(name) for name in given]
        self._unnamed = mine[0] if mine else None
        self._skip_others = skip_others
        self._known = {
            name: character
            for character in (*shipped(), *mine)
            for name in (character.id, *character.names)
        }
        names = sorted(self._known, key=len, reverse=True)
        self._quote = re.compile(rf"\s*({'|'.join(map(re.escape, names))})(?=[「『])")

    def knows(self, name: str) -> bool:
        return name in self._known

    def find(self, name: str, place: str) -> Character | None:
        """The character of this name; `None` for one who is passed over.

        Raises:
            InputError: an unknown speaker, or none where none is given.
        """
        if not name:
            if self._unnamed is not None:
                return self._unnamed
            raise InputError(
                say("話者がわかりません", "no speaker is named"),
                place=place,
                remedy=say(
                    "行を名前で始める (やな: …) か、話者を渡すか、--character で指定してください",
                    "begin the line with a name (やな: …), give a speaker, or say who speaks "
                    "by --character",
                ),
            )
        if (found := self._known.get(name) or self._known.get(name.strip().lower())) is not None:
            return found
        if self._skip_others:
            return None
        known = ", ".join(dict.fromkeys(c.id for c in self._known.values()))
        raise InputError(
            say(f"{name!r} という話者はいません", f"unknown speaker {name!r}"),
            place=place,
            remedy=say(
                f"使えるもの: {known} とその名前。--character FILE でプロファイルを足せます。"
                "--skip-others でほかの話者を飛ばせます",
                f"known: {known} and their names; --character FILE adds a profile, "
                "--skip-others passes over everybody else",
            ),
        )

    def before_quote(self, row: str) -> tuple[str, int]:
        """A known name straight before 「, and where the quotation begins; else `("", 0)`."""
        found = self._quote.match(row)
        return (found[1], found.end()) if found is not None else ("", 0)


Kind = Literal["auto", "jsonl", "csv", "plain"]
KINDS: tuple[Kind, ...] = ("auto", "jsonl", "csv", "plain")

#: Beyond Excel's: a cell may hold a line of a megabyte.
_CELL = 1 << 30
_ASIDE = re.compile(r"\s*(?:[（(].*[）)]\s*$|#|＃|//)")
_LABEL = re.compile(r"\s*[【\[]?([^：:「」\s【】\[\]]{1,40})[】\]]?\s*[：:]\s?")


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """One line of a script. number: of its first row in the file, from 1.

    speaker: as written, empty where the file names none. character: `None` for a speaker who is
    not to be checked. history: as the file gives it, `None` if it does not. in_script: of a
    plain script, whose lines follow each other.
    """

    number: int
    speaker: str
    character: Character | None
    text: str
    history: tuple[str, ...] | None = None
    in_script: bool = False


def read_lines(
    stream: BinaryIO,
    place: str,
    speakers: Speakers,
    *,
    kind: Kind = "auto",
    by_row: bool = False,
) -> Iterator[ScriptLine]:
    """The lines of a stream of UTF-8, as they come.

    by_row: a row of a plain script is a line, without waiting for rows that go on with it.

    Raises:
        InputError: at the row that cannot be used, with what to do about it.
    """
    rows = _decoded(stream, place)
    head: list[tuple[int, str]] = []
    for number, row in rows:
        head.append((number, row))
        if row.strip():
            break
    if not head or not head[-1][1].strip():
        return iter(())
    chosen = _kind(head[-1][1], place) if kind == "auto" else kind
    every = _chained(head, rows)
    if chosen == "jsonl":
        lines = _jsonl(every, place, speakers)
    elif chosen == "csv":
        lines = _csv(every, place, speakers)
    else:
        lines = _plain(every, place, speakers, by_row)
    return (_fitting(line, place) for line in lines)


def _fitting(line: ScriptLine, place: str) -> ScriptLine:
    for text in (line.text, *(line.history or ())):
        bounded(text, LINE, place=f"{place}:{line.number}")
    return line


def _chained(
    head: Sequence[tuple[int, str]], rest: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, str]]:
    yield from head
    yield from rest


def _decoded(stream: BinaryIO, place: str) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(stream, 1):
        try:
            row = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                say(
                    f"UTF-8 のテキストではありません ({error.reason})",
                    f"is not UTF-8 text ({error.reason})",
                ),
                place=f"{place}:{number}",
                remedy=say("UTF-8 で保存してください", "save the file as UTF-8"),
            ) from None
        yield number, row


def _kind(first: str, place: str) -> Kind:
    if place.lower().endswith((".jsonl", ".ndjson")) or first.lstrip().startswith("{"):
        return "jsonl"
    if place.lower().endswith((".csv", ".tsv")) or {"speaker", "text"} <= set(_head(first)):
        return "csv"
    return "plain"


def _head(row: str) -> list[str]:
    cells = next(csv.reader([row], delimiter="\t" if "\t" in row else ","), [])
    return [cell.strip().lower() for cell in cells]


def _jsonl(rows: Iterable[tuple[int, str]], place: str, speakers: Speakers) -> Iterator[ScriptLine]:
    for number, row in rows:
        if not row.strip():
            continue
        where = f"{place}:{number}"
        try:
            data = json.loads(row)
        except (ValueError, RecursionError) as error:
            raise InputError(
                say(f"JSON として読めません: {error}", f"is no JSON: {error}"),
                place=where,
                remedy=say(
                    '1 行に一つ、{"speaker": "yana", "text": "…"} の形で書いてください',
                    'write one object a row: {"speaker": "yana", "text": "…"}',
                ),
            ) from None
        if not isinstance(data, dict) or not isinstance(data.get("text"), str):
            raise InputError(
                say('"text" を持つオブジェクトではありません', 'is no object with a "text"'),
                place=where,
                remedy=say(
                    '1 行に一つ、{"speaker": "yana", "text": "…"} の形で書いてください',
                    'write one object a row: {"speaker": "yana", "text": "…"}',
                ),
            )
        speaker = data.get("speaker") or ""
        if not isinstance(speaker, str):
            raise InputError(
                say("speaker が文字列ではありません", "speaker is no text"),
                place=where,
                remedy=say("id か名前を書いてください", "use an id or a name"),
            )
        history = _history(data["history"], where) if data.get("history") is not None else None
        yield ScriptLine(number, speaker, speakers.find(speaker, where), data["text"], history)


def _history(data: Any, where: str) -> tuple[str, ...]:
    if isinstance(data, list):
        texts: list[Any] = [line.get("text") if isinstance(line, dict) else line for line in data]
        if all(isinstance(text, str) for text in texts):
            return tuple(texts)
    raise InputError(
        say("history が文字列の並びではありません", "history is no list of texts"),
        place=where,
        remedy=say(
            '古い順に "history": ["…", "…"] と書くか、省いてください',
            'write "history": ["…", "…"], oldest first, or leave it out',
        ),
    )


def _csv(rows: Iterable[tuple[int, str]], place: str, speakers: Speakers) -> Iterator[ScriptLine]:
    csv.field_size_limit(_CELL)
    every = iter(rows)
    number, first = next(every)
    while not first.strip():
        number, first = next(every)
    head = _head(first)
    if not {"speaker", "text"} <= set(head):
        raise InputError(
            say(
                f"見出しに {'speaker' if 'speaker' not in head else 'text'} がありません",
                f"the head has no {'speaker' if 'speaker' not in head else 'text'}",
            ),
            place=f"{place}:{number}",
            remedy=say(
                "1 行目に列の名前 speaker,text を書いてください",
                "the first row names the columns: speaker,text",
            ),
        )
    at_speaker, at_text = head.index("speaker"), head.index("text")
    reader = csv.reader(
        (row for _, row in every), delimiter="\t" if "\t" in first else ",", strict=True
    )
    while True:
        begun = number + reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                say(f"CSV として読めません: {error}", f"is no CSV: {error}"),
                place=f"{place}:{begun}",
                remedy=say(
                    'カンマ、引用符、改行を含む発言は "…" で囲み、中の " は "" と書いてください',
                    'put a text with commas, quotes or line ends in quotes: "…", "" for "',
                ),
            ) from None
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) <= max(at_speaker, at_text):
            raise InputError(
                say(
                    f"見出しは {len(head)} 列なのに {len(cells)} 列しかありません",
                    f"has {len(cells)} cells, the head {len(head)}",
                ),
                place=f"{place}:{begun}",
                remedy=say(
                    'カンマを含む発言は "…" で囲んでください',
                    'put a text with commas in quotes: "…"',
                ),
            )
        speaker = cells[at_speaker].strip()
        yield ScriptLine(begun, speaker, speakers.find(speaker, f"{place}:{begun}"), cells[at_text])


def _plain(
    rows: Iterable[tuple[int, str]], place: str, speakers: Speakers, by_row: bool
) -> Iterator[ScriptLine]:
    held: ScriptLine | None = None
    for number, ended in rows:
        row = ended.rstrip("\r\n")
        if not row.strip() or _ASIDE.match(row):
            continue
        indented = row[0].isspace()
        label = _LABEL.match(row)
        name, at = (label[1], label.end()) if label is not None else speakers.before_quote(row)
        if name and (not indented or speakers.knows(name)):
            who = speakers.find(name, f"{place}:{number}")
            text = row[at:]
        elif indented and held is not None:
            held = replace(held, text=f"{held.text}\n{row.strip()}")
            continue
        else:
            name, text = "", row
            who = speakers.find("", f"{place}:{number}")
        if held is not None:
            yield held
        held = ScriptLine(number, name, who, text, in_script=True)
        if by_row:
            yield held
            held = None
    if held is not None:
        yield held
