"""Detects the format of a file and reads it; shared by all systems."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.transcripts import (
    documents,
    game_scripts,
    json_forms,
    json_reading,
    tables,
    text_forms,
    text_reading,
)
from naisei.transcripts.forms import ENGINES, FORMS, UNREAD, unknown
from naisei.transcripts.text_reading import CUE, caption_turns
from naisei.transcripts.turns import Transcript, Turn, in_order, lettered, plain_name, spoken_words

_JSON = (".json", ".jsonl", ".ndjson")
_TABLES = (".csv", ".tsv", ".xlsx")


def read_transcripts(
    path: Path | str, *, form: str = "", nameless: bool = False
) -> list[Transcript]:
    """Read the conversations of a file in order; for a ZIP or a folder, those of all its files.

    Skips sheets of memos, which have no speakers, and counts their rows.

    Args:
        form: the file's format, a name in `FORMS`; detected if empty.
        nameless: also read a file without names: each row is an utterance without a speaker.

    Raises:
        InputError: the file is unreadable, or its format is unknown.
    """
    place, parts = str(path), documents.parts_of(Path(path))
    if channels := documents.channels(parts, Path(path)):
        users = (documents.slack_names(t, n) for n, t in parts if n.endswith("users.json"))
        names = next(users, {})
        return [
            one
            for name, rows in channels
            for one in _of_json(rows, name, place, form or "slack", nameless, names)
        ]
    if len(parts) == 1:
        return parse_transcripts(
            parts[0][1],
            place,
            form=form,
            nameless=nameless,
            names=documents.users_beside(Path(path)) if '"ts"' in parts[0][1] else {},
        )
    memos = [text for name, text in parts if name.endswith(".csv") and tables.is_memo(text)]
    out = [
        one
        for name, text in parts
        if text not in memos or len(memos) == len(parts)
        for one in parse_transcripts(text, f"{place}/{name}", form=form, nameless=nameless)
    ]
    if out and len(memos) < len(parts):
        rows = sum(bool(row.strip()) for text in memos for row in text.splitlines())
        out[0] = replace(out[0], left_out=out[0].left_out + rows)
    return out


def read_transcript(path: Path | str, *, dialogue: str | None = None, form: str = "") -> Transcript:
    """Read one conversation of a file: the only one, or the one with the id `dialogue`.

    Raises:
        InputError: as `read_transcripts`; there are several and no id, or the id is unknown.
    """
    several = read_transcripts(path, form=form)
    named = {one.name: one for one in several}
    if dialogue is None and len(several) == 1:
        return several[0]
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
    text: str,
    place: str,
    *,
    form: str = "",
    nameless: bool = False,
    names: Mapping[str, str] | None = None,
) -> list[Transcript]:
    """Like `read_transcripts`, for a text. place: its name in messages. names: id → name of Slack
    users."""
    _check_form(form)
    stem, suffix = Path(place).stem, Path(place).suffix.lower()
    if (
        form in {one.name for one in json_forms.JSON_FORMS}
        or suffix in _JSON
        or text.lstrip()[:1] in ("{", "[")
    ):
        try:
            return _of_json(
                documents.load_json(text, place), stem, place, form, nameless, names or {}
            )
        except InputError:
            # A transcript may begin with 「[10:30] …」.
            if suffix in _JSON or form or text.lstrip()[:1] == "{":
                raise
    rows = text.splitlines(keepends=True)
    engine = form or game_scripts.engine_of(rows, suffix)
    if engine in {one.name for one in ENGINES}:
        return [_of_engine(engine, rows, stem, place)]
    if "__eou__" in text:
        return _of_dailydialog(rows, stem, place)
    if form in ("", "subtitles") and any(CUE.match(row) for row in rows[:40]):
        if (turns := caption_turns(rows)) is None:
            raise unknown(rows, place)
        return [_made(stem, "subtitles", turns)]
    if form in ("", "table") and (
        found := _of_table(rows, stem, place, suffix in _TABLES or form == "table")
    ):
        return found
    return _of_text(rows, stem, place, form, nameless)


def preview(one: Transcript) -> tuple[str, ...]:
    """Describe a conversation: its format, how often each speaker speaks, its first lines."""
    about = next((say(*form.about) for form in FORMS if form.name == one.form), one.form)
    counts = Counter(turn.speaker for turn in one.turns)
    who = say("、", ", ").join(
        say(f"{name or '(名前なし)'} {counts[name]} 発話", f"{name or '(no name)'} {counts[name]}")
        for name in one.speakers[:6]
    )
    sessions = len({turn.session for turn in one.turns})
    parts = [say(f"形式: {about}", f"read as: {about}"), who]
    if sessions > 1:
        parts.append(say(f"{sessions} セッション", f"{sessions} sessions"))
    if one.left_out:
        parts.append(
            say(
                f"発話でないもの・複数人の声 {one.left_out} 件を除外",
                f"{one.left_out} entries left out (no speech, or of several at once)",
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
    name: str,
    form: str,
    turns: Iterable[Turn],
    *,
    by_day: bool = False,
    left_out: int = 0,
    **more: Any,
) -> Transcript:
    """Build a transcript of the utterances by one person each, in order. left_out: entries skipped
    so far."""
    every = [replace(turn, text=spoken_words(turn.text)) for turn in lettered([*turns])]
    names = {turn.speaker for turn in every if turn.text.strip()}
    utterances = [
        turn
        for turn in every
        if turn.text.strip() and turn.speaker not in _APART and not _several(turn.speaker, names)
    ]
    return Transcript(
        name,
        form,
        tuple(in_order(utterances, by_day=by_day)),
        left_out=left_out + len(every) - len(utterances),
        **more,
    )


_APART = ("system", "developer", "tool")
_ALL = re.compile(r"全員|一同|(?:二|ふた|三|四)人|ふたり|両方|みんな|皆|(?i:all|both|everyone)")


def _several(speaker: str, names: Collection[str]) -> bool:
    """Whether several people speak an utterance together: 紗良＆楓「…」."""
    parts = re.split(r"\s*[&+・、/と]\s*|\sand\s", speaker)
    known = [part in names for part in parts]
    joined = len(parts) > 1 and (all(known) or (any(known) and re.search(r"[&+]", speaker)))
    return bool(joined) or _ALL.fullmatch(speaker) is not None


# JSON


def _of_json(
    data: Any, stem: str, place: str, wanted: str, nameless: bool, names: Mapping[str, str]
) -> list[Transcript]:
    out = []
    for name, one in json_reading.dialogues_in(data):
        form = json_reading.json_form_of(one)
        if form is None:
            raise _no_dialogue(place, one)
        if wanted and form.name != wanted:
            form = next(f for f in json_forms.JSON_FORMS if f.name == wanted)
        cast, personas = json_reading.roster(one)
        out.append(
            _made(
                name or stem,
                form.name,
                json_reading.json_turns(form, one, place, nameless=nameless, names=names),
                by_day=form.by_day,
                roster=cast,
                personas=personas,
                source=one,
            )
        )
    return out


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
    """One dialogue per row, with a mark after each utterance; two unnamed speakers take turns."""
    parts = [(n, row.split("__eou__")) for n, row in enumerate(rows, 1) if "__eou__" in row]
    return [
        _made(
            str(number) if len(parts) > 1 else stem,
            "dailydialog",
            (Turn(number, "AB"[k % 2], text.strip()) for k, text in enumerate(texts)),
        )
        for number, texts in parts
    ]


# Tables


def _of_table(rows: Sequence[str], stem: str, place: str, sure: bool) -> list[Transcript] | None:
    at = next((n for n, row in enumerate(rows) if row.strip()), None)
    if at is None:
        return None
    # Spreadsheets and Markdown may have a title above the header.
    heads = [
        at,
        *(n for n in range(at + 1, min(at + 8, len(rows))) if sure or rows[n].lstrip()[:1] == "|"),
    ]
    head = next((n for n in heads if tables.columns_of(rows[n])), at)
    columns, first = tables.columns_of(rows[head]), head + 1
    if columns is None and (apart := tables.by_column([row for row in rows if row.strip()])):
        return [_made(stem, "table", (Turn(n, plain_name(a), b) for n, a, b in apart))]
    if columns is None:
        columns, first = tables.headless([row for row in rows if row.strip()]), at
    if columns is None:
        if sure:
            raise tables.no_columns(rows[at], f"{place}:{at + 1}")
        return None
    parts: dict[str, list[Turn]] = {}
    for dialogue, turn in tables.table_turns(rows[first:], columns, place, first + 1):
        # A row without a speaker is narration.
        silent = not turn.speaker or text_forms.SOUND.fullmatch(turn.speaker)
        parts.setdefault(dialogue, []).append(replace(turn, text="") if silent else turn)
    if all(len(part) == 1 for part in parts.values()):  # each row has a different id
        parts = {"": [turn for part in parts.values() for turn in part]}
    return [
        _made(name if len(parts) > 1 else stem, "table", turns, by_day=columns.session is None)
        for name, turns in parts.items()
    ] or [_made(stem, "table", ())]


# Text


def _of_engine(engine: str, rows: Sequence[str], stem: str, place: str) -> Transcript:
    read = game_scripts.renpy_turns if engine == "renpy" else game_scripts.kag_turns
    one = _made(stem, engine, read(rows))
    if not one.turns:
        about = next(say(*form.about) for form in ENGINES if form.name == engine)
        raise InputError(
            say(f"{about}ですが、話者のついた台詞がありません", f"{about}, in which nobody speaks"),
            place=place,
            remedy=say(
                '話者を #名前、【名前】、[nm t=名前]、@Talk name=名前 (Ren\'Py では eileen "…") の'
                "どれかで書いてください",
                "name who speaks by #name, 【name】, [nm t=name] or @Talk name=name (in Ren'Py: "
                'eileen "…")',
            ),
        )
    return one


def _of_text(
    rows: Sequence[str], stem: str, place: str, wanted: str, nameless: bool
) -> list[Transcript]:
    plain = text_reading.one_row_heads(text_reading.content_rows(rows))
    form = next((f for f in text_forms.TEXT_FORMS if f.name == wanted), None)
    form = form or text_reading.form_of(plain, nameless)
    if form is None and all(text_forms.is_aside(row) for row in plain):
        return [_made(stem, "script", ())]
    if any(sign.match(row) for sign, *_ in UNREAD[:4] for row in plain):
        form = None
    if form is None and nameless and not any(map(text_forms.STRUCTURE.match, plain)):
        lines = [(n, row) for n, row in enumerate(plain, 1) if row.strip()]
        turns = [Turn(n, "", "" if text_forms.is_aside(row) else row) for n, row in lines]
        return [_made(stem, "lines", turns)]
    if form is None:
        raise unknown(plain, place)
    every = text_reading.read_rows(form, plain)
    for turn in every:
        if not turn.speaker and turn.text:
            raise unknown(plain, place, turn.number)
    turns = [turn for turn in every if turn.speaker]
    missing = len(every) - len(turns)
    parts: dict[str, list[Turn]] = {stem: []}
    for turn in text_reading.tidied(form, turns):  # direct messages: per pair
        name = "・".join(sorted((turn.speaker, turn.to))) if turn.to else stem
        parts.setdefault(name, []).append(turn)
    return [
        _made(name, form.name, part, by_day=True, left_out=0 if name != stem else missing)
        for name, part in parts.items()
        if part or len(parts) == 1
    ]
