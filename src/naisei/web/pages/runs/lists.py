"""The list of runs, and one run: its metrics, its tables, its episodes a page at a time.

An address leads to a run directory, and from there to a file to take away; nothing else is opened.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from naisei.lang import say
from naisei.runs.compare import Found, Listed, found, looked_at
from naisei.runs.directory import RunDirectory
from naisei.runs.export import export_csv, export_jsonl
from naisei.runs.lock import locked
from naisei.runs.report import StoredSummary, html_report, token_table
from naisei.runs.show import (
    EpisodePage,
    Wanted,
    counts,
    episode_json,
    episode_page,
    episode_text,
    find_episode,
    run_text,
    summary_or_none,
)
from naisei.runs.stores import log_state
from naisei.web.html import page_response
from naisei.web.state import RECORDED, ServerState, server_of

__all__ = [
    "Place",
    "Row",
    "costs",
    "download",
    "episodes",
    "file_state",
    "latest",
    "looking",
    "more_rows",
    "opened",
    "place_of",
    "seen_runs",
    "show_list",
    "show_run",
    "take",
]


# From what stands in an address to a run directory, and from there to a file to take away.
#
# Nothing else is ever opened.

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
    root = server.runs
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
        with opened(place.path) as directory:
            return look(directory)

    return await asyncio.to_thread(work)


#: Runs whose log was found sound, with the state of its files then.
_sound: dict[Path, tuple[object, ...]] = {}
_MOST_SOUND = 1024


def file_state(path: Path) -> tuple[object, ...]:
    """Changes with the files of a run's log."""
    config = path / "config.json"
    stat = config.stat() if config.exists() else None
    return (stat and (stat.st_ino, stat.st_size, stat.st_mtime_ns), *log_state(path))


def opened(path: Path) -> RunDirectory:
    """A run to read. Its whole log, which takes seconds if it is long, is held against its digests
    when its files have changed, not for every page."""
    state = file_state(path)
    directory = RunDirectory.look(path, check=_sound.get(path) != state)
    if len(_sound) >= _MOST_SOUND:
        _sound.clear()
    _sound[path] = state
    return directory


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
    with opened(place.path) as directory:
        yield from export_jsonl(directory, events=events)


def download(text: str, kind: str, name: str) -> Response:
    """A text as a file. What others wrote is never shown as a page of ours."""
    return PlainTextResponse(text, media_type=kind, headers=_named(name))


def _named(name: str) -> dict[str, str]:
    return {"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def _unknown() -> HTTPException:
    return HTTPException(404, say("その形式はありません", "there is no such form"))


_RUNS_AT_ONCE = 50
#: What was seen of a run, while its files stay as they are.
_Seen = dict[tuple[str, tuple[object, ...]], Listed]
_KEPT = 2_000


@dataclass(frozen=True, slots=True)
class Row:
    """One run in the list."""

    place: Place
    run: Listed


async def show_list(request: Request) -> Response:
    """`GET /runs`: text, system, state as filters."""
    return await _answer(request, "runs/list.html")


async def more_rows(request: Request) -> Response:
    """`GET /runs/rows`: more of the list, or the list under other filters."""
    return await _answer(request, "runs/_list_rows.html")


async def _answer(request: Request, template: str) -> Response:
    root, seen = server_of(request).runs, seen_runs(request)
    wanted = {k: request.query_params.get(k, "") for k in ("text", "system", "state")}
    given = request.query_params.get("offset", "0")
    offset = int(given[:9]) if given.isdecimal() else 0

    def work() -> tuple[list[Row], int | None, int, list[str]]:
        all_ = found(root)
        systems = sorted({run.system for run in all_ if run.system})
        fitting = [run for run in all_ if _fits(run, root, wanted)]
        if wanted["state"]:
            looked = [(run, _looked_at(run, seen)) for run in fitting]
            fitting = [run for run, at in looked if at.state == wanted["state"]]
        part = fitting[offset : offset + _RUNS_AT_ONCE]
        after = offset + len(part)
        lines = [Row(Place.under(root, run.path), _looked_at(run, seen)) for run in part]
        return lines, after if after < len(fitting) else None, len(fitting), systems

    lines, after, total, systems = await asyncio.to_thread(work)
    return page_response(
        request,
        template,
        rows=lines,
        next=after,
        total=total,
        systems=systems,
        wanted=wanted,
        root=str(root),
        recorded=root == RECORDED,
    )


def latest(root: Path, seen: _Seen, most: int) -> list[Row]:
    """The newest runs. Blocks while it reads."""
    return [Row(Place.under(root, run.path), _looked_at(run, seen)) for run in found(root)[:most]]


def _fits(run: Found, root: Path, wanted: dict[str, str]) -> bool:
    name = run.path.relative_to(root).as_posix().lower()
    return wanted["text"].lower() in name and wanted["system"] in ("", run.system)


def seen_runs(request: Request) -> _Seen:
    """What the server has seen of runs so far."""
    seen: _Seen = server_of(request).cached("runs", dict)
    return seen


def _looked_at(run: Found, seen: _Seen) -> Listed:
    """`looked_at`, once for each state of the run's files; a run that goes on is looked at anew."""
    key = (str(run.path), _mark(run.path))
    if (known := seen.get(key)) is not None and known.state != "running":
        return known
    listed = looked_at(run)
    if len(seen) > _KEPT:
        seen.clear()
    seen[key] = listed
    return listed


def _mark(path: Path) -> tuple[object, ...]:
    """Changes whenever something is written to the run's log, or its lock is taken or left."""
    try:
        stat = (path / "lock.holder").stat()
        lock = stat.st_mtime_ns, stat.st_size
    except OSError:
        lock = 0, 0
    return (*lock, *log_state(path))


_EPISODES_AT_ONCE = 100
_STATES = ("scored", "unscored", "going")


@dataclass(frozen=True, slots=True)
class _Part:
    """Some episodes, with the value of one metric for each of their instances."""

    page: EpisodePage
    metric: str
    values: dict[str, float]


async def show_run(request: Request) -> Response:
    """`GET /runs/show/<run>`: the filters of `episodes` hold for its table too."""
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
    return page_response(request, "runs/run.html", place=place, wanted=_asked(request), **found)


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
    found = episode_page(directory.log, wanted, offset=offset, limit=_EPISODES_AT_ONCE)
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
