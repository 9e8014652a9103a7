"""Reads tables: CSV, TSV, Markdown, with a header, or with two columns: speaker and text."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from naisei.core import InputError
from naisei.lang import say
from naisei.transcripts.turns import Turn, moment, plain_name


def _names(*rows: str) -> tuple[str, ...]:
    return tuple(" ".join(rows).split())


#: Column names, JSON keys and paths; the first present one counts.
SPEAKER = _names(
    "speaker speaker_name speaker_id speaker_idx name 話者 話者名 発話者 話し手 キャラ",
    "キャラクター キャラ名 キャラクター名 登場人物 役 役名 配役 送信者 送信者名 発信者 投稿者",
    "投稿者名 発言者 人物 名前 なまえ お名前 氏名 生徒 生徒名 学生 学生名 参加者 表示名 ユーザー",
    "ユーザー名 担当 role from sender sender_name author agent user username character",
    "character_name character_id senderName interlocutor_id speaker_label ja_speaker creator.name",
    "author.display_name author.name",
)
TEXT = _names(
    "text utterance 発話 発話内容 発話文 発言 発言内容 本文 セリフ せりふ 台詞 セリフ内容 台本",
    "内容 メッセージ メッセージ内容 コメント 投稿 投稿内容 テキスト チャット 会話 文章",
    "content message line value body comment post mes transcript ja_sentence parts content.body",
)
SESSION = _names(
    "session session_idx セッション 回 シーン 場面 場 幕 話 章 日 scene episode chapter"
)
DIALOGUE = _names(
    "dialogue_id dialog_id session_id conversation_id conv_id chat_id thread_id thread 対話id",
    "会話id 対話番号 会話番号 スレッド dialogue conversation",
)
ORDER = _names(
    "turn turn_id turn_idx turn_no utterance_id utterance_idx no 番号 ターン 発話番号 順番"
)
WHEN = _names(
    "time timestamp datetime date created_at 日時 時刻 送信日時 日付 タイムスタンプ 投稿日時",
    "送信時刻 timestamp_ms created_date send_date sent_at origin_server_ts time_in_seconds",
    "date_unixtime",
)

#: More than in Excel: a cell may contain a line of a megabyte.
_CELL = 1 << 30
#: Headers of columns other than speakers.
_NOTES = re.compile(r"メモ|備考|注|時刻|日時|時間|番号|no\b|id\b|time|date|note", re.IGNORECASE)
_BREAK = re.compile(r"\s*<br\s*/?>\s*")
_MOOD = re.compile(r"[（(][^（）()]*[)）]\Z")
_SENTENCE = re.compile(r"[。！？!?「」:：]")
_NUMBER = re.compile(r"\D*(\d{1,6})(?:\.0)?\D*")
_RULE = re.compile(r"\s*\|?[\s:|-]*-{2,}[\s:|-]*\|?\s*\Z")


@dataclass(frozen=True, slots=True)
class Columns:
    """Column indices; `None` for a missing column. head: number of rows above the first
    utterance."""

    delimiter: str
    speaker: int
    text: int
    width: int
    session: int | None = None
    dialogue: int | None = None
    order: int | None = None
    when: int | None = None


def columns_of(head: str) -> Columns | None:
    """The columns according to a header row, or `None`."""
    csv.field_size_limit(_CELL)
    for delimiter in ("\t", ",", ";", "|"):
        cells = next(
            csv.reader(
                [head.strip().strip("|") if delimiter == "|" else head], delimiter=delimiter
            ),
            [],
        )
        names = [unicodedata.normalize("NFKC", cell).strip().strip("*").lower() for cell in cells]
        # A column `dialogue` contains the texts if no other does, else the dialogue's id.
        who, what = _column_index(names, SPEAKER), _column_index(names, (*TEXT, "dialogue"))
        if who is not None and what is not None and who != what:
            names[what] = ""
            extra = (_column_index(names, known) for known in (SESSION, DIALOGUE, ORDER, WHEN))
            return Columns(delimiter, who, what, len(cells), *extra)
    return None


def is_memo(text: str) -> bool:
    """Whether no row has two filled cells, so that speakers are missing."""
    csv.field_size_limit(_CELL)
    return all(sum(map(bool, map(str.strip, cells))) < 2 for cells in csv.reader(text.splitlines()))


def no_columns(head: str, place: str) -> InputError:
    """The error for a header without speaker or text, with the existing and the known columns."""
    delimiter = max("\t,;", key=head.count)
    found = "、".join(
        filter(None, map(str.strip, next(csv.reader([head.strip()], delimiter=delimiter))))
    )
    ja, en = (
        [[n for n in known if n.isascii() is english and "." not in n] for known in (SPEAKER, TEXT)]
        for english in (False, True)
    )
    return InputError(
        say(
            f"話者 (speaker) と発話 (text) の列がわかりません。見出し: {found[:200]}",
            f"the head has no columns speaker and text; it has: {found[:200]}",
        ),
        place=place,
        remedy=say(
            f"見出しを直してください。話者は {'、'.join(ja[0])}、発話は {'、'.join(ja[1])} のどれか"
            " (英語は speaker と text)",
            f"rename the columns. Speaker: {', '.join(en[0] + ja[0])}. "
            f"Text: {', '.join(en[1] + ja[1])}",
        ),
    )


def _column_index(names: Sequence[str], known: Sequence[str]) -> int | None:
    return next((names.index(name) for name in known if name in names), None)


def headless(rows: Sequence[str]) -> Columns | None:
    """Two columns, name and text (VOICEVOX, YMM4), recognised by their cells."""
    for delimiter in (",", "\t"):
        read = [row.rstrip("\r\n").split(delimiter, 1) for row in rows[:60]]
        two = all(len(cells) == 2 and "\t" not in cells[1] for cells in read)
        cells_each = {row.count(delimiter) for row in rows[:60]}
        if len(read) < 2 or not two or (len(cells_each) == 1 and cells_each != {1}):
            continue
        names = Counter(_MOOD.sub("", cells[0].strip()) for cells in read)
        plain = all(name and len(name) <= 20 and not _SENTENCE.search(name) for name in names)
        words = all(re.search(r"[^\W\d_]", name) for name in names)
        longer = 3 * sum(len(a) <= len(b) for a, b in read) >= 2 * len(read)
        again = len(read) < 3 or len(names) < len(read)  # a glossary has each name once
        often = len(read) < 5 or 2 * len(names) <= len(read)
        if plain and words and longer and again and often:
            return Columns(delimiter, 0, 1, 0)
    return None


def by_column(rows: Sequence[str]) -> list[tuple[int, str, str]]:
    """Row, speaker and text of a table with one column per speaker; [] for other tables. The
    headers are the speakers' names.
    """
    read = list(csv.reader(rows, delimiter="\t" if "\t" in rows[0] else ","))
    head = [cell.strip() for cell in read[0]]
    times = re.compile(r"[\d:.\s/-]*\Z")
    columns = [n for n, name in enumerate(head) if name and not _NOTES.match(name)]
    columns = [n for n in columns if any(len(c) > n and not times.match(c[n]) for c in read[1:])]
    whole = sum(len(cells) == len(head) for cells in read)
    if len(columns) != 2 or len(read) < 4 or 5 * whole < 4 * len(read) or re.search(r"\d", head[0]):
        return []
    one = [c for c in read[1:] if sum(len(c) > n and bool(c[n].strip()) for n in columns) == 1]
    if 3 * len(one) < 2 * (len(read) - 1):
        return []
    return [
        (row, head[n], cells[n].strip())
        for row, cells in enumerate(read[1:], 2)
        for n in columns
        if len(cells) > n and cells[n].strip()
    ]


def table_turns(
    rows: Sequence[str], columns: Columns, place: str, first: int
) -> Iterator[tuple[str, Turn]]:
    """Yield dialogue ("" if the table has no such column) and utterance of each row.

    rows: the rows below the header, with line endings. first: number of the first row.

    Raises:
        InputError: a row does not match the header; includes its location.
    """
    if columns.delimiter == "|":
        # An escaped vertical bar is part of the cell.
        rows = list(takewhile(lambda row: row.lstrip()[:1] == "|", rows))
        rows = [row.replace(r"\|", "｜").strip().strip("|") + "\n" for row in rows]
    if not columns.width:  # without a header, a text may contain commas
        for number, row in enumerate(rows, first):
            name, _, text = row.partition(columns.delimiter)
            if row.strip():
                yield "", Turn(number, plain_name(_MOOD.sub("", name.strip())), text.strip())
        return
    found = list(_cells_of(rows, columns, place, first))
    sessions = sessions_of([_cell(cells, columns.session) for _, cells in found])
    for (number, cells), session in zip(found, sessions, strict=True):
        order = _cell(cells, columns.order)
        turn = Turn(
            number,
            plain_name(_MOOD.sub("", cells[columns.speaker])),
            _BREAK.sub("\n", cells[columns.text].strip())
            if columns.delimiter == "|"
            else cells[columns.text].replace("_comma_", ","),
            session,
            at=moment(_cell(cells, columns.when)),
            order=int(order) if order.isdigit() else None,
        )
        yield _cell(cells, columns.dialogue), turn


def _cells_of(
    rows: Sequence[str], columns: Columns, place: str, first: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each non-blank row."""
    reader = csv.reader(rows, delimiter=columns.delimiter, strict=columns.delimiter != "|")
    while True:
        number = first + reader.line_num
        at = f"{place}:{number}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                say(f"CSV として読めません: {error}", f"is no CSV: {error}"),
                place=at,
                remedy=_quote(),
            ) from None
        blank = not any(cell.strip() for cell in cells)
        if blank or (columns.delimiter == "|" and _RULE.match("|".join(cells))):
            continue
        _check(cells, columns, at)
        yield number, cells


def sessions_of(named: Sequence[str]) -> list[int]:
    """Session numbers: as written, or in order of appearance if some are not numbers (放課後,
    5/11); an empty cell repeats the one above."""
    filled: list[str] = []
    for name in named:
        filled.append(name or (filled[-1] if filled else ""))
    order = {name: number for number, name in enumerate(dict.fromkeys(filled), 1)}
    numbers = [_NUMBER.fullmatch(unicodedata.normalize("NFKC", name)) for name in order]
    if all(found and int(found[1]) for found in numbers):
        order = {name: int(found[1]) for name, found in zip(order, numbers, strict=True) if found}
    return [order[name] for name in filled]


def _cell(cells: Sequence[str], place: int | None) -> str:
    return cells[place].strip() if place is not None and place < len(cells) else ""


def _check(cells: Sequence[str], columns: Columns, place: str) -> None:
    spilt = columns.text == columns.width - 1 and any(c.strip() for c in cells[columns.width :])
    if len(cells) <= max(columns.speaker, columns.text) or spilt:
        raise InputError(
            say(
                f"見出しは {columns.width} 列なのに {len(cells)} 列あります",
                f"has {len(cells)} cells under a head of {columns.width}",
            ),
            place=place,
            remedy=_quote(),
        )


def _quote() -> str:
    return say(
        'カンマ、引用符、改行を含む発言は "…" で囲み、中の " は "" と書いてください',
        'put a text with commas, quotes or line ends in quotes: "…", "" for "',
    )
