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
from naisei.japanese.endings import EndingSearch

__all__ = ["ToneCheck"]

_TONES = {
    parts: (Tone.of(*parts), Tone.of(*parts).status) for parts in product((0, 1, None), repeat=3)
}
#: So much of a line without any hit is shown as evidence.
_SHOWN = 40
_PASS = Status.PASS


class ToneCheck:
    """The score of markers, vocabulary and style, each 0 or 1, on the masked line."""

    def __init__(self, rules: ToneRules) -> None:
        self._rules = rules
        self._texts: dict[Tone, tuple[tuple[str, str], tuple[str, str]]] = {}
        self._markers = CueSearch([cue.spec for cue in rules.markers]) if rules.markers else None
        self._vocabulary = (
            CueSearch([cue.spec for cue in rules.vocabulary]) if rules.vocabulary else None
        )
        self._endings: EndingSearch | None = None
        self._marks: re.Pattern[str] | None = None
        if isinstance(rules.style, Endings):
            self._endings = EndingSearch(rules.style.endings, rules.style.particles)
        elif isinstance(rules.style, Exclaiming):
            self._marks = re.compile(f"[{re.escape(rules.style.marks)}]")

    def __call__(self, line: Line) -> tuple[Check, Tone]:
        marker = self._markers and self._markers.first(line.masked)
        word = self._vocabulary and self._vocabulary.first(line.masked)
        tone, status = _TONES[
            None if self._markers is None else int(marker is not None),
            None if self._vocabulary is None else int(word is not None),
            self._style(line),
        ]
        if status is _PASS:
            return PASSED["tone"], tone
        spans = [line.evidence(*span) for span in (marker, word) if span]
        texts = self._texts.get(tone)
        if texts is None:
            texts = self._texts[tone] = self._said(tone)
        return found(
            line, "tone", status, *texts, spans or [line.evidence(0, min(_SHOWN, len(line.body)))]
        ), tone

    def _style(self, line: Line) -> int | None:
        style = self._rules.style
        if isinstance(style, Exclaiming) and self._marks is not None:
            few = self._marks.search(line.masked) and len(line.sentences) <= style.max_sentences
            return int(bool(few))
        if isinstance(style, Endings) and self._endings is not None:
            return int(self._endings.reaches(line.masked, style.at_least))
        return None

    def _said(self, tone: Tone) -> tuple[tuple[str, str], tuple[str, str]]:
        """Reason and suggestion for a score, each in Japanese and English."""
        parts = (
            (tone.marker, "語尾", "ending"),
            (tone.vocab, "語彙", "vocabulary"),
            (tone.style, "文体", "style"),
        )
        lacking = [(ja, en) for part, ja, en in parts if part == 0]
        cues = (*self._rules.markers, *self._rules.vocabulary)
        examples = "".join(f"「{cue.text}」" for cue in cues)
        return (
            (
                f"口調スコアが{tone.score}です"
                f"（足りないもの: {'・'.join(ja for ja, _ in lacking)}）。",
                f"The tone score is {tone.score}; lacking: {', '.join(en for _, en in lacking)}.",
            ),
            (
                f"このキャラクターらしい言い方にしてください（例: {examples}）。",
                f"Say it as this character would, e.g. with {examples}.",
            ),
        )
