"""The forms in which dialogues come: which lines a file holds, by whom.

JSON: a list of `{"speaker", "text"}`, of `[speaker, text]` or of "name: text"; an object that
holds such a list; the agent files of this package and of the seed; a LoCoMo conversation. JSONL:
an utterance a row, or a dialogue a row. CSV or TSV with named columns. Text: `name: text`,
`name：text` or `name「text」` a line; a line without a name goes on with the one before.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from naisei.core import InputError
from naisei.dialogue_rows import Row, is_table, of_table, of_transcript
from naisei.lang import say
from naisei.relationship.vector import RelationVector
from naisei.text_files import read_text


@dataclass(frozen=True, slots=True)
class File:
    """What a file holds. named: speakers in the order in which the file introduces them."""

    name: str
    rows: tuple[Row, ...]
    named: tuple[str, ...] = ()
    personas: dict[str, str] = field(default_factory=dict)
    vectors: dict[tuple[int, int], tuple[RelationVector | None, RelationVector | None]] = field(
        default_factory=dict
    )
    injected: frozenset[tuple[int, int]] = frozenset()


def rows_of(place: str, dialogue: str | None = None) -> File:
    """Read a file (or the agent_a.json of a folder).

    Raises:
        InputError: it cannot be read or understood.
    """
    from naisei.relationship.dialogue_json import from_json

    if (held := Path(place) / "agent_a.json").is_file():
        place = str(held)
    text = read_text(place)
    stem = Path(place).stem
    if Path(place).suffix.lower() in (".json", ".jsonl", ".ndjson") or text.lstrip()[:1] in (
        "{",
        "[",
    ):
        try:
            return from_json(text, stem, place, dialogue)
        except InputError:
            # A transcript may begin with 「[10:30] …」.
            if Path(place).suffix.lower() in (".json", ".jsonl", ".ndjson") or text[:1] == "{":
                raise
    if dialogue is not None:
        raise InputError(
            say("一つの会話しか入っていないファイルです", "the file holds one dialogue only"),
            place="--dialogue",
        )
    head = next((row for row in text.splitlines() if row.strip()), "")
    if Path(place).suffix.lower() in (".csv", ".tsv") or is_table(head):
        return File(stem, tuple(_table(text, place)))
    return File(stem, tuple(_transcript(text, place)))


def plain_name(name: str) -> str:
    """A speaker's name in one width, without spaces around it."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


def _table(text: str, place: str) -> Iterator[Row]:
    for row in of_table(text.splitlines(keepends=True), place):
        name = plain_name(row.speaker)
        if not name and row.text.strip():
            raise InputError(
                say("話者が空です", "the speaker is empty"), place=f"{place}:{row.number}"
            )
        yield replace(row, speaker=name)


def _transcript(text: str, place: str) -> list[Row]:
    rows: list[Row] = []
    for row in of_transcript(enumerate(text.splitlines(), 1)):
        said = row.text.strip()
        if row.speaker:
            if said[:1] in "「『" and said[-1:] in "」』" and len(said) > 1:
                said = said[1:-1]
            rows.append(replace(row, speaker=plain_name(row.speaker), text=said))
        elif rows and said[0] not in ":：":
            rows[-1] = replace(rows[-1], text=f"{rows[-1].text}\n{said}")
        else:
            raise InputError(
                say("話者の名前がありません", "names no speaker"),
                place=f"{place}:{row.number}",
                remedy=say(
                    "行を「名前: 発話」の形にしてください", "write each line as `name: text`"
                ),
            )
    return rows
