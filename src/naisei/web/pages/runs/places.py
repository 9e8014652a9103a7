"""From what stands in an address to a run directory, and from there to a file to take away.

Nothing else is ever opened.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from naisei.lang import say
from naisei.runs.directory import RunDirectory
from naisei.runs.report import html_report
from naisei.runs.show import (
    episode_json,
    episode_text,
    export_csv,
    export_jsonl,
    find_episode,
    run_text,
)
from naisei.web.state import ServerState, server_of

__all__ = ["Place", "download", "looking", "place_of", "take"]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """A run by its name in addresses. own: a conversation of the visitor's."""

    name: str
    path: Path
    own: bool = False

    def url(self, verb: str, **query: object) -> str:
        """The address of something of this run."""
        given = "&".join(f"{k}={quote(str(v), safe='')}" for k, v in query.items() if v != "")
        return f"/runs/{verb}/{quote(self.name)}{'?' if given else ''}{given}"

    @staticmethod
    def under(root: Path, path: Path) -> Place:
        return Place(path.relative_to(root).as_posix(), path)


def place_of(request: Request, name: str | None = None) -> Place:
    """The run that an address names.

    Raises:
        HTTPException: there is none of this name, or it is not the visitor's.
    """
    server = server_of(request)
    name = request.path_params["run"] if name is None else name
    if name.startswith("@"):
        return Place(name, server.conversations.path(request.state.visitor, name[1:]), own=True)
    return Place(name, _within(server, name))


def _within(server: ServerState, name: str) -> Path:
    parts = name.split("/")
    tame = len(parts) in (1, 2) and all(
        part not in ("", ".", "..") and not set(part) & set("\\\0:") for part in parts
    )
    root = server.options.runs
    path = root.joinpath(*parts) if tame else root
    try:
        # A link inside the folder must not lead out of it.
        good = tame and (path / "config.json").resolve().is_relative_to(root.resolve())
        good = good and (path / "config.json").is_file()
    except OSError:
        good = False
    if not good:
        raise HTTPException(404, say("そのような実行はありません", "there is no such run"))
    return path


async def looking(place: Place, look: Callable[[RunDirectory], T]) -> T:
    """What `look` makes of the run, in a thread: a long log must not hold up other pages."""

    def work() -> T:
        with RunDirectory.look(place.path) as directory:
            return look(directory)

    return await asyncio.to_thread(work)


_OF_RUN: dict[str, tuple[str, Callable[[RunDirectory], str]]] = {
    "csv": ("text/csv", export_csv),
    "md": ("text/markdown", run_text),
    "html": ("text/html", html_report),
}


async def take(request: Request) -> Response:
    """`GET /runs/file/<run>?as=jsonl|events|csv|md|html[&e=<episode>]`."""
    place, form = place_of(request), request.query_params.get("as", "")
    name = place.path.name
    if wanted := request.query_params.get("e", ""):
        return await _episode(place, form, wanted)
    if form in ("jsonl", "events"):
        lines = _lines(place, events=form == "events")
        return StreamingResponse(
            lines, media_type="application/jsonl; charset=utf-8", headers=_named(f"{name}.jsonl")
        )
    if form not in _OF_RUN:
        raise _unknown()
    kind, make = _OF_RUN[form]
    return download(await looking(place, make), kind, f"{name}.{form}")


async def _episode(place: Place, form: str, wanted: str) -> Response:
    if form == "md":
        text = await looking(place, lambda d: episode_text(d, find_episode(d, wanted)))
        return download(text, "text/markdown", f"{wanted}.md")
    if form == "jsonl":
        found = await looking(place, lambda d: episode_json(d, find_episode(d, wanted)))
        text = json.dumps(found, ensure_ascii=False) + "\n"
        return download(text, "application/jsonl", f"{wanted}.jsonl")
    raise _unknown()


def _lines(place: Place, *, events: bool) -> Iterator[str]:
    """Drawn from the log line by line; Starlette does so in a thread."""
    with RunDirectory.look(place.path) as directory:
        yield from export_jsonl(directory, events=events)


def download(text: str, kind: str, name: str) -> Response:
    """A text as a file. What others wrote is never shown as a page of ours."""
    return PlainTextResponse(text, media_type=kind, headers=_named(name))


def _named(name: str) -> dict[str, str]:
    return {"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def _unknown() -> HTTPException:
    return HTTPException(404, say("その形式はありません", "there is no such form"))
