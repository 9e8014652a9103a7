"""The strip of outcomes: one cell per episode, or per several if there are very many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from naisei.runs.overview import EpisodeOutcome

#: Maximum number of cells for one and for several episodes per cell; and cells per row.
_MOST, _MOST_SHARED, _ROW = 400, 240, 80
#: Width and height of a cell with its gap, in drawing units.
_WIDE, _HIGH = 10, 14
_KINDS = ("good", "part", "bad", "ended", "unscored")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell. first: index of its first episode among the finished ones. parts: outcome, top and
    height of each colour in it."""

    x: int
    y: int
    first: int
    name: str
    parts: Sequence[tuple[str, float, float]]


@dataclass(frozen=True, slots=True)
class Strip:
    """All cells. each: episodes per cell. cells: cells in which something went wrong. fine:
    positions of cells with one good outcome, by outcome. left: positions of unfinished episodes."""

    cells: Sequence[Cell]
    fine: Mapping[str, Sequence[tuple[int, int]]]
    left: Sequence[tuple[int, int]]
    each: int
    width: int
    height: int

    @staticmethod
    def of(rows: Sequence[EpisodeOutcome], total: int) -> Strip:
        """rows: finished episodes, in order. total: number of episodes of the run."""
        total = max(total, len(rows))
        each = 1 if total <= _MOST else -(-total // _MOST_SHARED)
        count = -(-total // each)
        cells: list[Cell] = []
        fine: dict[str, list[tuple[int, int]]] = {"good": [], "ended": []}
        for number, at in enumerate(range(0, len(rows), each)):
            shared = rows[at : at + each]
            outcome = {row.outcome for row in shared}
            if len(outcome) == 1 and (kind := outcome.pop()) in fine:
                fine[kind].append(_cell_origin(number))
            else:
                cells.append(_cell(shared, at, number))
        left = [_cell_origin(number) for number in range(-(-len(rows) // each), count)]
        across = min(count, _ROW)
        return Strip(cells, fine, left, each, across * _WIDE, -(-count // _ROW) * _HIGH)


def _cell_origin(number: int) -> tuple[int, int]:
    return number % _ROW * _WIDE, number // _ROW * _HIGH


def _cell(rows: Sequence[EpisodeOutcome], first: int, number: int) -> Cell:
    x, y = _cell_origin(number)
    name = rows[0].episode if len(rows) == 1 else f"{rows[0].episode} – {rows[-1].episode}"
    of = Counter(row.outcome for row in rows)
    parts, top = [], 0.0
    for kind in _KINDS:
        if n := of[kind]:  # type: ignore[index]
            share = round((_HIGH - 2) * n / len(rows), 2)
            parts.append((kind, round(y + top, 2), share))
            top += share
    return Cell(x, y, first, name, parts)
