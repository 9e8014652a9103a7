"""One run: its metrics with their intervals, its tables, and its episodes a page at a time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response

from naisei.runs.directory import RunDirectory
from naisei.runs.lock import locked
from naisei.runs.report import StoredSummary, token_table
from naisei.runs.show import EpisodePage, Wanted, counts, episode_page, summary_or_none
from naisei.web.html import page_response
from naisei.web.pages.runs.places import looking, place_of

__all__ = ["costs", "episodes", "show"]

_PAGE = 100
_STATES = ("scored", "unscored", "going")


@dataclass(frozen=True, slots=True)
class _Part:
    """Some episodes, with the value of one metric for each of their instances."""

    page: EpisodePage
    metric: str
    values: dict[str, float]


async def show(request: Request) -> Response:
    """`GET /runs/show/<run>`: the filters of `episodes` hold for its table too."""
    from naisei.web.pages.runs import page

    place = place_of(request)

    def look(directory: RunDirectory) -> dict[str, Any]:
        kept = summary_or_none(directory)
        return {
            "frozen": directory.frozen,
            "kept": kept,
            "counts": counts(directory),
            "notes": [*directory.notes, *kept.summary.notes],
            "part": _part(directory, kept, request),
            "running": locked(directory.path),
        }

    found = await looking(place, look)
    return page_response(
        request, "runs/run.html", page=page, place=place, wanted=_asked(request), **found
    )


async def episodes(request: Request) -> Response:
    """`GET /runs/episodes/<run>`: rows of the table. text, state, value, offset."""
    place = place_of(request)
    part = await looking(place, lambda d: _part(d, summary_or_none(d), request))
    return page_response(
        request, "runs/_episode_rows.html", place=place, part=part, wanted=_asked(request)
    )


async def costs(request: Request) -> Response:
    """`GET /runs/costs/<run>`: tokens by role. Apart, since every effect is summed up."""
    table = await looking(place_of(request), lambda d: token_table(d.log.ledger()))
    return page_response(request, "runs/_table.html", table=table)


def _asked(request: Request) -> dict[str, str]:
    return {k: request.query_params.get(k, "")[:200] for k in ("text", "state", "value")}


def _part(directory: RunDirectory, kept: StoredSummary, request: Request) -> _Part:
    asked = _asked(request)
    given = request.query_params.get("offset", "0")
    metric, values = _telling(kept)
    wanted = Wanted(
        text=asked["text"],
        state=cast(Any, asked["state"] if asked["state"] in _STATES else ""),
        instances=_with_value(values, asked["value"]),
    )
    offset = int(given[:9]) if given.isdecimal() else 0
    found = episode_page(directory.log, wanted, offset=offset, limit=_PAGE)
    return _Part(found, metric, values)


def _telling(kept: StoredSummary) -> tuple[str, dict[str, float]]:
    """The metric whose value for each instance is shown: the last that has any."""
    for metric in reversed(kept.summary.metrics):
        if values := kept.per_unit(metric.name):
            return metric.name, values
    return "", {}


def _with_value(values: dict[str, float], wanted: str) -> Collection[str] | None:
    if wanted == "low":
        return [unit for unit, value in values.items() if value < 0.5]
    if wanted == "high":
        return [unit for unit, value in values.items() if value >= 0.5]
    return None
