"""A rating as the agent file of the relationship reflection document (§5), as CSV, as tables."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

from naisei.lang import say
from naisei.relationship.degrees import NAMES_JA, signed
from naisei.relationship.rate import WAYS, Mark, Rating, Turn
from naisei.relationship.schemas import Direction
from naisei.relationship.speech import SpeechReading
from naisei.relationship.vector import DIMENSIONS

__all__ = ["COLUMNS", "direction_label", "reasons", "to_agent_json", "to_csv", "turn_rows"]

_SHOWN = 24
#: Columns of `to_csv`.
COLUMNS = (
    "session",
    "turn",
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
    """What `plot` and `report` read: `session_N`, `session_N_relationship_reflection_turns`.

    A number that is not known is null, with its reason in `reasons`. estimates: before they
    were rounded. repeats: direction → the vector of each repetition, null where it failed.
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


def _moment(rating: Rating, turn: Turn) -> dict[str, Any]:
    vectors = {way: _vector(turn.marks[way]) for way in WAYS}
    rr: dict[str, Any] = {way: vectors[way] for way in WAYS}
    rr["by_speaker"] = {}
    for way in WAYS:
        src, dst = rating.name(way)
        marks = turn.marks[way]
        held: dict[str, Any] = {
            "toward": dst,
            "vector": vectors[way],
            "carried": False,
            "estimates": {n: _plain(marks[n].value) for n in DIMENSIONS},
        }
        if missing := {n: marks[n].reason for n in DIMENSIONS if marks[n].reason}:
            held["failure"] = "; ".join(dict.fromkeys(missing.values()))
            held["reasons"] = missing
        if way in turn.speech:
            held["speech"] = turn.speech[way].to_json()
        rr["by_speaker"][src] = held
    if rating.repeats > 1:
        rr["repeats"] = {
            way: [_repeat(turn.marks[way], n) for n in range(rating.repeats)] for way in WAYS
        }
    return {
        "turn": turn.line.turn,
        "rr": rr,
        "next_speaker": turn.next_speaker,
        "injected": False,
        "at": "after_turn",
    }


def _vector(marks: dict[str, Mark]) -> dict[str, int | None] | None:
    found = {name: marks[name].rounded for name in DIMENSIONS}
    return None if all(value is None for value in found.values()) else found


def _repeat(marks: dict[str, Mark], number: int) -> dict[str, int | None] | None:
    found = {name: marks[name].repeats[number] for name in DIMENSIONS}
    return None if all(value is None for value in found.values()) else found


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 3)


def to_csv(rating: Rating) -> str:
    """One row a turn, direction and dimension; an unknown number is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for turn in rating.turns:
        for way in WAYS:
            src, dst = rating.name(way)
            for name in DIMENSIONS:
                mark = turn.marks[way][name]
                value = _plain(mark.value)
                read: list[float] = [v for v in mark.repeats if v is not None] or (
                    [value] if value is not None else []
                )
                line = turn.line
                writer.writerow(
                    [line.session, line.turn, line.speaker, line.text, way, src, dst, name]
                    + ["" if v is None else v for v in (value, mark.rounded)]
                    + ([min(read), max(read)] if read else ["", ""])
                    + [mark.reason]
                )
    return text.getvalue()


def turn_rows(rating: Rating) -> list[tuple[str, ...]]:
    """For the terminal: session:turn, speaker, text, then the three numbers of each direction."""
    rows = []
    for turn in rating.turns:
        line = turn.line
        text = " ".join(line.text.split())
        short = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
        cells = [_cell(turn.marks[way][name]) for way in WAYS for name in DIMENSIONS]
        rows.append((f"{line.session}:{line.turn}", line.speaker, short, *cells))
    return rows


def _cell(mark: Mark) -> str:
    if mark.rounded is None:
        return "–"
    read = sorted({v for v in mark.repeats if v is not None})
    band = f" ({signed(read[0])}…{signed(read[-1])})" if len(read) > 1 else ""
    return signed(mark.rounded) + band


def reasons(rating: Rating) -> list[str]:
    """The last reading of each direction in words, with the lines that it rests on."""
    if not rating.turns:
        return []
    out = []
    last = rating.turns[-1]
    for way in WAYS:
        src, dst = rating.name(way)
        out.append(f"{src} → {dst}")
        for name in DIMENSIONS:
            mark = last.marks[way][name]
            head = f"  {say(NAMES_JA[name], name)} "
            if mark.rounded is None:
                out.append(head + say(f"なし: {mark.reason}", f"none: {mark.reason}"))
                continue
            out.append(f"{head}{signed(mark.rounded)} ({mark.value:+.1f})")
            if way in last.speech:
                out += _signs(rating, last.speech[way], name)
    return out


def _signs(rating: Rating, reading: SpeechReading, dimension: str) -> list[str]:
    out = []
    for sign in reading[dimension].signs:
        heard = []
        for at, words in sign.lines:
            line = rating.dialogue.lines[at]
            heard.append(
                f"[{line.session}:{line.turn} {line.speaker}] " + "・".join(dict.fromkeys(words))
            )
        shown = say("、", "; ").join(heard)
        out.append(f"    {sign.share:+.1f} {sign.words}" + (f": {shown}" if shown else ""))
    return out


def direction_label(way: Direction) -> str:
    """`A→B` or `B→A`, for the heads of tables."""
    return "A→B" if way == "a_to_b" else "B→A"
