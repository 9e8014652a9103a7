"""Runs side by side: their metrics, the paired differences, and where they differ."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.compare import Comparison, compare, load
from naisei.runs.frozen import Frozen
from naisei.runs.listing import looked_at
from naisei.runs.report import StoredSummary, stored_summary
from naisei.runs.tables import to_csv, to_markdown
from naisei.system.studies import headline_name
from naisei.web.html import page_response
from naisei.web.pages.runs.files import download
from naisei.web.pages.runs.lists import (
    RunAddress,
    all_runs,
    chosen_runs,
    file_state,
    opened,
    place_of,
)
from naisei.web.state import ServerState, server_of

#: Runs at a time; pairs grow with the square.
_MOST = 6
#: Units that are listed one by one, and runs that one is offered to be compared with.
_UNITS, _OFFERED = 50, 30


@dataclass(frozen=True, slots=True)
class Side:
    """One of the runs."""

    place: RunAddress
    frozen: Frozen
    stored: StoredSummary


async def show(request: Request) -> Response:
    """`GET /runs/compare?run=<name>&run=<name>`."""
    chosen = chosen_runs(request)
    if not 2 <= len(chosen) <= _MOST:
        return await _choose(request, [*chosen])
    places = [*chosen.values()]
    sides = await asyncio.to_thread(lambda: [*map(_side, places)])
    try:
        comparison = await asyncio.to_thread(_compared, places)
    except InputError as error:
        return await _choose(request, [*chosen][:1], error.message)
    found = await asyncio.to_thread(_work, sides, comparison)
    return page_response(request, "runs/compare.html", **found)


async def _choose(request: Request, names: list[str], refused: str = "") -> Response:
    """Fewer than two runs, too many, or incomparable ones: an error, with candidates for
    comparison."""
    others: list[tuple[RunAddress, int]] = []
    if len(names) == 1:
        others = await asyncio.to_thread(_offered, server_of(request), place_of(request, names[0]))
    told = {
        0: say("比べる実行を 2 つ以上選んでください。", "Choose two runs or more to compare."),
        1: "",  # the page asks for the other
    }
    most = say(
        f"一度に比べられるのは {_MOST} 個までです ({len(names)} 個選ばれました)。",
        f"At most {_MOST} runs are compared at a time ({len(names)} were chosen).",
    )
    apart = say(
        "同じシステムで、同じデータの同じ件を測った実行どうしだけを比べられます。",
        "Only runs of one system on the same instances of the same data are compared.",
    )
    problem = apart if refused else told.get(len(names), most)
    return page_response(
        request,
        "runs/choose.html",
        problem=problem,
        refused=refused,
        others=others[:_OFFERED],
        chosen=names,
    )


def _offered(server: ServerState, chosen: RunAddress) -> list[tuple[RunAddress, int]]:
    """Runs to compare one with, and how many episodes of each are scored, the most first: those of
    the same system and data. A fork repeats one episode: it is shown beside its parent."""
    frozen = Frozen.read(chosen.path / "config.json")
    found = [
        (RunAddress.of(server, run.path), looked_at(run).scored)
        for run in all_runs(server)
        if run.system == frozen.system and run.path != chosen.path and "-fork-" not in run.path.name
        if Frozen.read(run.path / "config.json").data_hash == frozen.data_hash
    ]
    return sorted(found, key=lambda each: -each[1])


async def file(request: Request) -> Response:
    """`GET /runs/compare/file?run=…&run=…&as=md|csv`."""
    places = [*chosen_runs(request).values()]
    if not 2 <= len(places) <= _MOST:
        told = say(f"2 つから {_MOST} つの実行を選んでください", f"choose 2 to {_MOST} runs")
        raise HTTPException(422, told)
    form = request.query_params.get("as", "")
    comparison = await asyncio.to_thread(_compared, places)
    if form == "csv":
        return download(to_csv(comparison.table()), "text/csv", "comparison.csv")
    warnings = "".join(f"- {warning}\n" for warning in comparison.warnings)
    text = f"{warnings}\n{to_markdown(comparison.table())}"
    return download(text, "text/markdown", "comparison.md")


def _work(sides: list[Side], comparison: Comparison) -> dict[str, Any]:
    names = list(dict.fromkeys(m.name for side in sides for m in side.stored.summary.metrics))
    head = headline_name(load(sides[0].place.path, sides[0].place.name))
    return {
        "verdicts": [line for line in comparison.lines if line.metric == head],
        "labels": {str(side.place.path): side.place.label for side in sides},
        "bases": [_with_base(sides, n) for n in range(len(sides))],
        "sides": sides,
        "names": names,
        "metrics": [{m.name: m for m in side.stored.summary.metrics} for side in sides],
        "comparison": comparison,
        "scale": _scale(comparison),
        "units": _units(sides) if len(sides) == 2 else None,
    }


def _with_base(sides: list[Side], first: int) -> str:
    """The address of the same comparison with another baseline."""
    names = [side.place.name for side in sides]
    ordered = [names[first], *names[:first], *names[first + 1 :]]
    return "/runs/compare?" + urlencode([("run", name) for name in ordered])


def _side(place: RunAddress) -> Side:
    with opened(place.path) as directory:
        return Side(place, directory.frozen, stored_summary(directory))


def _compared(places: list[RunAddress]) -> Comparison:
    return compared(tuple(place.path for place in places))


def compared(paths: tuple[Path, ...], names: tuple[str, ...] = ()) -> Comparison:
    """Runs with the first of them. names: of each, in place of those of their folders."""
    return _comparison(paths, names, tuple(map(file_state, paths)))


@lru_cache(maxsize=32)
def _comparison(
    paths: tuple[Path, ...], names: tuple[str, ...], marks: tuple[object, ...]
) -> Comparison:
    """marks: change with the runs' logs; thousands of resamples are worth keeping."""
    return compare(paths, against_first=True, names=names)


def _scale(comparison: Comparison) -> float:
    """The largest distance from 0 that is drawn, of metrics between 0 and 1."""
    ends = [
        abs(end)
        for line in comparison.lines
        for end in (line.difference.low, line.difference.high, line.difference.value)
        if abs(end) <= 1  # false for NaN too
    ]
    return max(ends, default=1.0) or 1.0


def _units(sides: list[Side]) -> dict[str, Any]:
    """The units on which two runs differ most, by the last metric that both have."""
    for metric in reversed(sides[0].stored.summary.paired()):
        a, b = (side.stored.summary.per_unit(metric.name) for side in sides)
        if a and b:
            apart = [(unit, a[unit], b[unit]) for unit in a if unit in b and a[unit] != b[unit]]
            apart.sort(key=lambda each: abs(each[1] - each[2]), reverse=True)
            return {"metric": metric.name, "rows": apart[:_UNITS], "total": len(apart)}
    return {"metric": "", "rows": [], "total": 0}
