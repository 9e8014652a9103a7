"""Reading lines to be checked: JSONL, CSV and plain scripts, one at a time, of any length.

JSONL: an object a row, `{"speaker", "text", "history"?}`; the history is a list of texts or of
such objects, oldest first. CSV, TSV and transcripts: as `naisei.dialogue_rows` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from naisei.core import InputError
from naisei.dialogue_rows import is_table, of_object, of_table, of_transcript
from naisei.director.character import Character, load_character, shipped
from naisei.lang import say
from naisei.lengths import LINE, bounded
from naisei.text_files import json_of


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


Kind = Literal["auto", "jsonl", "csv", "plain"]
KINDS: tuple[Kind, ...] = ("auto", "jsonl", "csv", "plain")


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
    else:
        said = (
            of_table((row for _, row in every), place)
            if chosen == "csv"
            else of_transcript(every, is_name=speakers.knows, joined=not by_row)
        )
        lines = (
            ScriptLine(
                row.number,
                row.speaker,
                speakers.find(row.speaker, f"{place}:{row.number}"),
                row.text,
                in_script=chosen == "plain",
            )
            for row in said
        )
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
    if place.lower().endswith((".csv", ".tsv")) or is_table(first):
        return "csv"
    return "plain"


def _jsonl(rows: Iterable[tuple[int, str]], place: str, speakers: Speakers) -> Iterator[ScriptLine]:
    for number, row in rows:
        if not row.strip():
            continue
        where = f"{place}:{number}"
        try:
            data = json_of(row)
        except (ValueError, RecursionError) as error:
            raise InputError(
                say(f"JSON として読めません: {error}", f"is no JSON: {error}"),
                place=where,
                remedy=say(
                    '1 行に一つ、{"speaker": "yana", "text": "…"} の形で書いてください',
                    'write one object a row: {"speaker": "yana", "text": "…"}',
                ),
            ) from None
        if (said := of_object(data)) is None:
            raise InputError(
                say('"text" を持つオブジェクトではありません', 'is no object with a "text"'),
                place=where,
                remedy=say(
                    '1 行に一つ、{"speaker": "yana", "text": "…"} の形で書いてください',
                    'write one object a row: {"speaker": "yana", "text": "…"}',
                ),
            )
        speaker, text = said
        history = _history(data["history"], where) if data.get("history") is not None else None
        yield ScriptLine(number, speaker, speakers.find(speaker, where), text, history)


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
