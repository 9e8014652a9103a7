"""Finds the form of a file and reads it: one reader for all systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.text_files import json_of, read_text
from naisei.transcripts import json_forms, json_reading, tables, text_forms, text_reading
from naisei.transcripts.forms import FORMS, UNREAD
from naisei.transcripts.text_reading import CUE, caption_turns
from naisei.transcripts.turns import Transcript, Turn, Unnamed, in_order, lettered, plain_name

_JSON = (".json", ".jsonl", ".ndjson")
_TABLES = (".csv", ".tsv")


def read_transcripts(
    path: Path | str, *, form: str = "", unnamed: Unnamed = "join"
) -> list[Transcript]:
    """The conversations of a file, in its order.

    Args:
        form: a name of `FORMS` that the file is known to have; found by itself if empty.
        unnamed: "join": a row without a name continues the utterance before; "keep": it is an
            utterance without a speaker.

    Raises:
        InputError: it cannot be read, or its form is unknown.
    """
    return parse_transcripts(read_text(path), str(path), form=form, unnamed=unnamed)


def read_transcript(path: Path | str, *, dialogue: str | None = None, form: str = "") -> Transcript:
    """One conversation of a file: its only one, or that of an id.

    Raises:
        InputError: as `read_transcripts`; there are several and no id is given, or the id is
        unknown.
    """
    several = read_transcripts(path, form=form)
    named = {one.name: one for one in several}
    if dialogue is None and len(several) == 1:
        return several[0]
    if dialogue is not None and len(several) == 1 and dialogue != several[0].name:
        raise InputError(
            say("一つの会話しか入っていないファイルです", "the file holds one dialogue only"),
            place="--dialogue",
        )
    if dialogue in named:
        return named[dialogue]
    shown = ", ".join(list(named)[:8]) + (" …" if len(named) > 8 else "")
    raise InputError(
        say(f"会話が {len(named)} 本あります", f"holds {len(named)} dialogues")
        if dialogue is None
        else say(f"会話 {dialogue!r} はありません", f"has no dialogue {dialogue!r}"),
        place=str(path),
        remedy=say(f"--dialogue で選んでください: {shown}", f"choose one by --dialogue: {shown}"),
    )


def parse_transcripts(
    text: str, place: str, *, form: str = "", unnamed: Unnamed = "join"
) -> list[Transcript]:
    """Like `read_transcripts`, for a text. place: its name in messages."""
    _check_form(form)
    stem, suffix = Path(place).stem, Path(place).suffix.lower()
    if (
        form in {one.name for one in json_forms.JSON_FORMS}
        or suffix in _JSON
        or text.lstrip()[:1] in ("{", "[")
    ):
        try:
            return _of_json(text, stem, place, form, unnamed)
        except InputError:
            # A transcript may begin with 「[10:30] …」.
            if suffix in _JSON or form or text.lstrip()[:1] == "{":
                raise
    rows = text.splitlines(keepends=True)
    if "__eou__" in text:
        return _of_dailydialog(rows, stem, place)
    if form in ("", "subtitles") and any(CUE.match(row) for row in rows[:40]):
        if (turns := caption_turns(rows)) is None:
            raise _unknown(rows, place)
        return [_made(stem, "subtitles", turns, place)]
    if form in ("", "table") and (
        found := _of_table(rows, stem, place, suffix in _TABLES or form == "table")
    ):
        return found
    return [_of_text(rows, stem, place, form, unnamed)]


def preview(one: Transcript) -> tuple[str, ...]:
    """The reading of a conversation in words: its form, who speaks how often, how it begins."""
    about = next((say(*form.about) for form in FORMS if form.name == one.form), one.form)
    counts = Counter(turn.speaker for turn in one.turns)
    who = say("、", ", ").join(
        say(f"{name or '(名前なし)'} {counts[name]} 発話", f"{name or '(no name)'} {counts[name]}")
        for name in one.speakers[:6]
    )
    sessions = len({turn.session for turn in one.turns})
    parts = [say(f"形式: {about}", f"read as: {about}"), who]
    if sessions > 1:
        parts.append(say(f"{sessions} 回 (日)", f"{sessions} sessions"))
    if one.left_out:
        parts.append(
            say(
                f"発話でない {one.left_out} 件を除外",
                f"{one.left_out} entries without words left out",
            )
        )
    first = [f"  {turn.speaker}: {' '.join(turn.text.split())[:40]}" for turn in one.turns[:2]]
    return (say("。", "; ").join(parts), *first)


def _check_form(form: str) -> None:
    if form and form not in {one.name for one in FORMS}:
        raise InputError(
            say(f"'{form}' という形式はありません", f"there is no form '{form}'"),
            place="--form",
            remedy=say("naisei data forms で一覧", "see naisei data forms"),
        )


def _made(
    name: str, form: str, turns: Iterable[Turn], place: str, *, by_day: bool = False, **more: Any
) -> Transcript:
    """In order, utterances only."""
    every = [
        replace(turn, text=text_reading.spoken_words(turn.text)) for turn in lettered([*turns])
    ]
    kept = [turn for turn in every if turn.text.strip() and turn.speaker not in _APART]
    return Transcript(
        name,
        form,
        tuple(in_order(kept, by_day=by_day)),
        left_out=len(every) - len(kept),
        **more,
    )


_APART = ("system", "developer", "tool")


# JSON


def _of_json(text: str, stem: str, place: str, wanted: str, unnamed: Unnamed) -> list[Transcript]:
    data = _load(text, place)
    if isinstance(data, dict) and json_reading.json_form_of(data) is None and "text" in data:
        data = [_entry(text, 1, place)]  # a file of one row
    out = []
    for name, one in json_reading.dialogues_in(data):
        form = json_reading.json_form_of(one)
        if form is None:
            raise _no_dialogue(place, one)
        if wanted and form.name != wanted:
            form = next(f for f in json_forms.JSON_FORMS if f.name == wanted)
        names, personas = json_reading.roster(one)
        out.append(
            _made(
                name or stem,
                form.name,
                json_reading.json_turns(form, one, place, unnamed=unnamed),
                place,
                by_day=form.by_day,
                roster=names,
                personas=personas,
                source=one,
            )
        )
    return out


def _load(text: str, place: str) -> Any:
    try:
        return json_of(text)
    except (ValueError, RecursionError) as error:
        rows = [(n, row) for n, row in enumerate(text.splitlines(), 1) if row.strip()]
        if len(rows) < 2:
            raise _no_json(error, place) from None
    return [_entry(row, number, place) for number, row in rows]


def _entry(row: str, number: int, place: str) -> Any:
    try:
        data = json_of(row)
    except (ValueError, RecursionError) as error:
        raise _no_json(error, f"{place}:{number}") from None
    if not isinstance(data, dict):
        return data
    entry = json_forms.RowObject(data)
    entry.row = number
    return entry


def _no_json(error: Exception, place: str) -> InputError:
    return InputError(
        say(f"JSON として読めません: {error}", f"is no JSON: {error}"),
        place=place,
        remedy=say(
            '1 行に一つ、{"speaker": "…", "text": "…"} の形で書いてください',
            'write one object a row: {"speaker": "…", "text": "…"}',
        ),
    )


def _no_dialogue(place: str, data: Any) -> InputError:
    keys = ", ".join(list(data)[:6]) if isinstance(data, dict) else ""
    return InputError(
        say("会話が見つかりません", "no dialogue is found in it")
        + (say(f" (キー: {keys})", f" (its keys: {keys})") if keys else ""),
        place=place,
        remedy=say(
            '[{"speaker": "…", "text": "…"}, …] の形にしてください。読める形式は naisei data forms',
            'write it as [{"speaker": "…", "text": "…"}, …]; naisei data forms lists what is read',
        ),
    )


def _of_dailydialog(rows: Sequence[str], stem: str, place: str) -> list[Transcript]:
    """A dialogue a row, its utterances ended by a mark; the two, who have no names, take turns."""
    parts = [(n, row.split("__eou__")) for n, row in enumerate(rows, 1) if "__eou__" in row]
    return [
        _made(
            str(number) if len(parts) > 1 else stem,
            "dailydialog",
            (Turn(number, "AB"[k % 2], said.strip()) for k, said in enumerate(texts)),
            place,
        )
        for number, texts in parts
    ]


# Tables


def _of_table(rows: Sequence[str], stem: str, place: str, sure: bool) -> list[Transcript] | None:
    at = next((n for n, row in enumerate(rows) if row.strip()), None)
    if at is None:
        return None
    head = next((n for n in range(at, min(at + 8, len(rows))) if rows[n].lstrip()[:1] == "|"), at)
    columns, first = tables.columns_of(rows[head]), head + 1
    if columns is None and (apart := tables.by_column([row for row in rows if row.strip()])):
        return [_made(stem, "table", (Turn(n, plain_name(a), b) for n, a, b in apart), place)]
    if columns is None:
        columns, first = tables.headless([row for row in rows if row.strip()]), at
    if columns is None:
        if sure:
            raise InputError(
                say(
                    "見出しに speaker と text の列がありません",
                    "the head has no columns speaker and text",
                ),
                place=f"{place}:{at + 1}",
                remedy=say(
                    "1 行目に speaker,text (または 話者,発話) と書いてください",
                    "let the first row name them: speaker,text (or 話者,発話)",
                ),
            )
        return None
    parts: dict[str, list[Turn]] = {}
    for dialogue, turn in tables.table_turns(rows[first:], columns, place, first + 1):
        part = parts.setdefault(dialogue, [])
        if not turn.speaker and text_forms.is_aside(turn.text):
            continue
        if not turn.speaker:  # an empty cell: the one above goes on
            turn = replace(turn, speaker=part[-1].speaker if part else "")
        part.append(turn)
    return [
        _made(name if len(parts) > 1 else stem, "table", turns, place)
        for name, turns in parts.items()
    ] or [_made(stem, "table", (), place)]


# Text


def _of_text(
    rows: Sequence[str], stem: str, place: str, wanted: str, unnamed: Unnamed
) -> Transcript:
    plain = text_reading.without_front_matter([row.rstrip("\r\n") for row in rows])
    plain = text_reading.one_row_heads(plain)
    form = next((f for f in text_forms.TEXT_FORMS if f.name == wanted), None)
    form = form or text_reading.form_of(plain, unnamed)
    if form is None and all(text_forms.is_aside(row) for row in plain):
        return _made(stem, "script", (), place)
    if form is None or any(sign.match(row) for sign, *_ in UNREAD[:4] for row in plain):
        form = None
    if form is None:
        if unnamed == "keep" and not any(text_forms.STRUCTURE.match(row) for row in plain):
            turns = [Turn(n, "", row) for n, row in enumerate(plain, 1) if row.strip()]
            return _made(stem, "lines", turns, place)
        raise _unknown(plain, place)
    dated = text_reading.month_first(plain)
    numbered = (
        (n, part) for n, row in enumerate(dated, 1) for part in text_reading.BETWEEN.split(row)
    )
    elapsed = text_reading.counts_seconds(form, dated)
    turns = list(text_reading.text_turns(form, numbered, unnamed, elapsed=elapsed))
    for turn in turns:
        if not turn.speaker and (unnamed == "join" or text_forms.STRUCTURE.match(turn.text)):
            raise _unknown(plain, place, turn.number)
    if form.name == "script" and unnamed == "join":
        turns = text_reading.without_head(turns)
    if form.name == "ass":
        turns.sort(key=lambda turn: str(turn.at))
    if form.name in ("markdown", "play"):  # a heading that stands once is a title
        often = Counter(turn.speaker for turn in turns)
        turns = [turn for turn in turns if often[turn.speaker] > 1]
    whole = [
        replace(t, text=text_reading.spoken_words(t.text, form))
        for t in text_reading.whole_names(turns)
    ]
    return _made(stem, form.name, whole, place, by_day=True)


def _unknown(rows: Sequence[str], place: str, number: int | None = None) -> InputError:
    """The error for an unknown form, with its likely name."""
    content = [(n, row.strip()) for n, row in enumerate(rows, 1) if row.strip()][:40]
    if not content:
        return InputError(say("発話がありません", "holds no utterance"), place=place)
    for sign, name, remedy in UNREAD:
        if any(sign.match(row) for _, row in content):
            return InputError(
                say(f"{name[0]}のようです", f"looks like {name[1]}"),
                place=place,
                remedy=say(*remedy),
            )
    at = number or content[0][0]
    row = next(text for n, text in content if n >= at) if at <= content[-1][0] else ""
    return InputError(
        say(f"誰の発話かわかりません: {row[:40]!r}", f"has no speaker: {row[:40]!r}"),
        place=f"{place}:{at}",
        remedy=say(
            "行を「名前: 発話」の形にしてください。読める形式は naisei data forms、指定は --form",
            "write each line as `name: text`; naisei data forms lists what is read, --form says it",
        ),
    )
