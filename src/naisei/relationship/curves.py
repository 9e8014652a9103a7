"""The readings of conversations as charts: how each stands toward the other, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from naisei.lang import say
from naisei.relationship.schemas import Conversation
from naisei.relationship.vector import DIMENSIONS, NAMES_JA
from naisei.runs.charts import Chart, Point

#: Conversations that are drawn.
_MOST = 3


def charts(results: Sequence[tuple[str, Any]]) -> list[Chart]:
    """A chart a conversation and direction, a line a dimension; a point leads to its line."""
    return [
        chart
        for episode, result in results[:_MOST]
        for chart in _of(episode, Conversation.model_validate(result))
    ]


def _of(episode: str, talk: Conversation) -> list[Chart]:
    number: dict[tuple[int, int], int] = {}
    text: dict[tuple[int, int], str] = {}
    for session in talk.sessions:
        for line in session.lines:
            number[session.number, line.turn] = len(number) + 1
            text[session.number, line.turn] = line.text
    points: dict[str, dict[str, list[Point]]] = {}
    for session in talk.sessions:
        for moment in session.moments:
            place = (moment.session, moment.turn)
            for made in moment.reflections:
                lines = points.setdefault(made.direction, {})
                for name in DIMENSIONS:
                    value = float(getattr(made.reading.vector, name))
                    said = text.get(place, "")
                    shown = f"{say(NAMES_JA[name], name)} {value:+g}: {said[:40]}"
                    point = Point(
                        number.get(place, 0), value, title=shown, episode=episode, find=said[:24]
                    )
                    lines.setdefault(say(NAMES_JA[name], name), []).append(point)
    a, b = talk.names.values()
    ways = {"a_to_b": f"{a} → {b}", "b_to_a": f"{b} → {a}"}
    return [
        Chart(ways.get(way, way), lines, say("発話", "line"), say("値", "value"))
        for way, lines in points.items()
    ]
