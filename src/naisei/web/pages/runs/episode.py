"""One episode as a transcript: every effect, what it cost, and, unfolded, what was asked."""

from __future__ import annotations

import json
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.report import svg_source
from naisei.runs.show import EpisodeLine, Wanted, episode_page, find_episode, summary_or_none
from naisei.web.html import page_response
from naisei.web.pages.runs.places import looking, place_of
from naisei.web.pages.runs.transcript import prompt_text, told
from naisei.web.sittings.config import WHERE

__all__ = ["events", "of_conversation", "prompt", "show"]

_PAGE = 200


async def show(request: Request) -> Response:
    """`GET /runs/episode/<run>?e=<episode>`."""
    from naisei.web.pages.runs import page

    place = place_of(request)
    asked = request.query_params.get("e", "")

    def look(directory: RunDirectory) -> dict[str, Any]:
        name = find_episode(directory, asked)
        log = directory.log.read(name)
        line = _line(directory, name)
        kept = summary_or_none(directory)
        figure = kept.figures.get(name, "")
        return {
            "name": name,
            "line": line,
            "result": _pretty(line.result) if line and line.result is not None else "",
            "summary": dict(kept.transcripts).get(name, ""),
            "figure": svg_source(figure) if figure else "",
            "frozen": directory.frozen,
            "told": told(log[:_PAGE]),
            "next": _PAGE if len(log) > _PAGE else None,
            "effects": len(log),
        }

    found = await looking(place, look)
    return page_response(request, "runs/episode.html", page=page, place=place, **found)


async def events(request: Request) -> Response:
    """`GET /runs/events/<run>?e=<episode>&from=<number>`: more of a long one."""
    place, name, start = place_of(request), *_which(request, "from")
    log = await looking(place, lambda d: d.log.read(name))
    after = start + _PAGE
    return page_response(
        request,
        "runs/_events.html",
        place=place,
        name=name,
        told=told(log[start:after], start),
        next=after if after < len(log) else None,
    )


async def prompt(request: Request) -> Response:
    """`GET /runs/prompt/<run>?e=<episode>&n=<number>`: what a model was told."""
    place, name, number = place_of(request), *_which(request, "n")
    log = await looking(place, lambda d: d.log.read(name))
    if number >= len(log) or log[number].kind != "chat":
        raise HTTPException(404, say("プロンプトはありません", "there is no prompt"))
    event = log[number]
    asked: Any = event.request
    more = {k: v for k, v in asked.items() if k not in ("role", "messages")}
    return page_response(
        request,
        "runs/_prompt.html",
        messages=prompt_text(event),
        more=_pretty(more) if more else "",
    )


async def of_conversation(request: Request) -> Response:
    """`GET /runs/of/<id>`: a conversation of the visitor's own, with all its effects."""
    place = place_of(request, f"@{request.path_params['id']}")
    return RedirectResponse(place.url("episode", e=WHERE.episode), 303)


def _which(request: Request, number: str) -> tuple[str, int]:
    given = request.query_params.get(number, "0")
    if not given.isdecimal():
        raise HTTPException(400, say("番号ではありません", "no number"))
    return request.query_params.get("e", ""), int(given[:9])


def _line(directory: RunDirectory, name: str) -> EpisodeLine | None:
    found = episode_page(directory.log, Wanted(name=name), limit=1).lines
    return found[0] if found else None


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
