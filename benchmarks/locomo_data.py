"""LoCoMo's published JSON: very long dated conversations with questions and their evidence.

Source: Maharana et al., Evaluating Very Long-Term Conversational Memory of LLM Agents (ACL
2024). Read as published, slips and all; whatever had to be mended or left out is reported.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.lang import say
from naisei.text_files import json_of, read_text, text_of, unreadable

#: Bytes of all files of a zip, unpacked; the published ones have 3 MB.
_MOST = 200_000_000

#: Also as they come: `D8:6; D9:17` in one string, `D:11:26`, `D30:05`.
_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")
_TIME = re.compile(
    r"(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def documents(path: Path) -> Iterator[tuple[str, str]]:
    """(place, text) of the file itself, or of each `.json` in a zip or a folder, by name.

    Raises:
        InputError: it cannot be read, is a damaged or locked zip, or unpacks to over 200 MB.
    """
    if path.is_dir():
        yield from ((str(file), read_text(file)) for file in sorted(path.glob("*.json")))
    elif zipfile.is_zipfile(path):
        yield from _zipped(path)
    else:
        yield str(path), read_text(path)


def _zipped(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with zipfile.ZipFile(path) as archive:
            # What macOS adds beside each file begins so.
            parts = [
                part
                for part in sorted(archive.infolist(), key=lambda part: part.filename)
                if part.filename.lower().endswith(".json")
                and not Path(part.filename).name.startswith("._")
            ]
            if sum(part.file_size for part in parts) > _MOST:
                raise InputError(
                    say("展開すると 200 MB を超えます", "unpacks to over 200 MB"), place=str(path)
                )
            for part in parts:
                place = f"{path}/{part.filename}"
                yield place, text_of(archive.read(part), place)
    except OSError as error:
        raise unreadable(error, str(path)) from None
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError) as error:
        raise InputError(
            say(f"zip を展開できません: {error}", f"the zip cannot be unpacked: {error}"),
            place=str(path),
            remedy=say("ダウンロードし直してください", "download it again"),
        ) from None


def found_ids(text: object) -> list[str]:
    """The ids of turns in a string, as `D30:5`, in order."""
    return [f"D{int(session)}:{int(turn)}" for session, turn in _ID.findall(str(text))]


def session_time(text: object) -> datetime | None:
    """`1:56 pm on 8 May, 2023`, or ISO 8601; `None` if it is neither. Without a time zone."""
    if not isinstance(text, str):
        return None
    # The months are English whatever the locale, which strptime would follow.
    if (m := _TIME.fullmatch(text.strip())) and m[5][:3].lower() in _MONTHS:
        month = _MONTHS.index(m[5][:3].lower()) + 1
        hour = int(m[1]) % 12 + (12 if m[3].lower() == "p" else 0)
        try:
            return datetime(int(m[6]), month, int(m[4]), hour, int(m[2]))
        except ValueError:
            return None
    try:
        return datetime.fromisoformat(text.strip()).replace(tzinfo=None)
    except ValueError:
        return None


#: By number, as the paper's evaluation has them.
CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
_SESSION = re.compile(r"session_(\d+)")


def _remedy() -> str:
    return say(
        "LoCoMo が公開している形 (locomo10.json か、会話ごとの JSON を入れた zip) で渡してください",
        "give a file as LoCoMo publishes it: locomo10.json, or the zip of one JSON a conversation",
    )


@dataclass(frozen=True, slots=True)
class LocomoTurn:
    """One utterance. id: `dia_id`, e.g. `D1:3`. caption: of an image that was shared, or empty."""

    id: str
    session: int
    speaker: str
    time: datetime
    text: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the ids of the turns that answer it.

    evidence: those that exist, in order, each once. dangling: those that point at no turn.
    """

    text: str
    category: str
    evidence: tuple[str, ...]
    dangling: tuple[str, ...] = ()


@dataclass(slots=True)
class Sample:
    """One conversation. notes: what was mended or left out, with its place."""

    id: str
    turns: list[LocomoTurn] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_locomo(path: Path) -> list[Sample]:
    """Every conversation of the file (a list of them, or one), of the JSON files of a zip, or of
    those in a folder, in the order of their names.

    Raises:
        InputError: it cannot be read, is no such JSON, holds no utterance, or two have one id.
    """
    found: dict[str, Sample] = {}
    for place, text in documents(path):
        try:
            data = json_of(text)
        except (ValueError, RecursionError) as error:
            raise InputError(
                say(f"JSON として読めません: {error}", f"no JSON: {error}"),
                place=place,
                remedy=_remedy(),
            ) from None
        stem = Path(place).stem
        for number, row in enumerate(data if isinstance(data, list) else [data], 1):
            sample = _sample(row, str(number) if isinstance(data, list) else stem, place, number)
            if sample.id in found:
                raise InputError(
                    say(f"{sample.id} が二つあります", f"two conversations are {sample.id}"),
                    place=place,
                    remedy=say("一つにしてください", "give each of them once"),
                )
            found[sample.id] = sample
    if not found:
        raise InputError(
            say("会話がありません", "holds no conversation"), place=str(path), remedy=_remedy()
        )
    return list(found.values())


def _sample(row: Any, id: str, path: str, number: int) -> Sample:
    """A row of the list (sessions under `conversation`), or a file of the zip (beside `qa`)."""
    talk = row.get("conversation", row) if isinstance(row, dict) else None
    apart = isinstance(row, dict) and "conversation" not in row
    if not isinstance(talk, dict) or (apart and not any(map(_SESSION.fullmatch, talk))):
        raise InputError(
            say(
                "session_1 などの会話を持つオブジェクトではありません",
                "no object with a conversation (`session_1`, …)",
            ),
            place=f"{path}, {number}",
            remedy=_remedy(),
        )
    sample = Sample(str(row.get("sample_id", id)))
    _read_turns(sample, talk)
    if not sample.turns:
        raise InputError(
            say(
                "session_1、session_2、… に発話がありません",
                "no utterance in session_1, session_2, …",
            ),
            place=f"{path}, {sample.id}",
            remedy=_remedy(),
        )
    known = {turn.id for turn in sample.turns}
    asked = row.get("qa", [])
    for at, one in enumerate(asked if isinstance(asked, list) else []):
        _read_question(sample, one, f"{sample.id} qa[{at}]", known)
    if not sample.questions:
        sample.notes.append(say(f"{sample.id}: 質問なし", f"{sample.id}: no question"))
    return sample


def _read_turns(sample: Sample, talk: dict[str, Any]) -> None:
    numbers = sorted(int(m[1]) for key in talk if (m := _SESSION.fullmatch(key)))
    before: datetime | None = None
    seen: Counter[str] = Counter()
    for number in numbers:
        lines = talk[f"session_{number}"]
        place = f"{sample.id} session_{number}"
        if not isinstance(lines, list):
            sample.notes.append(
                say(f"{place}: 発話の並びではないため除外", f"{place}: no list of turns; left out")
            )
            continue
        start = session_time(talk.get(f"session_{number}_date_time"))
        if start is None:
            start = before + timedelta(days=1) if before else datetime(1970, 1, 1)
            sample.notes.append(
                say(
                    f"{place}: 日時が読めないため {start} とみなす",
                    f"{place}: no readable date and time; taken as {start}",
                )
            )
        for at, line in enumerate(lines):
            turn = _turn(sample, line, f"{place}[{at}]", number, at, start)
            if turn is None:
                continue
            seen[turn.id] += 1
            if seen[turn.id] > 1:
                again = f"{turn.id}#{seen[turn.id]}"
                sample.notes.append(
                    say(
                        f"{place}[{at}]: {turn.id} が重複しているため {again} とみなす",
                        f"{place}[{at}]: {turn.id} comes again; taken as {again}",
                    )
                )
                turn = replace(turn, id=again)
            sample.turns.append(turn)
            before = turn.time
    orphans = [key for key in talk if key.endswith("_date_time") and key[:-10] not in talk]
    if orphans:
        sample.notes.append(
            say(
                f"{sample.id}: 会話のない回の日時が {len(orphans)} 個",
                f"{sample.id}: {len(orphans)} dates of sessions that are not there",
            )
        )


def _turn(
    sample: Sample, line: Any, place: str, session: int, at: int, start: datetime
) -> LocomoTurn | None:
    text = line.get("text", line.get("clean_text")) if isinstance(line, dict) else None
    caption = str(line.get("blip_caption") or "") if isinstance(line, dict) else ""
    if not isinstance(text, str) or not (text.strip() or caption):
        sample.notes.append(say(f"{place}: 本文がないため除外", f"{place}: no text; left out"))
        return None
    ids = found_ids(line.get("dia_id", ""))
    if len(ids) != 1:
        ids = [f"D{session}:{at + 1}"]
        sample.notes.append(
            say(
                f"{place}: dia_id がないため {ids[0]} とみなす",
                f"{place}: no dia_id; taken as {ids[0]}",
            )
        )
    time = start + timedelta(minutes=at)
    return LocomoTurn(ids[0], session, str(line.get("speaker", "")), time, text, caption)


def _read_question(sample: Sample, one: Any, place: str, known: set[str]) -> None:
    if not isinstance(one, dict) or not str(one.get("question") or "").strip():
        sample.notes.append(say(f"{place}: 質問がないため除外", f"{place}: no question; left out"))
        return
    given = one.get("evidence") or []
    ids: list[str] = []
    for text in given if isinstance(given, list) else [given]:
        found = found_ids(text)
        if found != [text]:
            read = ", ".join(found) or say("なし", "nothing")
            sample.notes.append(
                say(
                    f"{place}: 根拠 {text!r} を読み替え: {read}",
                    f"{place}: evidence {text!r} read as {read}",
                )
            )
        ids += [id for id in found if id not in ids]
    dangling = tuple(id for id in ids if id not in known)
    for id in dangling:
        sample.notes.append(
            say(
                f"{place}: 根拠 {id} に当たる発話がない",
                f"{place}: evidence {id} points at no turn",
            )
        )
    number = one.get("category")
    category = CATEGORIES.get(number, str(number)) if isinstance(number, int) else str(number)
    evidence = tuple(id for id in ids if id in known)
    sample.questions.append(Question(str(one["question"]), category, evidence, dangling))
