"""One run: summary, one cell per episode, and a table of episodes; updated live."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from naisei.lang import language, say
from naisei.runs.annotations import together, written_on
from naisei.runs.charts import Chart, Point, table_chart
from naisei.runs.directory import RunDirectory
from naisei.runs.lock import locked
from naisei.runs.overview import EpisodeOutcome, Overview, Pace, headline
from naisei.runs.report import StoredSummary, token_table
from naisei.runs.show import (
    Cost,
    EpisodeFilter,
    costs_of,
    counts,
    episode_page,
    summary_or_none,
)
from naisei.runs.task import Digest
from naisei.system.declare import Experiment
from naisei.system.registry import declared, digest_of
from naisei.system.spelled import as_command, as_python
from naisei.web.html import fragment, page_response
from naisei.web.pages.runs.commands import commands_of
from naisei.web.pages.runs.compared import show_study
from naisei.web.pages.runs.lists import (
    RunAddress,
    annotations_of,
    file_state,
    first_failure,
    is_study,
    looking,
    notes_of,
    place_of,
)
from naisei.web.pages.runs.started import may_go_on
from naisei.web.pages.runs.strip import Strip
from naisei.web.replay import load_ahead
from naisei.web.state import ServerState, server_of

#: Rows per part of the table.
_AT_ONCE = 50
_MOST_KEPT = 64
#: Maximum number of episodes in a system's charts.
_CHARTED = 20
#: Seconds between checks of a run that another process writes.
_LOOK = 1.0
_ORDERS = ("", "title", "value", "questions", "tokens", "usd", "seconds")
_OUTCOMES = ("good", "part", "bad", "ended", "unscored", "going")


@dataclass(frozen=True, slots=True)
class TableQuery:
    """The table's query from the URL."""

    text: str = ""
    outcome: str = ""
    sort: str = ""
    desc: str = ""
    start: int = 0

    @staticmethod
    def of(request: Request) -> TableQuery:
        given = request.query_params
        start, outcome = given.get("from", "0"), given.get("outcome", "")
        sort = given.get("sort", "")
        return TableQuery(
            text=given.get("text", "")[:200],
            outcome=outcome if outcome in _OUTCOMES else "",
            sort=sort if sort in _ORDERS else "",
            desc="1" if given.get("desc") else "",
            start=int(start[:9]) if start.isdecimal() else 0,
        )

    def query(self, **other: object) -> dict[str, object]:
        """Return the query string, with some values changed."""
        kept: dict[str, object] = {
            "text": self.text,
            "outcome": self.outcome,
            "sort": self.sort,
            "desc": self.desc,
        }
        return {**kept, **{k.replace("start", "from"): v for k, v in other.items()}}


@dataclass(frozen=True, slots=True)
class Table:
    """A part of the table. cost: cost of the episode; total: number of matching rows; next: start
    of the next part; notes: notes on episodes."""

    rows: Sequence[tuple[EpisodeOutcome, Cost]]
    total: int
    next: int | None
    asked: TableQuery
    notes: Mapping[str, str]

    @property
    def priced(self) -> bool:
        """Whether any row has a price."""
        return any(cost.usd is None or cost.usd > 0 for _, cost in self.rows)

    @property
    def counted(self) -> bool:
        """Whether any row has tokens."""
        return any(cost.tokens for _, cost in self.rows)


@dataclass(slots=True)
class _OverviewCache:
    """The overview of a run, locked for one user at a time."""

    overview: Overview
    lock: threading.Lock = field(default_factory=threading.Lock)


def overview_of(request: Request, directory: RunDirectory) -> _OverviewCache:
    """Return the server's cached overview of a run, not refreshed."""
    kept: dict[object, _OverviewCache] = server_of(request).cached("overviews", dict)
    path = directory.path
    log = path / "log.sqlite"
    key = (path, log.stat().st_ino if log.exists() else 0, language())
    if key not in kept:
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        frozen = directory.frozen
        kept[key] = _OverviewCache(Overview(digest_of(frozen.system, frozen.config)))
    return kept[key]


async def show(request: Request) -> Response:
    """`GET /runs/show/<run>?text=&outcome=&sort=&desc=&from=`; `?at=N` redirects to an episode."""
    server, place = server_of(request), place_of(request)
    if is_study(place.path):
        return await show_study(request, place)
    asked = TableQuery.of(request)
    at = request.query_params.get("at", "")

    def look(directory: RunDirectory) -> dict[str, Any] | str:
        kept, notes = overview_of(request, directory), notes_of(server, place.path)
        with kept.lock:
            kept.overview.update(directory.log)
            if at.isdecimal() and int(at[:9]) < len(kept.overview.rows):
                return list(kept.overview.rows)[int(at[:9])]
            summary = summary_or_none(directory)
            return {
                "frozen": directory.frozen,
                "kept": summary,
                "scored_counts": counts(directory),
                "notes": [*directory.notes, *summary.summary.notes],
                "table": _table(directory, kept.overview, asked, notes),
                "charts": _charts(place, directory, summary),
                "metrics": _sorted(
                    summary, declared(directory.frozen.system, directory.frozen.config)
                ),
                **_state(server, place, directory, kept.overview),
            }

    found = await looking(place, look)
    if isinstance(found, str):
        return RedirectResponse(place.url("episode", e=found), 303)
    remarks = written_on(annotations_of(server, place.path))
    response = page_response(
        request,
        "runs/run.html",
        place=place,
        asked=asked,
        written=together(remarks),
        remarks=remarks,
        reader=request.state.visitor.name,
        command=as_command(found["frozen"].system, found["frozen"].config),
        python=as_python(found["frozen"].system, found["frozen"].config),
        **found,
    )
    # After the page is rendered.
    loop = asyncio.get_running_loop()
    loop.call_later(1.0, loop.run_in_executor, None, load_ahead, place.path, found["frozen"])
    return response


def _charts(
    place: RunAddress, directory: RunDirectory, kept: StoredSummary
) -> list[tuple[str, str]]:
    """Return titles and charts, from tables and the system's own charts."""
    tables = [made for t in kept.summary.tables if (made := table_chart(t))]
    drawn = [(made.title, _spaced(made).svg()) for made in tables]
    experiment = declared(directory.frozen.system, directory.frozen.config)
    if experiment is not None and experiment.charts is not None:
        page = episode_page(directory.log, EpisodeFilter(state="scored"), limit=_CHARTED)
        try:
            charts = experiment.charts([(line.episode, line.result) for line in page.lines])
        except (LookupError, TypeError, ValueError):
            charts = ()  # results of another version: still show its tables
        drawn += [(chart.title, _chart(place, chart)) for chart in charts]
    return [(title, svg) for title, svg in drawn if svg]


def _spaced(drawn: Chart) -> Chart:
    """Replace underscores in names of kinds by spaces."""
    return replace(drawn, rows=[replace(r, label=r.label.replace("_", " ")) for r in drawn.rows])


def _chart(place: RunAddress, chart: Chart) -> str:
    def linked(point: Point) -> Point:
        if not point.episode:
            return point
        return replace(point, link=place.url("episode", e=point.episode, find=point.find))

    lines = {name: [linked(p) for p in line] for name, line in chart.lines.items()}
    return replace(chart, lines=lines).svg()


def _sorted(kept: StoredSummary, experiment: Experiment[Any] | None) -> dict[str, Any]:
    """Return the run's headline metric, the defined metrics, and the undefined ones."""
    metrics = kept.summary.metrics
    return {
        "head": headline(kept.summary, experiment.headline if experiment else ()),
        "defined": [m for m in metrics if not math.isnan(m.value)],
        "undefined": [m for m in metrics if math.isnan(m.value)],
    }


def _state(
    server: ServerState, place: RunAddress, directory: RunDirectory, overview: Overview
) -> dict[str, Any]:
    """Return the data of the live part of the page."""
    running = locked(directory.path)
    pace = overview.pace(directory.log) if running else Pace(math.nan, 0.0)
    return {
        "running": running,
        "stoppable": running and directory.path in commands_of(server),
        "resumable": not running
        and overview.counts["pending"] + overview.counts["unscored"] > 0
        and may_go_on(server, place, directory.frozen),
        "mean": overview.mean(),
        "pace": pace,
        "outcomes": overview.counts,
        "total": overview.total,
        "failed": first_failure(overview),
        "strip": Strip.of(list(overview.rows.values()), overview.total),
    }


async def episodes(request: Request) -> Response:
    """`GET /runs/episodes/<run>`: rows of the table; the filters are put into the address bar."""
    place, asked = place_of(request), TableQuery.of(request)

    def look(directory: RunDirectory) -> Table:
        notes = notes_of(server_of(request), place.path)
        kept = overview_of(request, directory)
        with kept.lock:
            kept.overview.update(directory.log)
            return _table(directory, kept.overview, asked, notes)

    table = await looking(place, look)
    response = page_response(request, "runs/_episode_rows.html", place=place, table=table)
    if not asked.start:
        response.headers["HX-Replace-Url"] = place.url("show", **asked.query())
    return response


def _table(
    directory: RunDirectory, overview: Overview, asked: TableQuery, notes: Mapping[str, str]
) -> Table:
    if asked.outcome == "going":
        return _going(directory, asked, notes)
    text = asked.text.lower()
    rows = [
        row
        for row in overview.rows.values()
        if asked.outcome in ("", row.outcome)
        and text in "\n".join((row.episode, row.title, notes.get(row.episode, ""))).lower()
    ]
    found: dict[str, Cost] = {}
    if asked.sort in ("tokens", "usd", "seconds"):
        found = costs_of(directory.log, [row.episode for row in rows])
    if asked.sort:
        rows.sort(key=lambda row: _order(asked.sort, row, found.get(row.episode)))
    if asked.desc:
        rows.reverse()
    part = rows[asked.start : asked.start + _AT_ONCE]
    if not found:
        found = costs_of(directory.log, [row.episode for row in part])
    after = asked.start + len(part)
    made = [(row, found[row.episode]) for row in part]
    if after < len(rows):
        return Table(made, len(rows), after, asked, notes)
    if asked.outcome or len(overview.rows) >= overview.total:
        return Table(made, len(rows), None, asked, notes)
    going = _going(directory, replace(asked, start=0), notes)
    return Table([*made, *going.rows], len(rows) + going.total, None, asked, notes)


def _going(directory: RunDirectory, asked: TableQuery, notes: Mapping[str, str]) -> Table:
    """Return unfinished episodes."""
    wanted = EpisodeFilter(text=asked.text, state="going")
    page = episode_page(directory.log, wanted, offset=asked.start, limit=_AT_ONCE)
    rows = [
        EpisodeOutcome(x.episode, x.instance, "", Digest(did=say("途中", "under way")), "", 0.0)
        for x in page.lines
    ]
    cost = costs_of(directory.log, [row.episode for row in rows])
    return Table([(row, cost[row.episode]) for row in rows], page.total, page.next, asked, notes)


def _order(sort: str, row: EpisodeOutcome, cost: Cost | None) -> tuple[bool, Any]:
    """Sort key; unknown values come last."""
    found: Any = {
        "title": row.title or row.episode,
        "value": row.digest.value,
        "questions": row.digest.questions,
        "tokens": cost and cost.tokens,
        "usd": cost and cost.usd,
        "seconds": cost and cost.seconds,
    }[sort]
    unknown = found is None or (isinstance(found, float) and math.isnan(found))
    return unknown, "" if unknown and sort == "title" else 0 if unknown else found


async def costs(request: Request) -> Response:
    """`GET /runs/costs/<run>`: tokens by role. A separate request, since it sums over all
    effects."""
    place = place_of(request)
    table = await looking(place, lambda d: token_table(d.log.ledger()))
    return page_response(request, "runs/_table.html", table=table, back=place.url("show"))


async def live(request: Request) -> Response:
    """`GET /runs/live/<run>`: server-sent events while another process writes the run."""
    return EventSourceResponse(_event_stream(request, place_of(request)))


async def _event_stream(request: Request, place: RunAddress) -> AsyncIterator[bytes]:
    before: object = None
    while True:
        now = await asyncio.to_thread(_mark, place.path)
        if now != before:
            before = now
            text = await looking(place, lambda directory: _now(request, place, directory))
            yield ServerSentEvent(text, event="status").encode()
        if not now[0]:
            yield ServerSentEvent("", event="end").encode()
            return
        await asyncio.sleep(_LOOK)


def _mark(path: Path) -> tuple[bool, object]:
    return locked(path), file_state(path)


def _now(request: Request, place: RunAddress, directory: RunDirectory) -> str:
    kept = overview_of(request, directory)
    with kept.lock:
        kept.overview.update(directory.log)
        state = _state(server_of(request), place, directory, kept.overview)
    return fragment("runs/_live_event.html", place=place, **state)
