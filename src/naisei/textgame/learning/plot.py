"""The learning curve as a picture; matplotlib is the extra `plots`, imported here alone."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.files import written_beside
from naisei.lang import say
from naisei.textgame.learning.curve import Point, table

__all__ = ["draw"]

#: Okabe and Ito, Color Universal Design (2008).
_LINES = {"on": ("#0072B2", "o", "-"), "off": ("#D55E00", "s", "--")}


def draw(points: Sequence[Point], path: Path) -> None:
    """Score and steps over the number of train games, with 95 % intervals of the score.

    Raises:
        InputError: matplotlib is not installed, or the file cannot be written.
    """
    if find_spec("matplotlib") is None:
        raise InputError(
            say("図を描くには matplotlib が要ります", "pictures need matplotlib"),
            place="--plot",
            remedy=say(
                'pip install "naisei[plots]" で入ります (表だけなら不要)',
                'pip install "naisei[plots]"; the table needs none',
            ),
        )
    matplotlib = import_module("matplotlib")
    settings = {"svg.hashsalt": "naisei", "axes.spines.top": False, "axes.spines.right": False}
    with matplotlib.rc_context(settings):
        figure = _figure(table(points).rows)
        try:
            with written_beside(path) as scratch:
                figure.savefig(scratch, metadata={"Date": None} if path.suffix == ".svg" else None)
        except ValueError as error:  # an ending that names no format of a picture
            raise InputError(
                say(f"書き込めません: {error}", f"it cannot be written: {error}"), place=str(path)
            ) from None


def _figure(rows: Sequence[Sequence[str | float | int]]) -> Any:
    # Not pyplot: it keeps every figure and looks for a screen.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 5.6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    counts = sorted({int(row[1]) for row in rows})
    for caution, (colour, mark, style) in _LINES.items():
        of = [row for row in rows if row[0] == caution]
        if not of:
            continue
        x = [counts.index(int(row[1])) for row in of]
        score, low, high, steps = ([float(row[k]) for row in of] for k in (3, 4, 5, 6))
        look = {"color": colour, "marker": mark, "linestyle": style}
        upper.plot(x, score, label=f"caution {caution}", **look)
        upper.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
        lower.plot(x, steps, **look)
    upper.set_ylabel("normalised score")
    upper.set_ylim(0, 1.02)
    upper.legend(loc="lower right")
    lower.set_ylabel("mean steps")
    lower.set_ylim(bottom=0)
    lower.set_xlabel("train games played")
    lower.set_xticks(range(len(counts)), [str(n) for n in counts])
    for axes in (upper, lower):
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    return figure
