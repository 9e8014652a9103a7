"""Summaries in a run's log, and reports made from them: HTML, Markdown, CSV.

A stored summary suffices for reports and comparisons, without the run's system.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import language, say
from naisei.runs.budget import Ledger
from naisei.runs.directory import RunDirectory
from naisei.runs.tables import number, to_csv, to_markdown
from naisei.runs.task import Metric, Summary, Table
from naisei.runs.words import worded

if TYPE_CHECKING:
    from jinja2 import Environment

SUMMARY_KEY = "summary"
#: JSON file of a study: its title, and label → folder of each run.
STUDY = "study.json"


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A summary with further report content. scored: number of episodes in the summary.
    transcripts: episode → its text, for a sample. figures: episode → an SVG document, for
    those in the sample that have one. stopped: why the run is incomplete.
    """

    summary: Summary
    scored: int
    stopped: str = ""
    seconds: float = 0.0
    transcripts: tuple[tuple[str, str], ...] = ()
    figures: dict[str, str] = field(default_factory=dict)


def store_summary(directory: RunDirectory, kept: StoredSummary) -> None:
    """Store a summary with its run."""
    # Via text, since `extra` is specific to the system and may contain tuples.
    directory.log.put(SUMMARY_KEY, json.loads(json.dumps(asdict(kept), default=str)))


def stored_summary(directory: RunDirectory) -> StoredSummary:
    """Return the summary stored with a run.

    Raises:
        InputError: there is none yet, since the run was killed or is still in progress.
    """
    data: Any = directory.log.get(SUMMARY_KEY)
    if data is None:
        raise InputError(
            say(
                "この実行にはまだ集計がありません。途中で止められたか、まだ動いています",
                "the run has no summary yet: it was killed, or is still going",
            ),
            place=str(directory.path),
            remedy=say(
                f"`naisei runs resume {directory.path}` で最後まで進みます",
                f"`naisei runs resume {directory.path}` finishes it",
            ),
        )
    try:
        return _summaries().validate_python(data)
    except ValidationError as error:
        raise InputError(
            say("集計として読めない控えがあります", "the stored summary cannot be read"),
            place=str(directory.path),
            remedy=say(
                f"`naisei runs resume {directory.path}` で作り直せます",
                f"`naisei runs resume {directory.path}` makes it anew",
            ),
        ) from error


@cache
def _summaries() -> TypeAdapter[StoredSummary]:
    return TypeAdapter(StoredSummary)


def plain_number(value: float) -> float | None:
    """Convert a number for standard JSON: NaN and infinities become null."""
    return value if math.isfinite(value) else None


@cache
def templates(package: str = "") -> Environment:
    """Return the page templates. package: its templates take precedence, such as
    `naisei.director`; they can include the report templates (`_head.html`, `_tables.html`, …)."""
    # Imported only when a report is written, so that commands start fast.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    packages = [package, "naisei.runs"] if package else ["naisei.runs"]
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(each, "templates") for each in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["pretty"] = partial(json.dumps, ensure_ascii=False, indent=2)
    environment.filters["svg_source"] = svg_source
    environment.filters["worded"] = worded
    environment.globals |= {"bar": bar, "say": say}
    return environment


def svg_source(svg: str) -> str:
    """Return a data URL for an image, so that scripts in the document do not run."""
    return "data:image/svg+xml;base64," + b64encode(svg.encode()).decode()


def bar(metric: Metric) -> dict[str, float] | None:
    """Return the positions of the value and its interval on a scale from 0 to 1, in percent.

    Returns `None` for a metric outside that scale.
    """
    values = [metric.value, metric.low, metric.high]
    if not all(0 <= v <= 1 for v in values):  # false for NaN too
        return None
    value, low, high = (round(100 * v, 2) for v in values)
    return {"value": value, "low": low, "high": high, "width": round(high - low, 2)}


def csv_report(directory: RunDirectory) -> str:
    """Return all tables of the report as CSV, each preceded by a line with its title and followed
    by an empty line. Raises `InputError` if there is no summary yet."""
    run = stored_summary(directory)
    tables = [metric_table(run), *run.summary.tables, token_table(directory.log.ledger())]
    return "\r\n".join(f"# {table.title}\r\n{to_csv(table)}" for table in tables)


def metric_table(kept: StoredSummary) -> Table:
    """Return each metric with its 95 % interval, its n and, if undefined, the reason."""
    return Table(
        "Metrics",
        ("metric", "value", "95 % low", "95 % high", "n", "reason"),
        tuple((m.name, m.value, m.low, m.high, m.n, m.reason) for m in kept.summary.metrics),
    )


def token_table(ledger: Ledger) -> Table:
    """Return tokens, calls and attempts by role."""
    rows = tuple(
        (role, s.calls, s.attempts, s.cached, s.repaired, s.input_tokens, s.output_tokens, s.tokens)
        for role, s in sorted(ledger.roles.items())
    )
    usd = "unknown" if ledger.usd is None else f"{ledger.usd:.4f}"
    return Table(
        "Tokens by role",
        ("role", "calls", "attempts", "from cache", "repaired", "input", "output", "total"),
        rows,
        note=say(
            f"米ドル: {usd}。要求には失敗したものも数え、トークンは接続先が答えた数。",
            f"US dollars: {usd}. Attempts count failed requests; tokens are the endpoint's.",
        ),
    )


def _failures(directory: RunDirectory) -> list[tuple[str, str]]:
    return [
        (episode, failure)
        for episode, failure in directory.log.select(
            "SELECT episode, failure FROM episodes WHERE result IS NULL ORDER BY rowid"
        )
    ]


def html_report(directory: RunDirectory) -> str:
    """Return the report page: no scripts, no network access, light and dark mode.

    Raises:
        InputError: the run has no summary yet.
    """
    run = stored_summary(directory)
    ledger = directory.log.ledger()
    return (
        templates()
        .get_template("report.html")
        .render(
            page_language=language(),
            title=str(directory.path.name),
            frozen=directory.frozen,
            kept=run,
            total=directory.log.get("episodes"),
            failures=_failures(directory),
            tables=[*run.summary.tables, token_table(ledger)],
            notes=[*directory.notes, *run.summary.notes],
        )
    )


def markdown_report(directory: RunDirectory) -> str:
    """Return metrics and tables as Markdown. Raises `InputError` if there is no summary yet."""
    run = stored_summary(directory)
    failures = _failures(directory)
    total = directory.log.get("episodes")
    head = [
        f"# {directory.path.name}",
        "",
        f"{run.scored} of {total} episodes scored; {len(failures)} unscored by instrument "
        "failures.",
    ]
    if run.stopped:
        head.append(f"Not at its end: {run.stopped}.")
    notes = [f"- {note}" for note in [*directory.notes, *run.summary.notes]]
    tables = [metric_table(run), *run.summary.tables, token_table(directory.log.ledger())]
    return "\n".join([*head, "", *notes, "", *map(to_markdown, tables)])


def write_report(directory: RunDirectory, to: Path | None = None) -> Path:
    """Write the page (by default `report.html` of the run); return its path."""
    path = directory.path / "report.html" if to is None else to
    # A folder's name may not be UTF-8.
    write_atomically(path, html_report(directory).encode(errors="backslashreplace"))
    return path


def write_study(
    directory: Path,
    title: str,
    tables: Sequence[Table],
    *,
    runs: Mapping[str, str],
    notes: Sequence[str] = (),
    conditions: Mapping[str, str] | None = None,
) -> Path:
    """Write `study.html`, `study.md`, `study.json`, one CSV file per table, and `study.svg` if the
    first table has a chart; return the page's path.

    Args:
        runs: label → link to that run's report, relative to `directory`.
        conditions: model, data, seeds, etc., written as the last table and `conditions.csv`.
    """
    from naisei.runs.charts import table_chart  # a run's report has none

    if conditions:
        under = Table("Conditions", ("", "value"), tuple(conditions.items()))
        write_atomically(directory / "conditions.csv", to_csv(under))
    if tables and (drawn := table_chart(tables[0])):
        write_atomically(directory / "study.svg", drawn.file())
    for count, table in enumerate(tables, start=1):
        write_atomically(directory / f"table-{count}.csv", to_csv(table))
    folders = {label: str(Path(link).parent) for label, link in runs.items()}
    listed = {"title": title, "runs": folders, "conditions": dict(conditions or {})}
    write_atomically(directory / STUDY, json.dumps(listed, ensure_ascii=False, indent=2) + "\n")
    tables = [*tables, under] if conditions else tables
    heads = [f"# {title}", "", *(f"- {note}" for note in notes), ""]
    write_atomically(directory / "study.md", "\n".join([*heads, *map(to_markdown, tables)]))
    page = (
        templates()
        .get_template("study.html")
        .render(page_language=language(), title=title, tables=tables, runs=runs, notes=notes)
    )
    write_atomically(directory / "study.html", page)
    return directory / "study.html"
