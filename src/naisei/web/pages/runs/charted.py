"""One chart over several runs: a metric against a setting or the seed, as a page, SVG or PDF."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.charts import table_chart
from naisei.runs.compare import load
from naisei.runs.pictures import draw
from naisei.runs.pooling import across_runs, varied
from naisei.runs.tables import to_csv
from naisei.system.studies import headline_name
from naisei.web.html import Refused, page_response
from naisei.web.pages.runs.files import download
from naisei.web.pages.runs.lists import chosen_runs

#: Maximum number of runs in a chart.
_MOST = 100


async def show(request: Request) -> Response:
    """`GET /runs/chart?run=…&run=…[&metric=][&x=][&as=svg|pdf|csv]`."""
    given, runs = request.query_params, chosen_runs(request)
    metric, x, form = (given.get(k, "") for k in ("metric", "x", "as"))
    if len(runs) > _MOST:
        raise Refused(422, f"{_MOST} 個までです", f"{_MOST} runs at most")
    found = await asyncio.to_thread(_work, {n: p.path for n, p in runs.items()}, metric, x)
    if not form:
        query = urlencode([("run", name) for name in given.getlist("run")])
        return page_response(request, "runs/chart.html", query=query, runs=runs, **found)
    if found["drawn"] is None:
        raise HTTPException(422, found["problem"] or say("図にできません", "there is no chart"))
    if form == "csv":
        return download(to_csv(found["table"]), "text/csv", "chart.csv")
    if form == "svg":
        return download(found["drawn"].file(), "image/svg+xml", "chart.svg")
    return await asyncio.to_thread(_pdf, found["drawn"])


def _pdf(drawn: Any) -> Response:
    with tempfile.TemporaryDirectory(prefix="naisei-") as folder:
        path = Path(folder) / "chart.pdf"
        draw(drawn, path)
        return download(path.read_bytes(), "application/pdf", "chart.pdf")


def _work(runs: dict[str, Path], metric: str, x: str) -> dict[str, Any]:
    """Return the page's content: the chart, or the reason for its absence and the choices."""
    table, problem = None, ""
    loaded = [load(path, name) for name, path in runs.items()]
    metric = metric or (headline_name(loaded[0]) if loaded else "")
    try:
        table = across_runs(loaded, metric, x)
    except InputError as error:
        problem = f"{error.message}: {error.remedy}" if error.remedy else error.message
    return {
        "table": table,
        "problem": problem,
        "drawn": table_chart(table) if table else None,
        "metric": metric,
        "x": x or (table.columns[1] if table else ""),
        "metrics": list(dict.fromkeys(m.name for r in loaded for m in r.stored.summary.metrics)),
        "settings": varied(loaded),
    }
