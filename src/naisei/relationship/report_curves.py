"""Small drawings of the readings for the report, as coordinates of an SVG."""

from __future__ import annotations

from dataclasses import dataclass

from naisei.relationship.schemas import Conversation, Direction
from naisei.relationship.vector import DIMENSIONS, HIGH, LOW

__all__ = ["HEIGHT", "WIDTH", "Curve", "curves"]

WIDTH, HEIGHT = 640.0, 84.0
_WAYS: tuple[Direction, Direction] = ("a_to_b", "b_to_a")


@dataclass(frozen=True, slots=True)
class Curve:
    """One dimension. lines: for each direction its pieces, each `x,y x,y`; a failed reading or a
    new session begins another. spots: for each direction (x, y). borders: x of sessions."""

    dimension: str
    lines: tuple[tuple[str, ...], tuple[str, ...]]
    spots: tuple[tuple[tuple[float, float], ...], tuple[tuple[float, float], ...]]
    borders: tuple[float, ...]


def curves(talk: Conversation) -> list[Curve]:
    """One a dimension; none if nothing was reflected on."""
    moments = [(s.number, m) for s in talk.sessions for m in s.moments]
    if not moments:
        return []
    step = WIDTH / (len(moments) + 1)
    borders = tuple(
        round((n + 0.5) * step, 1)
        for n in range(1, len(moments))
        if moments[n][0] != moments[n - 1][0]
    )
    out = []
    for at, dimension in enumerate(DIMENSIONS):
        lines, spots = [], []
        for nth, way in enumerate(_WAYS):
            pieces: list[list[str]] = [[]]
            dots = []
            before = moments[0][0]
            for n, (session, moment) in enumerate(moments, 1):
                stance = moment.stances.get(way)
                vector = stance.reading.vector if stance else None
                if vector is None or session != before:
                    pieces.append([])
                before = session
                if vector is None or stance is None:
                    continue
                # A little apart, so that equal readings are both seen.
                y = HEIGHT * (HIGH - vector.values[at]) / (HIGH - LOW) + (2 * nth - 1)
                spot = (round(n * step, 1), round(y, 1))
                pieces[-1].append(f"{spot[0]},{spot[1]}")
                if not stance.carried:
                    dots.append(spot)
            lines.append(tuple(" ".join(piece) for piece in pieces if piece))
            spots.append(tuple(dots))
        out.append(Curve(dimension, (lines[0], lines[1]), (spots[0], spots[1]), borders))
    return out
