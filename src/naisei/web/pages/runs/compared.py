"""Runs or the runs of a study side by side: metrics, paired differences, differing units."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.charts import Interval, interval_chart
from naisei.runs.compare import Comparison, PairedMetric, compare, load
from naisei.runs.export import study_runs
from naisei.runs.frozen import Frozen
from naisei.runs.listing import looked_at
from naisei.runs.overview import headline
from naisei.runs.report import STUDY, StoredSummary, stored_summary
from naisei.runs.tables import to_csv, to_markdown
from naisei.system.registry import declared
from naisei.system.studies import headline_name
from naisei.web.html import Refused, page_response
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

#: Maximum number of runs; the number of pairs grows quadratically.
_MOST = 6
#: Maximum number of listed units, and of runs offered for comparison.
_UNITS, _OFFERED = 50, 30


@dataclass(frozen=True, slots=True)
class Side:
    """One of the compared runs. name: its name in the comparison. label: for people."""

    place: RunAddress
    frozen: Frozen
    stored: StoredSummary
    name: str
    label: str

    @staticmethod
    def of(place: RunAddress, name: str = "") -> Side:
        """name: name of a run in a study. Raises `InputError` for a run that cannot be read."""
        with opened(place.path) as directory:
            frozen, stored = directory.frozen, stored_summary(directory)
        return Side(place, frozen, stored, name or place.name, name or place.label)


async def show(request: Request) -> Response:
    """`GET /runs/compare?run=<name>&run=<name>`."""
    chosen = chosen_runs(request)
    if not 2 <= len(chosen) <= _MOST:
        return await _choose(request, [*chosen])
    places = [*chosen.values()]
    sides = await asyncio.to_thread(lambda: [*map(Side.of, places)])
    try:
        found = await asyncio.to_thread(_work, sides, compared(places))
    except InputError as error:
        systems = {side.frozen.system for side in sides}
        return await _choose(request, [*chosen][:1], error.message, one_system=len(systems) == 1)
    return page_response(request, "runs/compare.html", study=None, **found)


async def show_study(request: Request, place: RunAddress) -> Response:
    """`GET /runs/show/<study>`: its runs, the first as the baseline."""
    return page_response(request, "runs/compare.html", **await asyncio.to_thread(_study, place))


def _study(place: RunAddress) -> dict[str, Any]:
    sides: list[Side] = []
    problems: list[tuple[str, RunAddress, str]] = []
    for label, path in study_runs(place.path).items():
        if path.resolve().parent == place.path.resolve():  # the study file may not point elsewhere
            run = RunAddress(f"{place.name}/{path.name}", path)
            try:
                sides.append(Side.of(run, label))
            except InputError as error:
                problems.append((label, run, error.message))
    comparison = None
    if len(sides) > 1:
        try:
            comparison = compared([side.place for side in sides], [side.name for side in sides])
        except InputError as error:
            problems.append(("", place, error.message))
    note: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # written when the study ends
        note = json.loads((place.path / STUDY).read_text("utf-8"))
    study = {
        "place": place,
        "title": note.get("title", place.path.name),
        "conditions": note.get("conditions", {}),
        "problems": problems,
        "chart": _chart(sides),
        "file": (place.path / "study.html").is_file(),
    }
    return {**_work(sides, comparison), "study": study}


def _chart(sides: list[Side]) -> str:
    """Draw the headline metric of each run, if it is the same for all."""
    rows = []
    for side in sides:
        experiment = declared(side.frozen.system, side.frozen.config)
        head = headline(side.stored.summary, experiment.headline if experiment else ())
        rows += [Interval(side.label, head)] if head is not None else []
    names = {row.metric.name for row in rows}
    return interval_chart(rows, title=names.pop()) if len(names) == 1 and len(rows) > 1 else ""


async def _choose(
    request: Request, names: list[str], refused: str = "", *, one_system: bool = True
) -> Response:
    """Show an error for fewer than two runs, too many, or incomparable ones, with candidates for
    comparison. one_system: whether all chosen runs belong to one system."""
    others: list[tuple[RunAddress, int]] = []
    if len(names) == 1:
        others = await asyncio.to_thread(_offered, server_of(request), place_of(request, names[0]))
    told = {
        0: say("比べる実行を 2 つ以上選んでください。", "Choose two runs or more to compare."),
        1: "",  # the page asks for a second run
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
        one_system=one_system,
    )


def _offered(server: ServerState, chosen: RunAddress) -> list[tuple[RunAddress, int]]:
    """Return candidates of the same system and data with their number of scored episodes, highest
    first. Forks, which repeat one episode and are shown beside their parent, are left out."""
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
        raise Refused(
            422, f"2 つから {_MOST} つの実行を選んでください", f"choose 2 to {_MOST} runs"
        )
    form = request.query_params.get("as", "")
    comparison = await asyncio.to_thread(compared, places)
    if form == "csv":
        return download(to_csv(comparison.table()), "text/csv", "comparison.csv")
    warnings = "".join(f"- {warning}\n" for warning in comparison.warnings)
    text = f"{warnings}\n{to_markdown(comparison.table())}"
    return download(text, "text/markdown", "comparison.md")


def _work(sides: list[Side], comparison: Comparison | None) -> dict[str, Any]:
    head = headline_name(load(sides[0].place.path, sides[0].name)) if sides else ""
    lines = comparison.lines if comparison else ()
    return {
        "verdicts": [line for line in lines if line.metric == head],
        "labels": {side.name: side.label for side in sides},
        "bases": [_with_base(sides, n) for n in range(len(sides))],
        "sides": sides,
        "most": _MOST,
        "names": list(dict.fromkeys(m.name for side in sides for m in side.stored.summary.metrics)),
        "metrics": [{m.name: m for m in side.stored.summary.metrics} for side in sides],
        "comparison": comparison,
        "scale": _scale(lines),
        "units": _units(sides) if len(sides) == 2 else None,
    }


def _with_base(sides: list[Side], first: int) -> str:
    """Return the URL of the same comparison with another baseline."""
    names = [side.place.name for side in sides]
    ordered = [names[first], *names[:first], *names[first + 1 :]]
    return "/runs/compare?" + urlencode([("run", name) for name in ordered])


def compared(places: Sequence[RunAddress], names: Sequence[str] = ()) -> Comparison:
    """Compare runs with the first one. names: display names, in place of their own."""
    paths = tuple(place.path for place in places)
    shown = tuple(names or (place.name for place in places))
    return _comparison(paths, shown, tuple(map(file_state, paths)))


@lru_cache(maxsize=32)
def _comparison(
    paths: tuple[Path, ...], names: tuple[str, ...], marks: tuple[object, ...]
) -> Comparison:
    """marks: cache keys that change with the runs' logs. Cached, since the tests take thousands of
    sign flips."""
    frozen = Frozen.read(paths[0] / "config.json")
    experiment = declared(frozen.system, frozen.config)
    columns = experiment.columns if experiment else ()
    return compare(paths, against_first=True, names=names, columns=columns)


def _scale(lines: Sequence[PairedMetric]) -> float:
    """Return the largest plotted distance from 0, among metrics between 0 and 1."""
    ends = [
        abs(end)
        for line in lines
        for end in (line.difference.low, line.difference.high, line.difference.value)
        if abs(end) <= 1  # also false for NaN
    ]
    return max(ends, default=1.0) or 1.0


def _units(sides: list[Side]) -> dict[str, Any]:
    """Return the units on which two runs differ most, by the last metric that both have."""
    for metric in reversed(sides[0].stored.summary.paired()):
        a, b = (side.stored.summary.per_unit(metric.name) for side in sides)
        if a and b:
            apart = [(unit, a[unit], b[unit]) for unit in a if unit in b and a[unit] != b[unit]]
            apart.sort(key=lambda each: abs(each[1] - each[2]), reverse=True)
            return {"metric": metric.name, "rows": apart[:_UNITS], "total": len(apart)}
    return {"metric": "", "rows": [], "total": 0}
