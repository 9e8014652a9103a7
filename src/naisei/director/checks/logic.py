"""`logic`: double negations that invert what is meant. Source: the specification, §3."""

from __future__ import annotations

from naisei.core import Check, Status
from naisei.director.checks.found import EVIDENCE, PASSED, found
from naisei.director.prepare import Line
from naisei.japanese.assertion_scope import double_negations

__all__ = ["check_logic"]

_PASSED = PASSED["logic"]


def check_logic(line: Line) -> Check:
    """RETRY for 「まだ未成年じゃない」 and its like, never for tag questions and guesses."""
    spans = double_negations(line.body)
    if not spans:
        return _PASSED
    return found(
        line,
        "logic",
        Status.RETRY,
        (
            "二重否定で意味が逆になっています。",
            "A double negation turns the meaning round.",
        ),
        (
            "否定を一つにして言い切ってください（例:「まだ未成年」「もう成人している」）。",
            "Use one negation only, e.g. 「まだ未成年」 or 「もう成人している」.",
        ),
        [line.evidence(*span) for span in spans[:EVIDENCE]],
    )
