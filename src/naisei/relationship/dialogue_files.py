"""The forms in which dialogues come: which lines a file holds, by whom.

JSON: a list of `{"speaker", "text"}`, of `[speaker, text]` or of "name: text"; an object that
holds such a list; the agent files of this package and of the seed; a LoCoMo conversation. JSONL:
an utterance a row, or a dialogue a row. CSV or TSV with named columns. Text: `name: text`,
`name：text` or `name「text」` a line; an indented line goes on with the one before.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import InputError
from naisei.lang import say
from naisei.relationship.vector import RelationVector
from naisei.text_files import read_text

__all__ = ["SESSION", "SPEAKER", "TEXT", "File", "Row", "plain_name", "rows_of", "whole"]

#: Names of the column or key of the speaker, of the text and of the session; the first counts.
SPEAKER = (
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
TEXT = (
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

_LABEL = re.compile(
    r"(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?\s+|\d+[.)]\s+)?[【\[]?([^：:「」『』【】\[\]。、！？!?\t]{1,40}?)[】\]]?\s*(?:\t|[：:](?!//))\s?(.*)",
    re.DOTALL,
)
_QUOTE = re.compile(r"([^：:「」『』。、！？!?]{1,20}?)\s*[「『](.*)[」』]\s*", re.DOTALL)
_ASIDE = re.compile(r"\s*(?:#|＃|//|[（(][^（）()]*[）)]\s*$|[-=＊*—─]{3,}\s*$)")


@dataclass(frozen=True, slots=True)
class Row:
    """One utterance as the file has it."""

    speaker: str
    text: str
    session: int = 1


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
    if Path(place).suffix.lower() in (".csv", ".tsv") or _columns(text) is not None:
        return File(stem, _csv(text, place))
    return File(stem, _plain(text, place))


def plain_name(name: str) -> str:
    """A speaker's name in one width, without spaces around it."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


def _columns(text: str) -> tuple[str, int, int, int | None] | None:
    """Delimiter, places of speaker, text and session, from the first row; `None` if no head."""
    head = next((row for row in text.splitlines() if row.strip()), "")
    for delimiter in ("\t", ",", ";"):
        cells = next(csv.reader([head], delimiter=delimiter), [])
        names = [unicodedata.normalize("NFKC", cell).strip().lower() for cell in cells]
        who = next((names.index(n) for n in SPEAKER if n in names), None)
        what = next((names.index(n) for n in TEXT if n in names), None)
        if who is not None and what is not None and who != what:
            return delimiter, who, what, next((names.index(n) for n in SESSION if n in names), None)
    return None


def _csv(text: str, place: str) -> tuple[Row, ...]:
    found = _columns(text)
    if found is None:
        raise InputError(
            say(
                "見出しに speaker と text の列がありません",
                "the head has no columns speaker and text",
            ),
            place=place,
            remedy=say(
                "1 行目に speaker,text (または 話者,発話) と書いてください",
                "let the first row name them: speaker,text (or 話者,発話)",
            ),
        )
    delimiter, who, what, when = found
    csv.field_size_limit(1 << 30)
    reader = csv.reader(io.StringIO(text.lstrip("\r\n"), newline=""), delimiter=delimiter)
    rows: list[Row] = []
    session = 1
    try:
        columns = len(next(reader))
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) <= max(who, what):
                raise InputError(
                    say(f"{len(cells)} 列しかありません", f"has {len(cells)} cells only"),
                    place=f"{place}:{reader.line_num}",
                    remedy=_in_quotes(),
                )
            if what == columns - 1 and any(cell.strip() for cell in cells[columns:]):
                raise InputError(
                    say(
                        f"見出しは {columns} 列なのに {len(cells)} 列あります",
                        f"has {len(cells)} cells under a head of {columns}",
                    ),
                    place=f"{place}:{reader.line_num}",
                    remedy=_in_quotes(),
                )
            if when is not None and when < len(cells) and cells[when].strip():
                session = whole(cells[when], f"{place}:{reader.line_num}")
            name = plain_name(cells[who])
            if not name and cells[what].strip():
                raise InputError(
                    say("話者が空です", "the speaker is empty"), place=f"{place}:{reader.line_num}"
                )
            rows.append(Row(name, cells[what], session))
    except csv.Error as error:
        raise InputError(
            say(f"CSV として読めません: {error}", f"is no CSV: {error}"),
            place=f"{place}:{reader.line_num}",
        ) from None
    return tuple(rows)


def _in_quotes() -> str:
    return say(
        'カンマを含む発話は "…" で囲んでください',
        'put a text with commas in quotes: "…"',
    )


def whole(value: object, place: str) -> int:
    """A session's number, from 1."""
    text = unicodedata.normalize("NFKC", str(value)).strip()
    found = re.fullmatch(r"\D*(\d{1,6})(?:\.0)?\D*", text)
    if found is None or int(found[1]) < 1:
        raise InputError(
            say(f"セッション番号 {text!r} が読めません", f"session {text!r} is no number from 1"),
            place=place,
        )
    return int(found[1])


def _plain(text: str, place: str) -> tuple[Row, ...]:
    rows: list[Row] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or _ASIDE.match(line):
            continue
        indented = line[0] in " \t\u3000" and bool(rows)
        found = (
            None if indented else (_LABEL.fullmatch(line.strip()) or _QUOTE.fullmatch(line.strip()))
        )
        if found is not None and not found[1].strip().isdigit():
            said = found[2].strip()
            if said[:1] in "「『" and said[-1:] in "」』" and len(said) > 1:
                said = said[1:-1]
            rows.append(Row(plain_name(found[1]), said))
        elif rows and (indented or line.strip()[0] not in ":："):
            last = rows[-1]
            rows[-1] = Row(last.speaker, f"{last.text}\n{line.strip()}", last.session)
        else:
            raise InputError(
                say("話者の名前がありません", "names no speaker"),
                place=f"{place}:{number}",
                remedy=say(
                    "行を「名前: 発話」の形にしてください", "write each line as `name: text`"
                ),
            )
    return tuple(rows)
