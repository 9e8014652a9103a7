"""The list of runs, and the mapping from URLs to run directories."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from naisei.core import InputError
from naisei.runs.annotations import (
    Annotation,
    read_annotations,
    rubrics,
    together,
    written_on,
)
from naisei.runs.compare import in_columns
from naisei.runs.directory import RunDirectory, log_state
from naisei.runs.export import study_runs
from naisei.runs.frozen import Frozen
from naisei.runs.listing import Listed, find_runs, found_at, look_at_all, looked_at
from naisei.runs.lock import locked
from naisei.runs.overview import Overview, headline
from naisei.runs.report import STUDY
from naisei.runs.show import summary_or_none
from naisei.runs.task import Metric
from naisei.system.registry import declared, digest_of
from naisei.system.spelled import as_title
from naisei.web.html import Refused, page_response
from naisei.web.state import RECORDED, ServerState, server_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunAddress:
    """A run by its name in URLs. own: whether it is one of the visitor's conversations."""

    name: str
    path: Path
    own: bool = False

    def url(self, verb: str, **query: object) -> str:
        """Return the URL of a page of this run."""
        given = "&".join(f"{k}={quote(str(v), safe='')}" for k, v in query.items() if v != "")
        return f"/runs/{verb}/{quote(self.name)}{'?' if given else ''}{given}"

    @property
    def example(self) -> bool:
        """Whether it is a bundled recorded run."""
        return self.path.parent == RECORDED

    @property
    def label(self) -> str:
        """System, agent, non-default settings, and start time."""
        try:
            run = Frozen.read(self.path / "config.json")
        except InputError:  # also for a study
            return self.name
        began = run.created[5:16].replace("T", " ")
        parts = run.system, run.agent, as_title(run.system, run.config), began
        return " · ".join(filter(None, parts))

    @staticmethod
    def of(server: ServerState, path: Path) -> RunAddress:
        """Return the address of a run in the server's folder, or of an example."""
        if path.parent == RECORDED:
            return RunAddress(f"~{path.name}", path)
        return RunAddress(path.relative_to(server.options.runs).as_posix(), path)


def place_of(request: Request, name: str | None = None) -> RunAddress:
    """Return the run named in a URL.

    Raises:
        HTTPException: there is no run of this name, or it is not the visitor's.
    """
    server = server_of(request)
    name = request.path_params["run"] if name is None else name
    if name.startswith("@"):
        return RunAddress(
            name, server.conversations.path(request.state.visitor, name[1:]), own=True
        )
    if name.startswith("~"):  # a bundled example, independent of the folder of runs
        shipped = {path.name: path for path in RECORDED.iterdir() if path.is_dir()}
        if (path := shipped.get(name[1:])) is None:
            raise Refused(404, "そのような実行はありません", "no such run")
        return RunAddress(name, path)
    return RunAddress(name, _within(server, name))


def _within(server: ServerState, name: str) -> Path:
    parts = name.split("/")
    tame = len(parts) in (1, 2) and all(
        part not in ("", ".", "..") and not set(part) & set("\\\0:") for part in parts
    )
    root = server.options.runs
    path = root.joinpath(*parts) if tame else root
    try:
        # A link inside the folder must not point outside.
        marks = [path / name for name in ("config.json", STUDY)]
        marks += path.glob("*/config.json")
        config = next((mark for mark in marks if mark.exists()), path / "config.json")
        good = tame and config.resolve().is_relative_to(root.resolve()) and config.is_file()
    except OSError:
        good = False
    if not good:
        raise Refused(404, "そのような実行はありません", "no such run")
    return path


def all_runs(server: ServerState) -> list[Listed]:
    """Return the server's own runs, then the examples, without reading logs."""
    return [*find_runs(server.options.runs), *find_runs(RECORDED)]


def notes_of(server: ServerState, run: Path) -> dict[str, str]:
    """Return a mapping from episode to thumbs and notes of all readers, in one line."""
    signs, found = {"good": "○", "bad": "×"}, dict[str, list[str]]()
    for each in read_annotations(annotations_of(server, run)):
        if each.unit and each.rubric == "thumb":
            given = [signs[value] for value in each.answers.get("thumb", ()) if value in signs]
            found.setdefault(each.unit, []).append(" ".join([*given, each.note]).strip())
    return {unit: " / ".join(filter(None, texts)) for unit, texts in found.items()}


def annotations_of(server: ServerState, run: Path) -> Path:
    """Return the folder of a run's annotations: its own, or, for a read-only bundled example, one
    among the runs."""
    if run.parent == RECORDED:
        return server.options.runs / "annotations" / run.name
    return run


def is_study(path: Path) -> bool:
    """Whether a folder holds a study rather than a run; a stopped study has no study file."""
    if (path / "config.json").exists():
        return False
    return (path / STUDY).is_file() or any(path.glob("*/config.json"))


def chosen_runs(request: Request) -> dict[str, RunAddress]:
    """Return the runs named by `run` in a URL, without duplicates; a study is replaced by its runs.
    Raises `HTTPException` for an unknown name."""
    out: dict[str, RunAddress] = {}
    for name in request.query_params.getlist("run"):
        place = place_of(request, name)
        inner = study_runs(place.path) if is_study(place.path) else {}
        inside = (path for path in inner.values() if path.parent == place.path)
        for each in [RunAddress(f"{name}/{path.name}", path) for path in inside] or [place]:
            out[each.name] = each
    return out


async def looking(place: RunAddress, look: Callable[[RunDirectory], T]) -> T:
    """Call `look` on the run in a thread, since a long log must not block other pages."""

    def work() -> T:
        with opened(place.path) as directory:
            return look(directory)

    return await asyncio.to_thread(work)


def file_state(path: Path) -> tuple[object, ...]:
    """Return a cache key that changes with the files of a run's log."""
    config = path / "config.json"
    stat = config.stat() if config.exists() else None
    return (stat and (stat.st_ino, stat.st_size, stat.st_mtime_ns), *log_state(path))


def opened(path: Path) -> RunDirectory:
    """Open a run for reading. Checks digests only of the events read; `naisei runs show` checks the
    whole log."""
    return RunDirectory.look(path, check=False)


_RUNS_AT_ONCE = 50
#: Seconds for reading logs per page; remaining rows are fetched one by one.
_AT_MOST = 0.08
#: In Japanese and English, and whether they hold numbers.
_COLUMNS = {
    "name": ("実行", "Run", False),
    "system": ("システム", "System", False),
    "agent": ("エージェント", "Agent", False),
    "model": ("モデル", "Model", False),
    "metric": ("指標", "Metric", True),
    "state": ("状態", "State", False),
    "scored": ("採点済み", "Scored", True),
    "tokens": ("トークン", "Tokens", True),
    "usd": ("$", "$", True),
    "created": ("開始", "Started", False),
}
#: Cached data of a run, valid until its files change.
_Seen = dict[tuple[str, tuple[object, ...]], "Row"]
_KEPT = 2_000
_NOTHING = Annotation()
#: An episode of an example whose first action was wrong.
_STUMBLE = RunAddress("~clarify", RECORDED / "clarify").url("episode", e="b056-2#0", at="wrong")
#: Size of a log, in bytes, from which it is read after the page has loaded.
_LONG = 12 * 2**20


@dataclass(frozen=True, slots=True)
class Row:
    """One run in the list. run: `None` until its log is read. metrics: by name, headline first.
    stopped: why it is incomplete. title: a short description. failure: the first failed episode."""

    place: RunAddress
    found: Listed
    run: Listed | None = None
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    stopped: str = ""
    title: str = ""
    failure: str = ""
    written: Annotation = _NOTHING

    def metric(self, name: str) -> Metric | None:
        """Return the metric of this name; the headline by default."""
        return self.metrics.get(name) if name else next(iter(self.metrics.values()), None)


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Filters, order and metric of the list, as in a URL. A chosen metric sorts the largest value
    first, unless another order is chosen."""

    text: str = ""
    system: str = ""
    state: str = ""
    sort: str = ""
    desc: str = ""
    metric: str = ""

    @staticmethod
    def of(request: Request) -> ListQuery:
        given = request.query_params
        metric = given.get("metric", "")[:80]
        sort = given.get("sort") or ("metric" if metric else "")
        return ListQuery(
            text=given.get("text", "")[:200],
            system=given.get("system", ""),
            state=given.get("state", ""),
            sort=sort if sort in _COLUMNS else "",
            desc="1" if given.get("desc") or (metric and not given.get("sort")) else "",
            metric=metric,
        )

    def url(self, address: str, **other: object) -> str:
        query = {k: v for k, v in {**asdict(self), **other}.items() if v != ""}
        told = urlencode(query, doseq=True)
        return f"{address}{'?' if told else ''}{told}"


async def show_list(request: Request) -> Response:
    """`GET /runs?text=&system=&state=&metric=&sort=&desc=`."""
    return await _answer(request, "runs/list.html")


async def more_rows(request: Request) -> Response:
    """`GET /runs/rows`: more rows of the list, or the list with other filters."""
    if "offset" in request.query_params:
        return await _answer(request, "runs/_list_rows.html")
    response = await _answer(request, "runs/_list_table.html")
    response.headers["HX-Replace-Url"] = ListQuery.of(request).url("/runs")
    return response


async def one_row(request: Request) -> Response:
    """`GET /runs/row/<run>`: a row of the list, without a time limit for its log."""
    place, seen = place_of(request), seen_runs(request)

    def work() -> Row:
        return looked(Row(place, found_at(place.path)), seen)

    row = await asyncio.to_thread(work)
    within, wanted = bool(request.query_params.get("within")), ListQuery.of(request)
    return page_response(request, "runs/_list_row.html", row=row, within=within, wanted=wanted)


async def _answer(request: Request, template: str) -> Response:
    server, seen, wanted = server_of(request), seen_runs(request), ListQuery.of(request)
    given = request.query_params.get("offset", "0")
    offset = int(given[:9]) if given.isdecimal() else 0

    def work() -> dict[str, Any]:
        all_ = all_runs(server)
        fitting = [row for run in all_ if (row := _fitting(run, server, wanted))]
        of_logs = wanted.state or wanted.sort in ("metric", "state", "scored", "tokens", "usd")
        if of_logs:
            own = [row.found for row in fitting if not row.place.example]
            examples = [row.found for row in fitting if row.place.example]
            listed = [*look_at_all(server.options.runs, own), *map(looked_at, examples)]
            fitting = [replace(row, run=run) for row, run in zip(fitting, listed, strict=True)]
        if wanted.sort == "metric":
            fitting = [looked(row, seen) for row in fitting]
        if wanted.state:
            fitting = [row for row in fitting if row.run and row.run.state == wanted.state]
        if wanted.sort:
            fitting.sort(key=lambda row: _order(wanted, row))
        if wanted.desc:
            fitting.reverse()
        part = fitting[offset : offset + _RUNS_AT_ONCE]
        until = math.inf if of_logs else time.monotonic() + _AT_MOST
        after = offset + len(part)
        rows = [looked(row, seen, until=until) for row in part]
        return {
            "rows": rows,
            "metrics": list(dict.fromkeys(name for row in rows for name in row.metrics)),
            "next": after if after < len(fitting) else None,
            "systems": sorted({run.system for run in all_ if run.system}),
            "labelled": list(dict.fromkeys(d for r in rubrics().values() for d in r.data)),
        }

    return page_response(
        request,
        template,
        **await asyncio.to_thread(work),
        wanted=wanted,
        grouped=not wanted.sort,
        columns=_COLUMNS,
        stumble=_STUMBLE,
    )


def _fitting(run: Listed, server: ServerState, wanted: ListQuery) -> Row | None:
    place = RunAddress.of(server, run.path)
    try:
        written = together(written_on(annotations_of(server, run.path)))
    except InputError as error:  # an error in this run only
        written = Annotation(note=f"{Path(error.place).name}: {error.message}")
    about = " ".join((place.name, run.agent, *run.models, *written.tags, written.note)).lower()
    fits = wanted.system in ("", run.system)
    fits = fits and all(word in about for word in wanted.text.lower().split())
    return Row(place, run, written=written) if fits else None


def _order(wanted: ListQuery, row: Row) -> tuple[bool, Any]:
    """Sort key; unknown values come last."""
    run, head = row.run, row.metric(wanted.metric)
    value: Any = {
        "name": row.place.name,
        "system": row.found.system,
        "agent": row.found.agent,
        "model": ", ".join(row.found.models),
        "created": row.found.created,
        "metric": head and head.value,
        "state": run and run.state,
        "scored": run and run.scored,
        "tokens": run and run.tokens,
        "usd": run and run.usd,
    }[wanted.sort]
    unknown = value in (None, "") or value != value
    return unknown is not bool(wanted.desc), 0 if unknown else value


def seen_runs(request: Request) -> _Seen:
    """Return the server's cache of runs."""
    seen: _Seen = server_of(request).cached("runs", dict)
    return seen


def looked(row: Row, seen: _Seen, *, until: float = math.inf) -> Row:
    """Return the row with data from the log, cached until the run's files change. until: monotonic
    time after which no log is opened."""
    key = (str(row.place.path), (locked(row.place.path), *file_state(row.place.path)))
    known = seen.get(key)
    if known is not None and known.run is not None and known.run.state != "running":
        return replace(known, found=row.found, written=row.written)
    if until < math.inf and (time.monotonic() > until or _long(row.place.path)):
        return row
    made = _of_log(replace(row, run=looked_at(row.found)))
    if len(seen) > _KEPT:
        seen.clear()
    seen[key] = made
    return made


def _long(path: Path) -> bool:
    log = path / "log.sqlite"
    return log.exists() and log.stat().st_size > _LONG


def _of_log(row: Row) -> Row:
    try:
        with opened(row.place.path) as directory:
            config, stored = directory.frozen.config, summary_or_none(directory)
            overview = Overview(digest_of(row.found.system, config))
            overview.update(directory.log)
    except InputError:
        return row
    experiment = declared(row.found.system, config)
    head = headline(stored.summary, experiment.headline if experiment else ())
    columns = experiment.columns if experiment else ()
    known = {m.name: m for m in stored.summary.metrics if m.value == m.value}
    shown = [known[name] for name in in_columns([*known], columns)] if columns else []
    return replace(
        row,
        metrics={m.name: m for m in (head, *shown) if m is not None},
        stopped=stored.stopped,
        title=as_title(row.found.system, config),
        failure=first_failure(overview),
    )


def first_failure(overview: Overview) -> str:
    """Return the first failed or unscored episode; empty if there is none."""
    found = (r.episode for r in overview.rows.values() if r.outcome in ("bad", "unscored"))
    return next(found, "")
