"""A study: its configurations with the metric that stands for each, and the paired differences."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from naisei.core import InputError
from naisei.runs.charts import Interval, interval_chart
from naisei.runs.export import study_runs
from naisei.runs.overview import headline
from naisei.runs.report import STUDY, StoredSummary, stored_summary
from naisei.runs.task import Metric
from naisei.system.registry import declared
from naisei.web.html import page_response
from naisei.web.pages.runs.compared import compared
from naisei.web.pages.runs.lists import RunAddress, opened


@dataclass(frozen=True, slots=True)
class Member:
    """One run of the study. head: the metric that stands for it. problem: why it has none."""

    label: str
    place: RunAddress
    stored: StoredSummary | None
    head: Metric | None
    problem: str = ""


async def show(request: Request, place: RunAddress) -> Response:
    """`GET /runs/show/<study>`."""
    return page_response(request, "runs/study.html", **await asyncio.to_thread(_work, place))


def _work(place: RunAddress) -> dict[str, Any]:
    note = _note(place.path)
    inside = place.path.resolve()
    members = [
        _member(place, label, path)
        for label, path in study_runs(place.path).items()
        if path.resolve().parent == inside  # a note may not lead elsewhere
    ]
    finished = [member for member in members if member.stored is not None]
    comparison, problem = None, ""
    if len(finished) > 1:
        paths = tuple(member.place.path for member in finished)
        names = tuple(member.label for member in finished)
        try:
            comparison = compared(paths, names)
        except InputError as error:
            problem = error.message
    return {
        "place": place,
        "title": note.get("title", place.path.name),
        "conditions": note.get("conditions", {}),
        "members": members,
        "names": _defined(finished),
        "comparison": comparison,
        "problem": problem,
        "chart": _chart(members),
        "page_file": (place.path / "study.html").is_file(),
    }


def _defined(members: Sequence[Member]) -> list[str]:
    """The metrics that have a value in some run."""
    all_ = (m for member in members if member.stored for m in member.stored.summary.metrics)
    return list(dict.fromkeys(m.name for m in all_ if not math.isnan(m.value)))


def _note(path: Path) -> dict[str, Any]:
    """What is written of the study at its end."""
    with suppress(OSError, ValueError):
        note = json.loads((path / STUDY).read_text("utf-8"))
        return note if isinstance(note, dict) else {}
    return {}


def _member(study: RunAddress, label: str, path: Path) -> Member:
    place = RunAddress(f"{study.name}/{path.name}", path)
    try:
        with opened(path) as directory:
            frozen, stored = directory.frozen, stored_summary(directory)
    except InputError as error:
        return Member(label, place, None, None, error.message)
    experiment = declared(frozen.system, frozen.config)
    head = headline(stored.summary, experiment.headline if experiment else ())
    return Member(label, place, stored, head)


def _chart(members: Sequence[Member]) -> str:
    rows = [Interval(m.label, m.head) for m in members if m.head is not None]
    names = {row.metric.name for row in rows}
    return interval_chart(rows, title=names.pop()) if len(names) == 1 and len(rows) > 1 else ""
