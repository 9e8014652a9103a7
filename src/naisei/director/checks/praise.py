"""`praise`: a character that informs does not flatter. Source: the specification, §5."""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby

from naisei.core import Check, Status
from naisei.director.checks.found import EVIDENCE, PASSED, found
from naisei.director.prepare import Line
from naisei.director.profile import Praise
from naisei.japanese.cues import Evaluations, Span

__all__ = ["PraiseCheck"]

_PASSED = PASSED["praise"]


class PraiseCheck:
    """RETRY for an evaluation of the partner, or beside an affirmation; WARN for one alone."""

    def __init__(self, rules: Praise) -> None:
        self._evaluations = Evaluations(
            [cue.spec for cue in rules.words],
            [cue.spec for cue in rules.addressees],
            [cue.spec for cue in rules.affirmations],
        )
        #: Finds nothing in a masked line that needs no look: most lines.
        self.sign = self._evaluations.sign

    def __call__(self, line: Line) -> Check:
        words = self._evaluations.words(line.masked)
        if not words:
            return _PASSED
        flattering = self._flattering(line, words) if self._evaluations.called(line.masked) else []
        spans = [line.evidence(*span) for span in (flattering or words)[:EVIDENCE]]
        if flattering:
            return found(
                line,
                "praise",
                Status.RETRY,
                (
                    "相手を褒めて肯定しています（評価語＋相手への肯定）。",
                    "It praises the partner: a word of evaluation with an affirmation.",
                ),
                (
                    "評価を外し、事実や理由などの情報だけを伝えてください。",
                    "Leave the evaluation out; give facts and reasons only.",
                ),
                spans,
            )
        return found(
            line,
            "praise",
            Status.WARN,
            ("評価語があります。", "It holds a word of evaluation."),
            (
                "評価語を具体的な情報に言い換えてください。",
                "Put concrete information in place of the evaluation.",
            ),
            spans,
        )

    def _flattering(self, line: Line, words: list[Span]) -> list[Span]:
        """Those of the words that affirm the partner in their own sentence."""
        flattering = []
        starts = [start for start, _ in line.sentences]
        for number, inside in groupby(words, key=lambda word: bisect_right(starts, word[0]) - 1):
            start, end = line.sentences[max(number, 0)]
            flattering += self._evaluations.flattering(line.masked, start, end, list(inside))
        return flattering
