"""The five indicators as a small radar: 1 (holds fully) reaches the rim, 5 stays at the middle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from naisei.core import Event
from naisei.lang import say

__all__ = ["Axis", "Radar"]

_AXES = (
    ("clarity", "明確さ", "clear"),
    ("is_question", "質問", "question"),
    ("is_consultation", "相談", "worry"),
    ("in_internal_docs", "資料にある", "in documents"),
    ("ask_person", "人に聞く", "ask a person"),
)
_RADIUS = 56.0


@dataclass(frozen=True, slots=True)
class Axis:
    """name: to show. grade: 1 to 5. x, y: end of the axis; at: where its name stands."""

    name: str
    grade: int
    x: float
    y: float
    at: tuple[float, float]
    anchor: str


@dataclass(frozen=True, slots=True)
class Radar:
    """axes: in the order of the indicators. points: of the polygon."""

    axes: Sequence[Axis]
    points: str

    @property
    def told(self) -> str:
        """The grades in words, for who cannot see the drawing."""
        return say("、", ", ").join(f"{axis.name} {axis.grade}" for axis in self.axes)

    @classmethod
    def of(cls, event: Event) -> Radar | None:
        """Of a reply; `None` for an event that is none."""
        if event.kind != "say":
            return None
        request: dict[str, dict[str, dict[str, dict[str, int]]]] = event.request  # type: ignore[assignment]
        grades = request["meta"]["reply"]["evaluation"]
        axes, points = [], []
        for at, (key, ja, en) in enumerate(_AXES):
            angle = 2 * math.pi * at / len(_AXES) - math.pi / 2
            x, y = math.cos(angle), math.sin(angle)
            share = (6 - grades[key]) / 5
            points.append(f"{_RADIUS * share * x:.1f},{_RADIUS * share * y:.1f}")
            anchor = "middle" if abs(x) < 0.1 else "start" if x > 0 else "end"
            place = (round(1.14 * _RADIUS * x, 1), round(1.14 * _RADIUS * y + 4, 1))
            axes.append(
                Axis(
                    say(ja, en),
                    grades[key],
                    round(_RADIUS * x, 1),
                    round(_RADIUS * y, 1),
                    place,
                    anchor,
                )
            )
        return cls(axes, " ".join(points))
