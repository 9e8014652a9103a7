"""Charts of the relationship over the utterances, one per dimension."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from naisei.lang import language, say
from naisei.relationship.schemas import Conversation
from naisei.relationship.speech import SpeechReading, course
from naisei.relationship.vector import DIMENSIONS, HIGH, LOW, degree, dimension_name, signed
from naisei.runs.charts import Chart, Point

#: Maximum number of conversations to draw.
_MOST = 3
_WAYS = ("a_to_b", "b_to_a")
#: Direction, dimension, point → its number as text (empty if undefined).
_Reading = tuple[str, str, Point, str]
#: The estimates of both directions after each line.
Heard = Sequence[tuple[SpeechReading, SpeechReading]]


def charts(results: Sequence[tuple[str, Any]]) -> list[Chart]:
    """Charts of the first three conversations; each point links to its line."""
    return [
        chart
        for episode, result in results[:_MOST]
        for chart in curves(Conversation.model_validate(result), episode)
    ]


def curves(
    talk: Conversation, episode: str = "", *, speech: Heard | None = None, number: int = 0
) -> list[Chart]:
    """One chart per dimension with one line per direction; no chart without readings.

    Args:
        speech: the estimates after each line (`heard`), instead of a model's readings.
        number: the conversation's number on the report page; points link to its readings.
    """
    lines: dict[str, dict[str, list[Point]]] = {name: {} for name in DIMENSIONS}
    last: dict[tuple[str, str], str] = {}
    readings = _readings(talk, episode, number) if speech is None else _estimates(speech)
    for way, name, point, label in readings:
        lines[name].setdefault(way, []).append(point)
        last[name, way] = label
    a, b = talk.names["a"], talk.names["b"]
    ways = {"a_to_b": f"{a} → {b}", "b_to_a": f"{b} → {a}"}
    return [
        Chart(
            " · ".join(filter(None, (dimension_name(name), episode))),
            {f"{ways[w]} {last[name, w]}".strip(): found[w] for w in ways if w in found},
            say("発話", "line"),
            "",
            bounds=(LOW, HIGH),
        )
        for name, found in lines.items()
        if found
    ]


def direction_chart(title: str, course: Sequence[Mapping[str, float] | None]) -> Chart:
    """A chart of one direction, with one line per dimension. course: values after each line, −3 to
    3; NaN or `None` if unknown."""
    lines = {
        dimension_name(name): [Point(n, found[name]) for n, found in enumerate(course, 1) if found]
        for name in DIMENSIONS
    }
    return Chart(title, lines, say("発話", "line"), "", bounds=(LOW, HIGH))


def _readings(talk: Conversation, episode: str, number: int) -> Iterator[_Reading]:
    before = 0
    for session in talk.sessions:
        text = {line.turn: line.text for line in session.lines}
        for moment in session.moments:
            at = before + (moment.turn + 1 if moment.at == "after_turn" else 0)
            utterance = text.get(moment.turn, "")
            start = "s" if moment.at == "session_start" else ""
            turn_id = f"{moment.session}-{moment.turn + 1}"
            for way, stance in moment.stances.items():
                link = f"#r{number}-{turn_id}{start}-{way}" if number and not stance.carried else ""
                why = {reason.dimension: reason.text for reason in stance.reading.reasons}
                for name in DIMENSIONS if (vector := stance.reading.vector) else ():
                    value = getattr(vector, name)
                    label = f"{signed(value)} {degree(name, value, language())}"
                    title = f"{turn_id} {label}: {why.get(name, utterance[:40])}"
                    point = Point(
                        at, value, title=title, link=link, episode=episode, find=utterance[:24]
                    )
                    yield way, name, point, signed(value)
        before += len(session.lines)


def heard(talk: Conversation) -> Heard:
    """Estimate both directions from speech after each line."""
    lines = [(line.speaker, line.text) for session in talk.sessions for line in session.lines]
    names = {str(agent): name for agent, name in talk.names.items()}
    return course(lines, ("a", "b"), names=names)


def _estimates(speech: Heard) -> Iterator[_Reading]:
    for at, both in enumerate(speech, 1):
        for way, reading in zip(_WAYS, both, strict=True):
            for name in DIMENSIONS:
                one = reading[name]
                label = "" if math.isnan(one.value) else f"{one.score:+.1f}"
                if not math.isnan(one.score):
                    yield way, name, Point(at, one.score), label
