"""Ratings of an existing dialogue: both directions after every turn, by whatever rater."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from naisei.relationship.dialogues import Dialogue, Utterance
from naisei.relationship.schemas import Conversation, Direction
from naisei.relationship.speech import Course, SpeechReading
from naisei.relationship.stability import away_from_zero
from naisei.relationship.vector import DIMENSIONS, RelationVector

__all__ = ["WAYS", "Mark", "Rating", "Turn", "from_conversations", "from_file", "rate_by_speech"]

WAYS: tuple[Direction, Direction] = ("a_to_b", "b_to_a")


@dataclass(frozen=True, slots=True)
class Mark:
    """One number of one direction after one turn.

    value: the estimate, or the mean of the repetitions; NaN where there is none, then `reason`
    says why. repeats: what each repetition gave, `None` where it failed.
    """

    value: float
    reason: str = ""
    repeats: tuple[int | None, ...] = ()

    @property
    def rounded(self) -> int | None:
        """The whole number, halves away from 0."""
        return None if math.isnan(self.value) else away_from_zero(self.value)


@dataclass(frozen=True, slots=True)
class Turn:
    """The state after one utterance. marks: direction → dimension → its mark. speech: the
    readings with their grounds, where speech was the rater."""

    line: Utterance
    next_speaker: str
    marks: dict[Direction, dict[str, Mark]]
    speech: dict[Direction, SpeechReading] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rating:
    """A rated dialogue. rater: `speech`, `file` (what it held already), or a model's name."""

    dialogue: Dialogue
    rater: str
    turns: tuple[Turn, ...]
    repeats: int = 1

    def name(self, way: Direction) -> tuple[str, str]:
        """Who stands toward whom."""
        a, b = self.dialogue.speakers
        return (a, b) if way == "a_to_b" else (b, a)


def rate_by_speech(dialogue: Dialogue) -> Rating:
    """By the estimator: each turn by all that was said up to it, across sessions."""
    course = Course(dialogue.speakers)
    turns = []
    for at, line in enumerate(dialogue.lines):
        course.add(line.speaker, line.text)
        readings: dict[Direction, SpeechReading] = {
            way: course.reading(src) for way, src in zip(WAYS, dialogue.speakers, strict=True)
        }
        marks = {
            way: {n: Mark(r[n].value, r[n].reason) for n in DIMENSIONS}
            for way, r in readings.items()
        }
        turns.append(Turn(line, _next(dialogue, at), marks, readings))
    return Rating(dialogue, "speech", tuple(turns))


def from_file(dialogue: Dialogue) -> Rating | None:
    """By the vectors that the file holds already; `None` if it holds none."""
    if not dialogue.vectors:
        return None
    turns = []
    for at, line in enumerate(dialogue.lines):
        held = dialogue.vectors.get((line.session, line.turn), (None, None))
        marks = {
            way: _marks([vector], "the file holds none for this turn")
            for way, vector in zip(WAYS, held, strict=True)
        }
        turns.append(Turn(line, _next(dialogue, at), marks))
    return Rating(dialogue, "file", tuple(turns))


def from_conversations(dialogue: Dialogue, rater: str, talks: Sequence[Conversation]) -> Rating:
    """By a model: one conversation a repetition, as far as each came."""
    found: list[dict[tuple[int, int], dict[Direction, tuple[RelationVector | None, str]]]] = []
    for talk in talks:
        read: dict[tuple[int, int], dict[Direction, tuple[RelationVector | None, str]]] = {}
        for session in talk.sessions:
            for moment in session.moments:
                read[session.number, moment.turn] = {
                    way: (stance.reading.vector, stance.reading.failure)
                    for way, stance in moment.stances.items()
                }
        found.append(read)
    turns = []
    for at, line in enumerate(dialogue.lines):
        marks: dict[Direction, dict[str, Mark]] = {}
        for way in WAYS:
            given = [
                read.get((line.session, line.turn), {}).get(way, (None, "not rated"))
                for read in found
            ]
            why = next((failure for vector, failure in given if vector is None), "")
            marks[way] = _marks([vector for vector, _ in given], why or "not rated")
        turns.append(Turn(line, _next(dialogue, at), marks))
    return Rating(dialogue, rater, tuple(turns), len(talks))


def _marks(vectors: Sequence[RelationVector | None], why: str) -> dict[str, Mark]:
    out = {}
    for name in DIMENSIONS:
        given = tuple(None if v is None else int(getattr(v, name)) for v in vectors)
        read = [v for v in given if v is not None]
        mean = sum(read) / len(read) if read else math.nan
        out[name] = Mark(mean, "" if read else why, given)
    return out


def _next(dialogue: Dialogue, at: int) -> str:
    """Who speaks after line `at`; after the last of a session, the other one."""
    a, b = dialogue.speakers
    line = dialogue.lines[at]
    after = dialogue.lines[at + 1] if at + 1 < len(dialogue.lines) else None
    if after is not None and after.session == line.session:
        return after.speaker
    return b if line.speaker == a else a
