"""The course of a training: one point at each of its checkpoints, as CSV and as a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from math import isnan
from pathlib import Path

from naisei.files import write_atomically
from naisei.runs.curves import Curve, svg

__all__ = ["Course", "Point"]


@dataclass(frozen=True, slots=True)
class Point:
    """loss: mean since the point before. dev_loss, dev_f1: mean surprise of a word, and pooled
    token F1, on the dev part; NaN without one. speed: subwords learnt from per second."""

    step: int
    loss: float
    dev_loss: float
    dev_f1: float
    speed: float


class Course:
    """The points of one training, kept in a folder if there is one."""

    def __init__(self, folder: Path | None, *, done: int, report: Callable[[Point], None]) -> None:
        """done: steps of a training that goes on; points after them are forgotten."""
        self._folder, self._report = folder, report
        columns = ("step", "loss", "dev_loss", "dev_f1", "subwords_per_second")
        self._curve = Curve((folder or Path()) / "curve.csv", columns)
        if folder:
            self._curve.resume(done)

    def add(self, point: Point) -> None:
        self._curve.add(*astuple(point))
        self._report(point)

    def write(self) -> None:
        """`curve.csv` and `curve.svg`."""
        if self._folder is None:
            return
        self._curve.write()
        names = ("training loss", "dev loss", "dev token F1")
        lines = {
            name: [(row[0], row[i]) for row in self._curve.rows if not isnan(row[i])]
            for i, name in enumerate(names, 1)
        }
        picture = svg({n: line for n, line in lines.items() if line}, title="training")
        write_atomically(self._folder / "curve.svg", picture)
