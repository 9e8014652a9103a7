"""Downloads of runs, episodes, studies and reports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from naisei.files import plain_file
from naisei.runs.directory import RunDirectory
from naisei.runs.export import export_jsonl, frame
from naisei.runs.overview import Overview
from naisei.runs.report import html_report
from naisei.runs.share import MOST, share_html
from naisei.runs.show import episode_json, episode_text, find_episode, run_text
from naisei.system.registry import digest_of
from naisei.text_files import read_text
from naisei.web.html import Refused
from naisei.web.pages.runs.lists import RunAddress, looking, opened, place_of

_OF_RUN: dict[str, tuple[str, Callable[[RunDirectory], str]]] = {
    "csv": ("text/csv", lambda directory: frame(directory.path).to_csv()),
    "md": ("text/markdown", run_text),
    "html": ("text/html", html_report),
}


async def take(request: Request) -> Response:
    """`GET /runs/file/<run>?as=jsonl|events|csv|md|html|failures[&e=<episode>]`."""
    place, form = place_of(request), request.query_params.get("as", "")
    name = place.path.name
    if not (place.path / "config.json").exists():
        return await _study(place, form)
    if wanted := request.query_params.get("e", ""):
        return await _episode(place, form, wanted)
    if form == "failures":
        text = await looking(place, _failures)
        return download(text, "text/html", f"{name}-failures.html")
    if form in ("jsonl", "events"):
        lines = _lines(place, events=form == "events")
        return StreamingResponse(
            lines, media_type="application/jsonl; charset=utf-8", headers=_named(f"{name}.jsonl")
        )
    if form not in _OF_RUN:
        raise _unknown()
    kind, make = _OF_RUN[form]
    return download(await looking(place, make), kind, f"{name}.{form}")


def _failures(directory: RunDirectory) -> str:
    frozen = directory.frozen
    overview = Overview(digest_of(frozen.system, frozen.config))
    overview.update(directory.log)
    return share_html(directory, overview.failures()[:MOST])


async def _study(place: RunAddress, form: str) -> Response:
    """Return the page of a study."""
    path = place.path / "study.html"
    if form != "html" or not path.is_file():
        raise _unknown()
    plain_file(path)
    return download(
        await asyncio.to_thread(read_text, path), "text/html", f"{place.path.name}.html"
    )


async def _episode(place: RunAddress, form: str, wanted: str) -> Response:
    if form == "md":
        text = await looking(place, lambda d: episode_text(d, find_episode(d, wanted)))
        return download(text, "text/markdown", f"{wanted}.md")
    if form == "html":
        text = await looking(place, lambda d: share_html(d, [find_episode(d, wanted)]))
        return download(text, "text/html", f"{wanted}.html")
    if form == "jsonl":
        found = await looking(place, lambda d: episode_json(d, find_episode(d, wanted)))
        text = json.dumps(found, ensure_ascii=False) + "\n"
        return download(text, "application/jsonl", f"{wanted}.jsonl")
    raise _unknown()


def _lines(place: RunAddress, *, events: bool) -> Iterator[str]:
    """Yield lines from the log; Starlette iterates in a thread."""
    with opened(place.path) as directory:
        yield from export_jsonl(directory, events=events)


def download(content: str | bytes, kind: str, name: str) -> Response:
    """Return a file download. Foreign content is never shown as a page."""
    return Response(content, media_type=kind, headers=_named(name))


def _named(name: str) -> dict[str, str]:
    return {"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def _unknown() -> HTTPException:
    return Refused(404, "その形式はありません", "no such format")
