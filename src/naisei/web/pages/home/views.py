"""The first page's address."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from naisei.web.house import house_of
from naisei.web.html import page_response

__all__ = ["routes"]


async def _home(request: Request) -> Response:
    from naisei.web.pages.home import page

    house = house_of(request)
    talks = await house.sittings.entries(request.state.visitor, most=10)
    return page_response(
        request, "home/home.html", page=page, talks=talks, model=house.options.model
    )


def routes() -> list[Route]:
    return [Route("/", _home)]
