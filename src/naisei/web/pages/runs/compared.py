"""Runs side by side: their metrics, the paired differences, and where they differ."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from naisei.lang import say
from naisei.runs.compare import Comparison, compare
from naisei.runs.directory import Frozen
from naisei.runs.report import StoredSummary, stored_summary
from naisei.runs.tables import to_csv, to_markdown
from naisei.web.html import page_response
from naisei.web.pages.runs.files import download
from naisei.web.pages.runs.lists import Place, file_state, opened, place_of

__all__ = ["file", "show"]

#: Runs at a time; pairs grow with the square.
_MOST = 6
#: Units that are listed one by one.
_UNITS = 50


@dataclass(frozen=True, slots=True)
class Side:
    """One of the runs."""

    place: Place
    frozen: Frozen
    stored: StoredSummary


async def show(request: Request) -> Response:
    """`GET /runs/compare?run=<name>&run=<name>`."""
    places = _places(request)
    found = await asyncio.to_thread(_work, places)
    return page_response(request, "runs/compare.html", **found)


async def file(request: Request) -> Response:
    """`GET /runs/compare/file?run=…&run=…&as=md|csv`."""
    places = _places(request)
    form = request.query_params.get("as", "")
    comparison = await asyncio.to_thread(_compared, places)
    if form == "csv":
        return download(to_csv(comparison.table()), "text/csv", "comparison.csv")
    warnings = "".join(f"- {warning}\n" for warning in comparison.warnings)
    text = f"{warnings}\n{to_markdown(comparison.table())}"
    return download(text, "text/markdown", "comparison.md")


def _places(request: Request) -> list[Place]:
    names = list(dict.fromkeys(request.query_params.getlist("run")))
    if not 2 <= len(names) <= _MOST:
        raise HTTPException(
            422,
            say(f"2 つから {_MOST} つの実行を選んでください", f"choose 2 to {_MOST} runs"),
        )
    return [place_of(request, name) for name in names]


def _work(places: list[Place]) -> dict[str, Any]:
    sides = [_side(place) for place in places]
    names = list(dict.fromkeys(m.name for side in sides for m in side.stored.summary.metrics))
    comparison = _compared(places)
    short = {str(place.path): place.name for place in places}
    return {
        "sides": sides,
        "names": names,
        "metrics": [{m.name: m for m in side.stored.summary.metrics} for side in sides],
        "comparison": comparison,
        "scale": _scale(comparison),
        "short": short,
        "settings": _settings(sides),
        "units": _units(sides) if len(sides) == 2 else None,
    }


def _side(place: Place) -> Side:
    with opened(place.path) as directory:
        return Side(place, directory.frozen, stored_summary(directory))


def _compared(places: list[Place]) -> Comparison:
    paths = tuple(place.path for place in places)
    return _comparison(paths, tuple(file_state(path) for path in paths))


@lru_cache(maxsize=32)
def _comparison(paths: tuple[Path, ...], marks: tuple[object, ...]) -> Comparison:
    """marks: change with the runs' logs; thousands of resamples are worth keeping."""
    return compare(paths)


def _scale(comparison: Comparison) -> float:
    """The largest distance from 0 that is drawn, of metrics between 0 and 1."""
    ends = [
        abs(end)
        for line in comparison.lines
        for end in (line.difference.low, line.difference.high, line.difference.value)
        if abs(end) <= 1  # false for NaN too
    ]
    return max(ends, default=1.0) or 1.0


def _settings(sides: list[Side]) -> list[str]:
    """What the configurations do not share, run against the first."""
    first, *others = sides
    several = len(others) > 1
    return [
        f"{other.place.name}: {line}" if several else line
        for other in others
        for line in first.frozen.differences(other.frozen)
    ]


def _units(sides: list[Side]) -> dict[str, Any]:
    """The units on which two runs differ most, by the last metric that both have."""
    first, second = sides
    for metric in reversed(first.stored.summary.metrics):
        a, b = first.stored.per_unit(metric.name), second.stored.per_unit(metric.name)
        if a and b:
            apart = [(unit, a[unit], b[unit]) for unit in a if unit in b and a[unit] != b[unit]]
            apart.sort(key=lambda each: abs(each[1] - each[2]), reverse=True)
            return {"metric": metric.name, "rows": apart[:_UNITS], "total": len(apart)}
    return {"metric": "", "rows": [], "total": 0}
