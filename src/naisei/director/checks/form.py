"""`format`: how many rows a line has. Source: the retry-judgement specification, §3."""

from __future__ import annotations

from naisei.core import Check, Status
from naisei.director.checks.found import PASSED, found
from naisei.director.prepare import Line
from naisei.director.profile import Limits

__all__ = ["check_form"]

_PASSED = PASSED["format"]


def check_form(line: Line, limits: Limits) -> Check:
    """RETRY from `retry_rows` rows, WARN from `warn_rows`; blank rows at the ends are no rows.

    A line without any text is RETRY too: there is nothing to speak.
    """
    if not line.body or line.body.isspace():
        return found(
            line,
            "format",
            Status.RETRY,
            ("発言が空です。", "The line is empty."),
            ("一言でよいので発言を書いてください。", "Write a line, one sentence is enough."),
            (),
        )
    rows = line.body.count("\n") + 1
    if rows < limits.warn_rows:
        return _PASSED
    most = limits.warn_rows - 1
    return found(
        line,
        "format",
        Status.RETRY if rows >= limits.retry_rows else Status.WARN,
        (f"{rows}行あります（{most}行まで）。", f"{rows} rows; at most {most} are allowed."),
        (f"{most}行以内にまとめてください。", f"Keep it within {most} rows."),
        [line.evidence(*_row(line.body, most))],
    )


def _row(text: str, number: int) -> tuple[int, int]:
    """Span of the row of this number, counted from 0."""
    start = 0
    for _ in range(number):
        start = text.index("\n", start) + 1
    end = text.find("\n", start)
    return start, len(text) if end < 0 else end
