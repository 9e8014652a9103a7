"""`tone`: whether it sounds like the character. Source: the specification, §4."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

from naisei.core import Check, Status
from naisei.director.checks.found import PASSED, found
from naisei.director.prepare import Line
from naisei.director.profile import Endings, Exclaiming, ToneRules
from naisei.director.verdict import Tone
from naisei.japanese.cues import CueSearch, EndingSearch

__all__ = ["ToneCheck"]

#: So much of a line without any hit is shown as evidence.
_SHOWN = 40
_PASS, _PASSED = Status.PASS, PASSED["tone"]
#: Reason and suggestion, each in Japanese and English.
_Said = tuple[tuple[str, str], tuple[str, str]]


class ToneCheck:
    """The score of markers, vocabulary and style, each 0 or 1, on the masked line."""

    def __init__(self, rules: ToneRules) -> None:
        self._markers = CueSearch([cue.spec for cue in rules.markers]) if rules.markers else None
        self._vocabulary = (
            CueSearch([cue.spec for cue in rules.vocabulary]) if rules.vocabulary else None
        )
        self._style = _style(rules.style)
        tones = [Tone.of(*parts) for parts in product((0, 1, None), repeat=3)]
        #: Every answer there can be, by marker, vocabulary and style.
        self._answers: dict[tuple[int | None, ...], tuple[Tone, Status, _Said]] = {
            (tone.marker, tone.vocab, tone.style): (tone, tone.status, _said(tone, rules))
            for tone in tones
        }

    def __call__(self, line: Line) -> tuple[Check, Tone]:
        marker = self._markers and self._markers.first(line.masked)
        word = self._vocabulary and self._vocabulary.first(line.masked)
        tone, status, said = self._answers[
            None if self._markers is None else marker is not None,
            None if self._vocabulary is None else word is not None,
            self._style(line),
        ]
        if status is _PASS:
            return _PASSED, tone
        spans = [line.evidence(*hit.span()) for hit in (marker, word) if hit]
        if not spans:
            spans.append(line.evidence(0, min(_SHOWN, len(line.body))))
        return found(line, "tone", status, *said, spans), tone


def _style(rule: Exclaiming | Endings | None) -> Callable[[Line], int | None]:
    """What answers whether a line has the style, 0 or 1; `None` if none is asked for."""
    if isinstance(rule, Endings):
        endings, least = EndingSearch(rule.endings, rule.particles), rule.at_least
        return lambda line: 1 if endings.reaches(line.masked, least) else 0
    if isinstance(rule, Exclaiming):
        search, most = re.compile(f"[{re.escape(rule.marks)}]").search, rule.max_sentences
        return lambda line: 1 if line.count <= most and search(line.masked) else 0
    return lambda line: None


def _said(tone: Tone, rules: ToneRules) -> _Said:
    parts = (
        (tone.marker, "語尾", "ending"),
        (tone.vocab, "語彙", "vocabulary"),
        (tone.style, "文体", "style"),
    )
    lacking = [(ja, en) for part, ja, en in parts if part == 0]
    examples = "".join(f"「{cue.text}」" for cue in (*rules.markers, *rules.vocabulary))
    return (
        (
            f"口調スコアが{tone.score}です（足りないもの: {'・'.join(ja for ja, _ in lacking)}）。",
            f"The tone score is {tone.score}; lacking: {', '.join(en for _, en in lacking)}.",
        ),
        (
            f"このキャラクターらしい言い方にしてください（例: {examples}）。",
            f"Say it as this character would, e.g. with {examples}.",
        ),
    )
