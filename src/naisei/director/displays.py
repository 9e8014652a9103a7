"""Verdicts as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence

from naisei.core import Check, Status
from naisei.director.schemas import ASPECTS, Draft
from naisei.director.verdict import LineVerdict
from naisei.lang import say
from naisei.runs.export import tables_html
from naisei.runs.task import Table


def verdict_html(line: LineVerdict) -> str:
    """A line with its status, and what each check found."""
    return tables_html([_checks(line.status, line.text, line.checks)])


def draft_html(draft: Draft) -> str:
    """A draft with its status, what each check found, and the judge's scores."""
    tables = [_checks(draft.status, draft.text, draft.checks)]
    if (judged := draft.judgement) is not None:
        rows = tuple((name, judged.aspect(name)) for name in ASPECTS)
        title = say("採点役", "judge")
        tables.append(
            Table(
                f"{title}: {judged.mean:.1f}",
                (say("観点", "aspect"), say("平均", "mean")),
                rows,
                note=judged.comment,
            )
        )
    return tables_html(tables)


def _checks(status: Status, text: str, checks: Sequence[Check]) -> Table:
    heads = (
        say("検査", "check"),
        say("判定", "verdict"),
        say("理由", "reason"),
        say("直し方", "how"),
    )
    rows = tuple((c.name, c.status.value, c.reason, c.suggestion) for c in checks)
    return Table(f"{status.value}: {text}", heads, rows)
