"""The list of runs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from naisei.runs.listing import Found, Listed, found, looked_at
from naisei.web.house import house_of
from naisei.web.html import page_response
from naisei.web.pages.runs.places import Place

__all__ = ["Row", "latest", "rows", "seen_runs", "show"]

_PAGE = 50
#: What was seen of a run, while its files stay as they are.
_Seen = dict[tuple[str, tuple[int, ...]], Listed]
_KEPT = 2_000


@dataclass(frozen=True, slots=True)
class Row:
    """One run in the list."""

    place: Place
    run: Listed


async def show(request: Request) -> Response:
    """`GET /runs`: text, system, state as filters."""
    return await _answer(request, "runs/list.html")


async def rows(request: Request) -> Response:
    """`GET /runs/rows`: more of the list, or the list under other filters."""
    return await _answer(request, "runs/_list_rows.html")


async def _answer(request: Request, template: str) -> Response:
    from naisei.web.pages.runs import page

    root, seen = house_of(request).options.runs, seen_runs(request)
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
        part = fitting[offset : offset + _PAGE]
        after = offset + len(part)
        lines = [Row(Place.under(root, run.path), _looked_at(run, seen)) for run in part]
        return lines, after if after < len(fitting) else None, len(fitting), systems

    lines, after, total, systems = await asyncio.to_thread(work)
    return page_response(
        request,
        template,
        page=page,
        rows=lines,
        next=after,
        total=total,
        systems=systems,
        wanted=wanted,
        root=str(root),
    )


def latest(root: Path, seen: _Seen, most: int) -> list[Row]:
    """The newest runs. Blocks while it reads."""
    return [Row(Place.under(root, run.path), _looked_at(run, seen)) for run in found(root)[:most]]


def _fits(run: Found, root: Path, wanted: dict[str, str]) -> bool:
    name = run.path.relative_to(root).as_posix().lower()
    return wanted["text"].lower() in name and wanted["system"] in ("", run.system)


def seen_runs(request: Request) -> _Seen:
    """What the server has seen of runs so far."""
    kept: _Seen = house_of(request).kept("runs", dict)
    return kept


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


def _mark(path: Path) -> tuple[int, ...]:
    """Changes whenever something is written to the run's log, or its lock is taken or left."""
    marks = []
    for name in ("log.sqlite", "log.sqlite-wal", "lock.holder"):
        try:
            stat = (path / name).stat()
            marks += [stat.st_mtime_ns, stat.st_size]
        except OSError:
            marks += [0, 0]
    return tuple(marks)
