"""What the page shows: lines, and both directions of each dimension as curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from naisei.core import Event
from naisei.lang import language
from naisei.relationship.book import folded
from naisei.relationship.degrees import NAMES_JA
from naisei.relationship.schemas import Conversation, Line, Moment, Reflection
from naisei.relationship.speech.course import course
from naisei.relationship.task import empty
from naisei.relationship.vector import DIMENSIONS
from naisei.web.pages.relationship.config import PairConfig, pair_of

__all__ = ["Curve", "Panel", "Picture"]

_WIDTH, _HEIGHT = 300, 84
_WAYS = ("a_to_b", "b_to_a")


@dataclass(frozen=True, slots=True)
class Curve:
    """way: `a_to_b` or `b_to_a`. points: of an SVG polyline. last: −3…3, `None` if unknown."""

    way: str
    points: tuple[tuple[float, float], ...]
    last: float | None

    @property
    def line(self) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)


@dataclass(frozen=True, slots=True)
class Panel:
    """One dimension. name: to show."""

    dimension: str
    name: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """estimated: the curves are by how the two talk, since no model reflects. moments: with the
    reflections made after a line, by its id; those of a session's start under the session."""

    conversation: Conversation
    panels: tuple[Panel, ...]
    estimated: bool
    made: dict[str, tuple[Reflection, ...]]
    width: int = _WIDTH
    height: int = _HEIGHT

    @property
    def lines(self) -> list[Line]:
        return [line for session in self.conversation.sessions for line in session.lines]

    def way(self, direction: str) -> str:
        """`高橋 → 佐藤`."""
        a, b = self.conversation.names["a"], self.conversation.names["b"]
        return f"{a} → {b}" if direction == "a_to_b" else f"{b} → {a}"

    @classmethod
    def of(cls, config: PairConfig, events: Iterable[Event]) -> Picture:
        talk = folded(empty(pair_of(config.pair)), events)
        estimated = config.rules.reflection == "off"
        series = _estimates(talk) if estimated else _readings(talk)
        total = max(config.rules.sessions * config.rules.turns, 1)
        names = NAMES_JA if language() == "ja" else {name: name for name in DIMENSIONS}
        panels = tuple(
            Panel(
                name,
                names[name],
                tuple(_curve(way, series[way, name], total) for way in _WAYS),
            )
            for name in DIMENSIONS
        )
        return cls(talk, panels, estimated, _made(talk))


#: (utterances so far, value); NaN where there is none.
_Series = dict[tuple[str, str], list[tuple[int, float]]]


def _readings(talk: Conversation) -> _Series:
    found: _Series = {(way, name): [] for way in _WAYS for name in DIMENSIONS}
    before = 0
    for session in talk.sessions:
        for moment in session.moments:
            at = before + (moment.turn + 1 if moment.at == "after_turn" else 0)
            for way, stance in moment.stances.items():
                if (vector := stance.reading.vector) is not None:
                    for name, value in zip(DIMENSIONS, vector.values, strict=True):
                        found[way, name].append((at, float(value)))
        before += len(session.lines)
    return found


def _estimates(talk: Conversation) -> _Series:
    found: _Series = {(way, name): [] for way in _WAYS for name in DIMENSIONS}
    said = [(line.speaker, line.text) for session in talk.sessions for line in session.lines]
    names = {str(agent): name for agent, name in talk.names.items()}
    for at, both in enumerate(course(said, ("a", "b"), names=names), 1):
        for way, reading in zip(_WAYS, both, strict=True):
            for name in DIMENSIONS:
                if not math.isnan(value := reading[name].value):
                    found[way, name].append((at, value))
    return found


def _curve(way: str, series: Sequence[tuple[int, float]], total: int) -> Curve:
    points = tuple(
        (at / total * (_WIDTH - 8) + 4, (3 - value) / 6 * (_HEIGHT - 12) + 6)
        for at, value in series
    )
    return Curve(way, points, series[-1][1] if series else None)


def _made(talk: Conversation) -> dict[str, tuple[Reflection, ...]]:
    return {
        _place(moment, session.lines): moment.reflections
        for session in talk.sessions
        for moment in session.moments
        if moment.reflections
    }


def _place(moment: Moment, lines: Sequence[Line]) -> str:
    if moment.at == "session_start":
        return f"session-{moment.session}"
    return lines[moment.turn].id
