"""The HTML report of conversations: each number links to its evidence.

The page needs no network, and all text is escaped. Its only script expands the target of a link.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import language, say
from naisei.relationship.config import RatingConfig
from naisei.relationship.curves import curves
from naisei.relationship.exports import conversations
from naisei.relationship.messages import dated
from naisei.relationship.pairs import Pair
from naisei.relationship.report_view import TalkView, view
from naisei.relationship.schemas import Conversation
from naisei.relationship.vector import DIMENSIONS, degree, dimension_name, signed
from naisei.runs.directory import RunDirectory
from naisei.runs.report import StoredSummary, stored_summary, templates, token_table
from naisei.system.config import Options, flag

if TYPE_CHECKING:
    from jinja2 import Environment


FILE = "relationship.html"


def write_report(directory: RunDirectory, to: Path | None = None) -> Path:
    """Write the report (default: `relationship.html` in the run) and return its path.

    Raises:
        InputError: the run is not a relationship run or has no utterance yet, or the file cannot be
            written.
    """
    path = to or directory.path / FILE
    page = html_report(directory)
    write_atomically(path, page)
    return path


def html_report(directory: RunDirectory) -> str:
    """The report as HTML, also for an unfinished run."""
    rating = directory.frozen.config.get("task") == "rating"
    found = _rated(directory) if rating else conversations(directory)
    found = {episode: one for episode, one in found.items() if one[1].sessions}
    if not found:
        raise InputError(
            say("まだ発話がありません", "there are no utterances yet"), place=str(directory.path)
        )
    views: list[TalkView] = []
    for n, (episode, (pair, talk)) in enumerate(found.items(), 1):
        others = [one for _, one in list(found.values())[1:]] if rating else []
        views.append(view(n, episode, pair, talk, others))
        if rating:
            break
    summary = _summary(directory)
    failures = [(e, row.failure) for e, row in directory.log.rows().items() if not row.scored]
    return (
        _templates()
        .get_template("relationship.html")
        .render(
            title=" · ".join(
                dict.fromkeys(f"{one.talk.names['a']} ↔ {one.talk.names['b']}" for one in views)
            ),
            run=directory.path.name,
            language=language(),
            say=say,
            rating=rating,
            repetitions=len(found) if rating else 0,
            talks=views,
            dimensions=[(name, dimension_name(name)) for name in DIMENSIONS],
            curves={v.episode: curves(v.talk, number=n) for n, v in enumerate(views, 1)},
            cost_table=token_table(directory.log.ledger()),
            metrics=summary.summary.metrics if summary else (),
            stopped=summary.stopped if summary else say("まだ終わっていない", "not finished"),
            failures=failures,
            notes=[*directory.notes, *(summary.summary.notes if summary else ())],
        )
    )


def _rated(directory: RunDirectory) -> dict[str, tuple[Pair, Conversation]]:
    """The repetitions of a rating, each as a conversation."""
    from naisei.relationship.rating_task import RatingTask

    config = directory.frozen.config_as(RatingConfig, directory.path / "config.json")
    return conversations(directory, RatingTask(config))


def _summary(directory: RunDirectory) -> StoredSummary | None:
    try:
        return stored_summary(directory)
    except InputError:
        return None  # unfinished runs have no summary


@cache
def _templates() -> Environment:
    # Copied, because this page adds filters.
    environment = templates("naisei.relationship").overlay()
    environment.filters = {**environment.filters, "signed": signed}
    environment.globals = {**environment.globals, "dated": dated, "degree": _degree}
    return environment


def _degree(name: str, value: int) -> Any:
    return degree(name, value, language())


class ReportOptions(Options):
    """Flags of `naisei relationship report`."""

    directory: Path = flag(
        ..., "実行ディレクトリ", "A run directory.", argument=True, metavar="DIR"
    )
    out: Path | None = flag(
        None,
        "書き出すページ (既定: DIR/relationship.html)",
        "Output file (default: DIR/relationship.html).",
        short="-o",
        metavar="FILE",
    )


def report_command(options: ReportOptions) -> None:
    """`naisei relationship report`."""
    with RunDirectory.look(options.directory) as run:
        print(write_report(run, options.out))
