"""The first page: what there is, what runs, and what was said here."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei.lang import say
from naisei.runs.listing import Listed
from naisei.web.html import page_response
from naisei.web.pages import Page
from naisei.web.pages.runs.example import EXAMPLES, example_of
from naisei.web.pages.runs.lists import Row, latest, seen_runs
from naisei.web.state import RECORDED, server_of

_RUNS = 12
_EARLIER = 8


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
    server = server_of(request)
    earlier = await server.conversations.entries(request.state.visitor, most=_EARLIER)
    return page_response(
        request,
        "home/home.html",
        earlier=earlier,
        model=server.options.model,
        example=await asyncio.to_thread(example_of, "assistant"),
    )


async def _example(request: Request) -> Response:
    """`GET /home/example/<page>`: a recorded episode that plays."""
    example = await asyncio.to_thread(example_of, request.path_params["page"])
    if example is None:
        raise HTTPException(404, say("実例はありません", "there is no example"))
    back = f"/{request.path_params['page']}"
    return page_response(request, "home/_example.html", example=example, back=back)


async def _runs(request: Request) -> Response:
    """What runs and ran: apart, since it looks into logs, for which nobody waits at the door."""
    root, seen = server_of(request).runs, seen_runs(request)
    rows: list[Row] = await asyncio.to_thread(latest, root, seen, _RUNS)
    return page_response(
        request,
        "home/_runs.html",
        back="/",
        recorded=root == RECORDED,
        going=[row for row in rows if row.run and row.run.state == "running"],
        rows=[row for row in rows if row.run and row.run.state != "running"],
        cost=_Cost.of([row.run for row in rows if row.run and row.run.state != "broken"]),
    )


PAGE = Page(
    name="home",
    title=("はじめに", "Home"),
    about=("いま何が動いているか", "What is running now."),
    icon="M4 11l8-7 8 7v9h-5v-6H9v6H4z",
    order=0,
    routes=[Route("/", _home), Route("/home/runs", _runs), Route("/home/example/{page}", _example)],
    ready=lambda: [example_of(page) for page in EXAMPLES],
)
