"""`jump`: a new topic before the present one was gone into. WARN at most. Spec, §8."""

from __future__ import annotations

import re
from collections.abc import Sequence

from naisei.core import Check, Status
from naisei.director.checks.found import PASSED, found
from naisei.director.checks.loop import spoken_words
from naisei.director.prepare import Line
from naisei.japanese.folding import fold

__all__ = ["check_jump"]

_PASSED = PASSED["jump"]

_TURN = re.compile(
    r"(?:ところで|そういえば|そう言えば|話は変わ|話変わ|話を変え|それはそうと|それはともかく|"
    r"それより|話は違|関係ない(?:けど|話|です)|全然違う話|別の話)"
)
#: A topic counts as gone into after so many lines that share a word with the one before.
_DEPTH = 3
#: Only so much of a line of the history is read.
_READ = 2000


def check_jump(line: Line, history: Sequence[str], topics: tuple[str, ...]) -> Check:
    """WARN if the line turns to something else though the topic is fewer than 3 lines old.

    It turns if it says so (「ところで」) or names a topic, and shares no word with the
    two lines before.
    """
    if not history:
        return _PASSED
    turn = _TURN.search(line.body)
    if turn is None and not topics:
        return _PASSED
    here = set(spoken_words(line.body))
    before = [set(spoken_words(fold(text[:_READ]))) for text in history[-_DEPTH - 1 :]]
    if not before[-1] or here & set().union(*before[-2:]) or _depth(before) >= _DEPTH:
        return _PASSED
    return found(
        line,
        "jump",
        Status.WARN,
        ("今の話題を掘り下げる前に話題を変えています。", "It leaves the topic too early."),
        (
            "まず直前の話題に答えるか、もう一歩深めてください。",
            "Answer or deepen the present topic first.",
        ),
        [line.evidence(*turn.span())] if turn else topics,
    )


def _depth(lines: list[set[str]]) -> int:
    """How many of the last lines are of one topic: each shares a word with the next."""
    depth = 1
    for earlier, later in zip(reversed(lines[:-1]), reversed(lines[1:]), strict=True):
        if not earlier & later:
            break
        depth += 1
    return depth
