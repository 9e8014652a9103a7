"""`script`: a speaker's label, or every row in 「」. WARN at most. Source: the spec, §8."""

from __future__ import annotations

from naisei.core import Check, Status
from naisei.director.checks.found import PASSED, found
from naisei.director.prepare import Line

__all__ = ["check_script"]

_PASSED = PASSED["script"]


def check_script(line: Line) -> Check:
    """WARN for a labelled line and for several wrapped rows.

    One wrapper round the whole line passes: it is taken off by a mend.
    """
    if not line.label and line.wrapped < 2:
        return _PASSED
    row = line.given.strip().splitlines()[0]
    return found(
        line,
        "script",
        Status.WARN,
        ("台本の形式で書かれています。", "It is written as a script."),
        (
            "名前や「」を付けず、話す言葉だけを書いてください。",
            "Write the spoken words only, without a name or quotation marks.",
        ),
        [row],
    )
