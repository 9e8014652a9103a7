"""The first page's addresses."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei.runs.listing import Listed
from naisei.web.house import house_of
from naisei.web.html import page_response
from naisei.web.pages.runs.listed import Row, latest, seen_runs

__all__ = ["routes"]

_RUNS = 12
_TALKS = 8


@dataclass(frozen=True, slots=True)
class _Cost:
    """What some runs have cost. unpriced: how many of them have calls without a known price."""

    tokens: int
    usd: float
    unpriced: int

    @staticmethod
    def of(runs: list[Listed]) -> _Cost:
        return _Cost(
            sum(run.tokens for run in runs),
            sum(run.usd or 0.0 for run in runs),
            sum(run.usd is None for run in runs),
        )


async def _home(request: Request) -> Response:
    from naisei.web.pages.home import page

    house = house_of(request)
    talks = await house.sittings.entries(request.state.visitor, most=_TALKS)
    return page_response(
        request, "home/home.html", page=page, talks=talks, model=house.options.model
    )


async def _runs(request: Request) -> Response:
    """What runs and ran: apart, since it looks into logs, for which nobody waits at the door."""
    root, seen = house_of(request).options.runs, seen_runs(request)
    rows: list[Row] = await asyncio.to_thread(latest, root, seen, _RUNS)
    return page_response(
        request,
        "home/_runs.html",
        going=[row for row in rows if row.run.state == "running"],
        rows=[row for row in rows if row.run.state != "running"],
        cost=_Cost.of([row.run for row in rows if row.run.state != "broken"]),
    )


def routes() -> list[Route]:
    return [Route("/", _home), Route("/home/runs", _runs)]
