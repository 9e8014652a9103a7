"""Writes a rating as an agent file (the relationship reflection document, §5), as CSV and as
tables."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

from naisei.files import write_atomically
from naisei.lang import say
from naisei.relationship.rating import RatedTurn, Rating, Score
from naisei.relationship.schemas import WAYS, Direction
from naisei.relationship.standing import speech_grounds, standing
from naisei.relationship.vector import DIMENSIONS, signed
from naisei.runs.lines import Line
from naisei.runs.report import plain_number
from naisei.runs.task import Table
from naisei.text_files import csv_cell

_SHOWN = 24
#: Turns per speaker below which a rating is called a rough guess.
_FEW = 4
#: Columns of `to_csv`.
COLUMNS = (
    "session",
    "turn",
    "time",
    "speaker",
    "text",
    "direction",
    "src",
    "dst",
    "dimension",
    "value",
    "rounded",
    "min",
    "max",
    "reason",
)


def to_agent_json(rating: Rating) -> dict[str, Any]:
    """Return the agent file that `plot` and `report` read.

    An unknown number is null, with its reason in `reasons`. estimates: the unrounded numbers.
    repeats: direction → the vector of each repetition, null if it failed.
    """
    a, b = rating.dialogue.speakers
    out: dict[str, Any] = {
        "agent": "agent_a",
        "name": a,
        "persona": rating.dialogue.personas.get(a, ""),
        "partner": b,
        "rater": rating.rater,
    }
    for number in rating.dialogue.sessions:
        turns = [turn for turn in rating.turns if turn.line.session == number]
        out[f"session_{number}"] = [
            {"turn": t.line.turn, "speaker": t.line.speaker, "text": t.line.text} for t in turns
        ]
        out[f"session_{number}_relationship_reflection_turns"] = [_moment(rating, t) for t in turns]
    return out


def write_agent_file(rating: Rating, path: Path) -> None:
    """Write `to_agent_json` to a file. Raises `InputError` if it cannot be written."""
    text = json.dumps(to_agent_json(rating), ensure_ascii=False, indent=2, allow_nan=False)
    write_atomically(path, text + "\n")


def write_rating(rating: Rating, out: Path | None, csv: Path | None) -> list[Path]:
    """Write the agent file and the CSV, if requested, and return the written paths."""
    if out is not None:
        write_agent_file(rating, out)
    if csv is not None:
        write_atomically(csv, "\ufeff" + to_csv(rating))  # so that Excel reads UTF-8
    return [path for path in (out, csv) if path is not None]


def _moment(rating: Rating, turn: RatedTurn) -> dict[str, Any]:
    vectors = {way: _vector(turn.marks[way]) for way in WAYS}
    rr: dict[str, Any] = {way: vectors[way] for way in WAYS}
    rr["by_speaker"] = {}
    for way in WAYS:
        src, dst = rating.name(way)
        marks = turn.marks[way]
        speaker: dict[str, Any] = {
            "toward": dst,
            "vector": vectors[way],
            "carried": False,
            "estimates": {n: plain_number(round(marks[n].value, 3)) for n in DIMENSIONS},
        }
        if missing := {n: marks[n].reason for n in DIMENSIONS if marks[n].reason}:
            speaker["failure"] = "; ".join(dict.fromkeys(missing.values()))
            speaker["reasons"] = missing
        if way in turn.speech:
            speaker["speech"] = turn.speech[way].to_json()
        rr["by_speaker"][src] = speaker
    if rating.repeats > 1:
        rr["repeats"] = {
            way: [_vector(turn.marks[way], n) for n in range(rating.repeats)] for way in WAYS
        }
    return {
        "turn": turn.line.turn,
        "rr": rr,
        "next_speaker": turn.next_speaker,
        "injected": False,
        "at": "after_turn",
    }


def _vector(marks: dict[str, Score], repeat: int | None = None) -> dict[str, int | None] | None:
    """The vector of a turn, or of one of its repetitions."""
    found = {
        name: marks[name].rounded
        if repeat is None
        else next(iter(marks[name].repeats[repeat:]), None)
        for name in DIMENSIONS
    }
    return None if all(value is None for value in found.values()) else found


def to_csv(rating: Rating) -> str:
    """One row per turn, direction and dimension; an unknown number is an empty cell.

    reason: the evidence for the number, or why it is missing.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for turn in rating.turns:
        for way in WAYS:
            src, dst = rating.name(way)
            for name in DIMENSIONS:
                mark = turn.marks[way][name]
                value = plain_number(round(mark.value, 3))
                read: list[float] = [v for v in mark.repeats if v is not None] or (
                    [value] if value is not None else []
                )
                line = turn.line
                writer.writerow(
                    [line.session, line.turn, "" if line.at is None else line.at.isoformat()]
                    + [csv_cell(line.speaker), csv_cell(line.text)]
                    + [way, csv_cell(src), csv_cell(dst), name]
                    + ["" if v is None else v for v in (value, mark.rounded)]
                    + ([min(read), max(read)] if read else ["", ""])
                    + [csv_cell(mark.reason or _grounds(turn, way, name))]
                )
    return text.getvalue()


def _grounds(turn: RatedTurn, way: Direction, name: str) -> str:
    """The cues of an estimate with their shares."""
    signs = turn.speech[way][name].signs if way in turn.speech else ()
    return "; ".join(f"{sign.words} ({sign.share:+.1f})" for sign in signs)


def rating_tables(rating: Rating) -> tuple[Table, ...]:
    """The turns table and, for several sessions, each session's final readings."""
    if len(rating.dialogue.sessions) < 2:
        return (turns_table(rating),)
    last = {turn.line.session: turn for turn in rating.turns}
    rows = tuple(
        (str(session), *(_cell(turn.marks[way][name]) for way in WAYS for name in DIMENSIONS))
        for session, turn in last.items()
    )
    title = say("各回の終わり", "At the end of each session")
    return turns_table(rating), Table(title, (say("回", "session"), *_heads()), rows)


def _heads() -> list[str]:
    return [f"{way} {name[0]}" for way in ("A→B", "B→A") for name in DIMENSIONS]


def turns_table(rating: Rating) -> Table:
    """One row per turn, with three numbers for each direction."""
    a, b = rating.dialogue.speakers
    return Table(
        f"A = {a}, B = {b} ({rating.rater})",
        (say("発話", "turn"), say("話者", "speaker"), "", *_heads()),
        tuple(_turn_rows(rating)),
        note=say(
            "P 力関係、I 親密度、T タスク指向、−3〜+3。– は読めないところ",
            "P power, I intimacy, T task-oriented, −3 to +3; –: no reading",
        ),
    )


def _turn_rows(rating: Rating) -> list[tuple[str, ...]]:
    """Rows: session:turn, speaker, text, then the three numbers of each direction."""
    rows = []
    for turn in rating.turns:
        line = turn.line
        text = " ".join(line.text.split())
        short = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
        cells = [_cell(turn.marks[way][name]) for way in WAYS for name in DIMENSIONS]
        rows.append((f"{line.session}:{line.turn}", line.speaker, short, *cells))
    return rows


def _cell(mark: Score) -> str:
    if mark.rounded is None:
        return "–"
    read = sorted({v for v in mark.repeats if v is not None})
    band = f" ({signed(read[0])}…{signed(read[-1])})" if len(read) > 1 else ""
    return signed(mark.rounded) + band


def reasons(rating: Rating) -> list[Line]:
    """Each speaker's final stance toward the other in words, with the evidence."""
    if not rating.turns:
        return []
    out = []
    last = rating.turns[-1]
    for way in WAYS:
        marks, speech = last.marks[way], last.speech.get(way)
        course = [{n: turn.marks[way][n].rounded for n in DIMENSIONS} for turn in rating.turns]
        lines = [(line.speaker, line.text) for line in rating.dialogue.lines]
        grounds = speech_grounds(speech, lines) if speech is not None else {}
        missing = {n: marks[n].reason for n in DIMENSIONS if marks[n].reason}
        out.append(standing(*rating.name(way), course, grounds, missing))
    counts = Counter(line.speaker for line in rating.dialogue.lines)
    if min(counts.values()) < _FEW:
        listed = say("、", ", ").join(f"{name} {n}" for name, n in counts.items())
        words = say(
            f"発話が少ないので、目安です ({listed})", f"few turns, so a rough guess ({listed})"
        )
        out.append(Line(words, tone="warn"))
    return out
