"""`tone`: whether it sounds like the character. Source: the specification, §4."""

from __future__ import annotations

import re
from itertools import product

from naisei.core import Check, Status
from naisei.director.checks.found import PASSED, found
from naisei.director.prepare import Line
from naisei.director.profile import Endings, Exclaiming, ToneRules
from naisei.director.verdict import Tone
from naisei.japanese.cues import CueSearch
from naisei.japanese.endings import ending_pattern
from naisei.lang import say

__all__ = ["ToneCheck"]

_TONES = {parts: Tone.of(*parts) for parts in product((0, 1, None), repeat=3)}


class ToneCheck:
    """The score of markers, vocabulary and style, each 0 or 1, on the masked line."""

    def __init__(self, rules: ToneRules) -> None:
        self._rules = rules
        self._markers = CueSearch([cue.spec for cue in rules.markers]) if rules.markers else None
        self._vocabulary = (
            CueSearch([cue.spec for cue in rules.vocabulary]) if rules.vocabulary else None
        )
        self._endings: re.Pattern[str] | None = None
        self._marks: re.Pattern[str] | None = None
        if isinstance(rules.style, Endings):
            self._endings = ending_pattern(rules.style.endings, rules.style.particles)
            self._cheap = re.compile("|".join(map(re.escape, rules.style.endings)))
        elif isinstance(rules.style, Exclaiming):
            self._marks = re.compile(f"[{re.escape(rules.style.marks)}]")

    def __call__(self, line: Line) -> tuple[Check, Tone]:
        tone = _TONES[
            self._hit(self._markers, line), self._hit(self._vocabulary, line), self._style(line)
        ]
        status = tone.status
        if status is Status.PASS:
            return PASSED["tone"], tone
        return self._found(line, tone, status), tone

    def _hit(self, search: CueSearch | None, line: Line) -> int | None:
        return None if search is None else int(search.first(line.masked) is not None)

    def _style(self, line: Line) -> int | None:
        style = self._rules.style
        if isinstance(style, Exclaiming) and self._marks is not None:
            few = self._marks.search(line.masked) and len(line.sentences) <= style.max_sentences
            return int(bool(few))
        if isinstance(style, Endings) and self._endings is not None:
            hits = 0
            if self._cheap.search(line.masked) is None:
                return 0
            for start, end in line.sentences:
                hits += self._endings.search(line.masked, max(start, end - 40), end) is not None
                if hits >= style.at_least:
                    return 1
            return 0
        return None

    def _found(self, line: Line, tone: Tone, status: Status) -> Check:
        lacking = [
            say(*words)
            for part, words in (
                (tone.marker, ("語尾", "ending")),
                (tone.vocab, ("語彙", "vocabulary")),
                (tone.style, ("文体", "style")),
            )
            if part == 0
        ]
        examples = "・".join(
            f"「{cue.text}」" for cue in (*self._rules.markers, *self._rules.vocabulary)
        )
        searches = [search for search in (self._markers, self._vocabulary) if search]
        hits = [span for search in searches if (span := search.first(line.masked))]
        return found(
            "tone",
            status,
            say(
                f"口調スコアが{tone.score}です（足りないもの: {'・'.join(lacking)}）。",
                f"The tone score is {tone.score}; lacking: {', '.join(lacking)}.",
            ),
            say(
                f"このキャラクターらしい言い方にしてください（例: {examples}）。",
                f"Say it as this character would, e.g. with {examples}.",
            ),
            [line.evidence(*span) for span in hits] or [line.evidence(0, min(40, len(line.body)))],
        )
