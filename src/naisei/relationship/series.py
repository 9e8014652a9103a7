"""Reads the readings over a conversation from agent files (relationship reflection document, §5).

Files from other programs may lack sessions or directions, or have vectors only in `by_speaker`.
Values other than numbers from −3 to 3 become NaN, with a note.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from naisei.core import InputError
from naisei.lang import say
from naisei.relationship.schemas import WAYS, Direction
from naisei.relationship.vector import DIMENSIONS, HIGH, LOW
from naisei.text_files import json_of, read_text

_KEY = re.compile(r"session_(\d+)_relationship_reflection_turns")


@dataclass(frozen=True, slots=True)
class Read:
    """One direction at one point.

    values, lows, highs: dimension → number, and minimum and maximum of repeated ratings; NaN if
    missing. repeats: number of ratings. carried: from an earlier turn. reasons: dimension →
    a sentence with evidence ids.
    """

    values: dict[str, float]
    lows: dict[str, float]
    highs: dict[str, float]
    repeats: int = 1
    carried: bool = False
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Point:
    """The state after an utterance, or at a session's start.

    at: position on the axis: utterances so far, with a gap of one between sessions.
    """

    session: int
    turn: int
    at: int
    start: bool
    reads: dict[Direction, Read]
    injected: bool | None = None


@dataclass(slots=True)
class Series:
    """One conversation. names: of a and b. sessions: number → (first, last) position on the axis.
    language: as stated in the file, or ""."""

    label: str
    names: tuple[str, str] = ("A", "B")
    points: list[Point] = field(default_factory=list)
    sessions: dict[int, tuple[int, int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    language: Literal["ja", "en", ""] = ""

    def way(self, direction: Direction) -> str:
        """`田中 → 高橋`."""
        ends = self.names if direction == "a_to_b" else self.names[::-1]
        return " → ".join(ends)


def read_series(path: Path, label: str = "") -> Series:
    """Read an agent file, or the `agent_a.json` of a folder.

    Raises:
        InputError: the file is unreadable or has no reading.
    """
    file = path / "agent_a.json" if path.is_dir() else path
    text = read_text(file)
    try:
        data = json_of(text)
    except ValueError as error:
        raise _unusable(file, say(f"JSON として読めません: {error}", f"no JSON: {error}")) from None
    if not isinstance(data, dict):
        raise _unusable(file, say("セッションが見つかりません", "no object with sessions"))
    out = Series(label or _label(file), _names(data, file))
    begins = 0
    for number in sorted(int(m[1]) for key in data if (m := _KEY.fullmatch(key))):
        begins = _session(out, data, number, begins)
    if (talk_language := data.get("language")) in ("ja", "en"):
        out.language = talk_language
    if not any(
        not math.isnan(v) for p in out.points for r in p.reads.values() for v in r.values.values()
    ):
        raise _unusable(file, say("関係値が一つもありません", "holds no reading"))
    return out


def _unusable(file: Path, why: str) -> InputError:
    return InputError(
        why,
        place=str(file),
        remedy=say(
            "session_N_relationship_reflection_turns を持つ agent_a.json を渡してください",
            "use an agent_a.json with session_N_relationship_reflection_turns",
        ),
    )


def aligned(series: Sequence[Series]) -> list[Series]:
    """Put all series on one axis: a session starts at the same position in all and has the longest
    length; a missing session leaves a gap."""
    numbers = sorted({number for one in series for number in one.sessions})
    places: dict[int, tuple[int, int]] = {}
    begins = 0
    for number in numbers:
        lengths = [
            last - first for one in series for first, last in [one.sessions.get(number, (0, 0))]
        ]
        places[number] = (begins, begins + max(lengths))
        begins += max(lengths) + 1
    out = []
    for one in series:
        shift = {number: places[number][0] - first for number, (first, _) in one.sessions.items()}
        points = [replace(point, at=point.at + shift[point.session]) for point in one.points]
        out.append(replace(one, points=points, sessions=places))
    return out


def _session(out: Series, data: dict[str, Any], number: int, begins: int) -> int:
    """Add a session's points, and return the start of the next session."""
    rows = data[f"session_{number}_relationship_reflection_turns"]
    place = f"{out.label} session_{number}"
    if not isinstance(rows, list):
        out.notes.append(
            say(f"{place}: 関係値の並びではないため除外", f"{place}: no list of readings; left out")
        )
        return begins
    lines = data.get(f"session_{number}")
    last = begins + (len(lines) if isinstance(lines, list) else 0)
    for index, row in enumerate(rows):
        rr = row.get("rr") if isinstance(row, dict) else None
        if not isinstance(rr, dict):
            out.notes.append(
                say(f"{place}[{index}]: rr がないため除外", f"{place}[{index}]: no rr; left out")
            )
            continue
        turn = row.get("turn")
        if isinstance(turn, bool) or not isinstance(turn, int) or turn < 0:
            turn = index
        start = row.get("at") == "session_start"
        at = begins + (0 if start else turn + 1)
        reads = {way: _read(out, rr, way, f"{place}[{index}]") for way in WAYS}
        flag = row.get("injected")
        injected = flag if isinstance(flag, bool) else None
        out.points.append(Point(number, turn, at, start, reads, injected))
        last = max(last, at)
    out.sessions[number] = (begins, last)
    return last + 1


def _read(out: Series, rr: dict[str, Any], way: Direction, place: str) -> Read:
    speaker = _speaker_dict(rr, out.names[0 if way == "a_to_b" else 1])
    vector = rr.get(way, speaker.get("vector"))
    values = {name: _number(out, vector, name, f"{place} {way}") for name in DIMENSIONS}
    again = rr.get("repeats")
    listed = again.get(way) if isinstance(again, dict) else None
    repeats = [one for one in listed if one is not None] if isinstance(listed, list) else []
    lows, highs = dict(values), dict(values)
    for name in DIMENSIONS:
        read = [_number(out, one, name, f"{place} {way} repeats") for one in repeats]
        if present := [v for v in read if not math.isnan(v)]:
            lows[name], highs[name] = min(present), max(present)
    carried = speaker.get("carried") is True
    return Read(values, lows, highs, max(len(repeats), 1), carried, _reasons(speaker))


def _reasons(speaker: dict[str, Any]) -> dict[str, str]:
    reasons = speaker.get("reasons")
    out = {}
    for one in reasons if isinstance(reasons, list) else []:
        if isinstance(one, dict) and one.get("dimension") in DIMENSIONS:
            cited = one.get("evidence")
            ids = ", ".join(map(str, cited)) if isinstance(cited, list) else ""
            out[one["dimension"]] = f"{one.get('text', '')}" + (f" [{ids}]" if ids else "")
    return out


def _speaker_dict(rr: dict[str, Any], name: str) -> dict[str, Any]:
    by_speaker = rr.get("by_speaker")
    found = by_speaker.get(name) if isinstance(by_speaker, dict) else None
    return found if isinstance(found, dict) else {}


def _number(out: Series, vector: Any, name: str, place: str) -> float:
    value = vector.get(name) if isinstance(vector, dict) else None
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not LOW <= value <= HIGH:
        out.notes.append(
            say(
                f"{place}: {name} の {value!r} は {LOW}〜{HIGH} の数ではないため欠測とする",
                f"{place}: {name} is {value!r}, no number from {LOW} to {HIGH}; a gap",
            )
        )
        return math.nan
    return float(value)


def _names(data: dict[str, Any], file: Path) -> tuple[str, str]:
    """Names of a and b: from `name` and `partner`, else from `by_speaker`, else A and B."""
    b = data.get("agent") == "agent_b" or file.stem == "agent_b"
    own, partner = data.get("name"), data.get("partner")
    if isinstance(own, str) and isinstance(partner, str) and own and partner:
        return (partner, own) if b else (own, partner)
    listed = _speakers(data)
    if len(listed) != 2:
        return ("A", "B")
    if isinstance(own, str) and own in listed:
        other = listed[1 - listed.index(own)]
        return (other, own) if b else (own, other)
    return (listed[0], listed[1])


def _speakers(data: dict[str, Any]) -> list[str]:
    for key, rows in data.items():
        if not _KEY.fullmatch(key) or not isinstance(rows, list):
            continue
        for row in rows:
            rr = row.get("rr") if isinstance(row, dict) else None
            by_speaker = rr.get("by_speaker") if isinstance(rr, dict) else None
            if isinstance(by_speaker, dict) and len(by_speaker) == 2:
                return list(by_speaker)
    return []


def _label(file: Path) -> str:
    """The file's stem, or the folder's name for `agent_a.json`."""
    same = file.stem in ("agent_a", "agent_b")
    return file.resolve().parent.name if same and file.resolve().parent.name else file.stem
