"""Annotations of runs: tags, a thumb on an episode, and the queue in which readers rate episodes or
instances by a rubric."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.annotations import (
    LABELS,
    Annotation,
    Rubric,
    agreements,
    instances,
    read_annotations,
    readings,
    rubrics,
    shuffled,
    written_on,
)
from naisei.runs.lines import Line
from naisei.runs.words import worded
from naisei.web.html import Refused, form_fields, page_response
from naisei.web.pages.runs.files import download
from naisei.web.pages.runs.lists import annotations_of, chosen_runs, opened, place_of
from naisei.web.pages.runs.loaded import beginning, conversation_lines, episode_of
from naisei.web.state import server_of

#: Maximum size of annotated text on a page, in bytes.
_TALK = 20_000
#: Keyboard shortcuts of the options, in order; other keys belong to the page.
_KEYS = "1234567890"
_FORMS = {"csv": "text/csv", "jsonl": "application/jsonl"}


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of units. name: its name in URLs: a run, or `=NAME` for a data set. folder: folder of
    its annotations. show: returns a unit's lines and the URL of the full unit."""

    name: str
    folder: Path
    units: Sequence[str]
    rubrics: Mapping[str, Rubric]
    show: Callable[[str, Rubric], tuple[Sequence[Line], str]]

    def url(self, **query: str) -> str:
        """The URL of the annotation page."""
        told = urlencode({k: v for k, v in query.items() if v})
        return f"/runs/annotate/{quote(self.name)}{'?' if told else ''}{told}"


def _queue(request: Request) -> Queue:
    name, server = str(request.path_params["run"]), server_of(request)
    own = server.options.runs
    if name.startswith("="):
        rows = instances(name[1:])
        fitting = {k: r for k, r in rubrics(own).items() if name[1:] in r.data}
        folder = own / "annotations" / name[1:]
        return Queue(name, folder, shuffled([*rows]), fitting, _row_of(rows))
    place = place_of(request, name)
    with opened(place.path) as directory:
        units = directory.log.known_episodes()
    fitting = {k: r for k, r in rubrics(own).items() if not r.data}

    def show(unit: str, rubric: Rubric) -> tuple[Sequence[Line], str]:
        loaded = episode_of(place, unit)
        events = range(len(loaded.episode.events))
        lines = loaded.summary or [line for n in events for line in conversation_lines(loaded, n)]
        # Hide the score from readers.
        bare = [replace(line, marks=()) for line in lines]
        return beginning(bare, _TALK), place.url("episode", e=unit)

    return Queue(name, annotations_of(server, place.path), shuffled(units), fitting, show)


def _row_of(
    rows: Mapping[str, Mapping[str, Any]],
) -> Callable[[str, Rubric], tuple[Sequence[Line], str]]:
    def show(unit: str, rubric: Rubric) -> tuple[Sequence[Line], str]:
        row = rows[unit]
        return [
            Line(_field_text(row[name]), worded(name)) for name in rubric.shows if name in row
        ], ""

    return show


def _field_text(value: Any) -> str:
    """Format a field of a row, one line per part."""
    if isinstance(value, dict):
        told = ((k, _field_text(v)) for k, v in value.items() if v not in ("", [], None))
        return "\n".join(f"{worded(key)}: {text}" for key, text in told)
    return say("、", ", ").join(map(str, value)) if isinstance(value, list) else str(value)


async def begin(request: Request) -> Response:
    """`GET /runs/annotate?run=<name>`: redirects to the annotation page of the first chosen run."""
    for place in chosen_runs(request).values():
        return RedirectResponse(place.url("annotate"), 303)
    raise Refused(422, "読む実行を一覧で選んでください", "choose a run in the list to read")


async def show(request: Request) -> Response:
    """`GET /runs/annotate/<run>[?rubric=&reader=&e=<unit>]`, `&as=csv|jsonl` for a file."""
    given = request.query_params
    rubric, reader, unit = (given.get(k, "") for k in ("rubric", "reader", "e"))

    def work() -> Queue:
        return _queue(request)

    queue = await asyncio.to_thread(work)
    read = await asyncio.to_thread(read_annotations, queue.folder)
    if (form := given.get("as", "")) in _FORMS:
        table = readings(read)
        text = table.to_csv() if form == "csv" else table.to_jsonl()
        return download(text, _FORMS[form], f"{queue.name.strip('=@~')}-annotations.{form}")
    chosen = queue.rubrics.get(rubric) if reader else None
    found = await asyncio.to_thread(_page, queue, chosen, reader, unit, read)
    return page_response(request, "runs/annotate.html", queue=queue, reader=reader, **found)


def _page(
    queue: Queue, rubric: Rubric | None, reader: str, unit: str, read: Sequence[Annotation]
) -> dict[str, Any]:
    readers = sorted({a.reader for a in read if a.unit and a.reader})
    around = {
        "rubric": rubric,
        "readers": readers,
        "tables": agreements(queue.folder, [a for a in read if a.unit]),
        "unit": "",
    }
    if rubric is None:
        return around
    own = {a.unit: a for a in read if (a.reader, a.rubric) == (reader, rubric.name)}
    unit = unit or next((u for u in queue.units if u not in own), "")
    if unit not in queue.units:
        if unit:
            raise Refused(404, "そのような件はありません", "no such unit")
        return around | {"done": len(own), "unit": ""}
    at = queue.units.index(unit)
    lines, address = queue.show(unit, rubric)
    keys = iter(_KEYS)
    return around | {
        "unit": unit,
        "done": len(own),
        "lines": lines,
        "address": address,
        "written": own.get(unit, Annotation()),
        "questions": [
            (q, [(v, text, "" if q.many else next(keys, "")) for v, text in choices])
            for q in rubric.questions
            for choices in [q.choices()]
        ],
        "before": queue.units[at - 1] if at else "",
        "after": queue.units[at + 1] if at + 1 < len(queue.units) else "",
    }


async def write(request: Request) -> Response:
    """`POST /runs/annotate/<run>`, fields `rubric`, `reader`, `e`, `note`, `next`, and `QUESTION`,
    or `QUESTION OPTION` if several are allowed."""
    form = await form_fields(request)
    queue = await asyncio.to_thread(_queue, request)
    rubric = queue.rubrics.get(form.get("rubric", ""))
    unit, reader = form.get("e", ""), form.get("reader", "").strip() or request.state.visitor.name
    if rubric is None or unit not in queue.units:
        raise Refused(404, "そのような件はありません", "no such unit")
    answers = {}
    for question in rubric.questions:
        known = [value for value, _ in question.choices()]
        given = (
            [v for v in known if form.get(f"{question.name} {v}")]
            if question.many
            else [v for v in known if v == form.get(question.name)]
        )
        answers[question.name] = tuple(given)
    note = form.get("note", "").strip()
    if not (note or any(answers.values())):
        raise InputError(say("一つも選ばれていません", "nothing was chosen"))
    if reader == LABELS:
        told = say(f"{LABELS} はデータ自身の名前です", f"{LABELS} is the name of the data itself")
        raise InputError(told, remedy=say("別の名前にしてください", "choose another name"))
    written = Annotation(reader=reader, rubric=rubric.name, unit=unit, answers=answers, note=note)
    await asyncio.to_thread(written.add, queue.folder)
    if not form.get("next"):
        place = place_of(request)
        notes = await asyncio.to_thread(written_on, queue.folder, unit, rubric.name)
        return page_response(
            request,
            "runs/_thumb.html",
            back=place.url("episode", e=unit),
            place=place,
            name=unit,
            notes=notes,
            reader=reader,
            kept=True,
        )
    address = queue.url(rubric=rubric.name, reader=reader)
    return Response(status_code=204, headers={"HX-Redirect": address})


async def of_run(request: Request) -> Response:
    """`POST /runs/note/<run>`: tags and note of the run itself."""
    place, form = place_of(request), await form_fields(request)
    reader = request.state.visitor.name
    written = Annotation.of_run(reader, form.get("tags", ""), form.get("note", ""))
    await asyncio.to_thread(written.add, annotations_of(server_of(request), place.path))
    told = say("保存しました", "Saved")
    return page_response(request, "runs/kept.html", told=told, back=place.url("show"))
