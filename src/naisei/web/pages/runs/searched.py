"""Full-text search over all episodes and their notes; and turning an episode into a data
instance."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from naisei.lang import language, say, speaking
from naisei.plugins import pairs
from naisei.runs.directory import RunDirectory
from naisei.runs.listing import Hit, Search, find_runs
from naisei.system.instances import add_rows, rows_of
from naisei.web.html import form_fields, page_response
from naisei.web.pages.runs.lists import RunAddress, all_runs, looking, notes_of, place_of
from naisei.web.state import ServerState, server_of

#: Hits per page, and seconds after which no further run is searched.
_HITS, _SECONDS = 100, 2.0


async def search(request: Request) -> Response:
    """`GET /runs/search?find=<text>[&system=][&prompts=1][&from=<n>]`: searches the runs and the
    visitor's own conversations."""
    given, server = request.query_params, server_of(request)
    own = server.conversations.folder(request.state.visitor)
    text, system = given.get("find", "")[:200], given.get("system", "")
    prompts, begin = bool(given.get("prompts")), given.get("from", "0")
    first = int(begin[:9]) if begin.isdecimal() else 0

    def work() -> dict[str, Any]:
        all_ = all_runs(server)
        talks = [] if system else find_runs(own)
        places = [*talks, *(run for run in all_ if system in ("", run.system))]
        hits: list[tuple[RunAddress, Hit]] = []
        until, at = time.monotonic() + _SECONDS, first
        looked = Search(text, (), prompts)
        while text and at < len(places) and time.monotonic() < until and len(hits) < _HITS:
            looked.places = places[at : at + 1]
            hits += [(_run_address(server, own, hit.run), hit) for hit in looked]
            hits += _noted(server, own, places[at].path, text)
            at += 1
        return {
            "hits": hits[:_HITS],
            "left_out": max(0, len(hits) - _HITS),
            "told": looked.describe() if text else "",
            "next": at if text and at < len(places) else None,
            "systems": sorted({run.system for run in all_ if run.system}),
        }

    return page_response(
        request,
        "runs/search.html",
        find=text,
        system=system,
        prompts=prompts,
        **await asyncio.to_thread(work),
    )


def _noted(server: ServerState, own: Path, run: Path, text: str) -> list[tuple[RunAddress, Hit]]:
    """Return the notes on episodes of a run that contain the text."""
    return [
        (_run_address(server, own, run), Hit(run, episode, "", say("メモ", "note"), note))
        for episode, note in notes_of(server, run).items()
        if text.casefold() in note.casefold()
    ]


def _run_address(server: ServerState, own: Path, run: Path) -> RunAddress:
    if run.parent == own:
        return RunAddress(f"@{run.name}", run, own=True)
    return RunAddress.of(server, run)


async def keep(request: Request) -> Response:
    """`POST /runs/keep/<run>`, fields `e` and `set` (`FIELD=VALUE`, one per line)."""
    place, form, spoken = place_of(request), await form_fields(request), language()
    lines = [line for line in form.get("set", "").split("\n") if line.strip()]
    changed = pairs(lines, "set")
    folder = server_of(request).options.runs / "kept"

    def look(directory: RunDirectory) -> dict[str, Any]:
        with speaking(spoken):
            name, rows = rows_of(directory, form.get("e", ""))
            to = folder / f"{name.replace('/', '-')}.jsonl"
            count = add_rows(name, rows, changed, to)
            return {"form": name, "to": str(to), "added": len(rows), "count": count}

    kept = await looking(place, look)
    told = say(
        "{to} に {added} 行を足しました（{form} の形、いま {count} 行）",
        "added {added} rows to {to} (in the form of {form}; it holds {count})",
    ).format(**kept)
    back = place.url("episode", e=form.get("e", ""))
    return page_response(request, "runs/kept.html", told=told, back=back)
