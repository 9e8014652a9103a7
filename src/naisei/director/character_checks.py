"""Checks of a line against its character's profile: setting, praise, tone.

Source: the retry-judgement specification, §§3 to 5.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import groupby, product

from naisei.core import Check, Status
from naisei.director.character import Character, Endings, Exclaiming, Fact, Praise, ToneRules
from naisei.director.prepare import EVIDENCE, PASSED, PreparedLine, finding, quoted
from naisei.director.verdict import Tone
from naisei.director.voice import typical
from naisei.director.wording.assertion_scope import excuse
from naisei.director.wording.cues import CueSearch, EndingSearch, Evaluations, Span

#: Maximum number of matches to check per line; one without an excuse is enough.
_WEIGHED = 32


class SettingCheck:
    """RETRY if an expression contradicts a fact without an excuse."""

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self._facts = [
            (
                fact,
                re.compile("|".join(map(re.escape, fact.only_with))) if fact.only_with else None,
                re.compile("|".join(f"(?:{pattern})" for pattern in fact.contradicted_by)),
            )
            for fact in facts
        ]
        every = [text for fact in facts for text in fact.only_with]
        #: Cheap pre-check: no match for most lines.
        self.sign = re.compile("|".join(map(re.escape, every)) or r"(?!)").search
        if not all(fact.only_with for fact in facts):
            self.sign = re.compile("").search

    def __call__(self, line: PreparedLine) -> Check:
        for fact, hints, pattern in self._facts:
            if hints and hints.search(line.body) is None:
                continue
            if spans := self._contradictions(line, fact, pattern):
                ja, en = fact.fact, fact.fact_en or fact.fact
                return finding(
                    line,
                    "setting",
                    Status.RETRY,
                    (f"設定に反しています: {ja}。", f"This contradicts the setting: {en}."),
                    (
                        f"「{ja}」という前提で言い直してください。",
                        f"Say it so that this stays true: {en}.",
                    ),
                    spans,
                )
        return PASSED["setting"]

    def _contradictions(
        self, line: PreparedLine, fact: Fact, pattern: re.Pattern[str]
    ) -> list[str]:
        spans: list[str] = []
        for n, match in enumerate(pattern.finditer(line.body)):
            if n < _WEIGHED and excuse(line.body, *match.span(), fact.unless, fact.others):
                continue
            spans.append(line.evidence(*match.span()))
            if len(spans) == EVIDENCE:
                break
        return spans


class PraiseCheck:
    """RETRY for an evaluation of the partner, or next to an affirmation; WARN for an evaluation
    alone."""

    def __init__(self, rules: Praise) -> None:
        self._evaluations = Evaluations(
            [cue.spec for cue in rules.words],
            [cue.spec for cue in rules.addressees],
            [cue.spec for cue in rules.affirmations],
        )
        #: Cheap pre-check: no match for most masked lines.
        self.sign = self._evaluations.sign

    def __call__(self, line: PreparedLine) -> Check:
        words = self._evaluations.words(line.masked)
        if not words:
            return PASSED["praise"]
        flattering = self._flattering(line, words) if self._evaluations.called(line.masked) else []
        spans = [line.evidence(*span) for span in (flattering or words)[:EVIDENCE]]
        if flattering:
            return finding(
                line,
                "praise",
                Status.RETRY,
                (
                    "相手を褒めて肯定しています（評価語＋相手への肯定）。",
                    "It praises the partner, with a word from the profile's list.",
                ),
                (
                    "評価を外し、事実や理由などの情報だけを伝えてください。",
                    "Leave the praise out; give facts and reasons only.",
                ),
                spans,
            )
        return finding(
            line,
            "praise",
            Status.WARN,
            ("評価語があります。", "It holds a word of praise from the profile's list."),
            (
                "評価語を具体的な情報に言い換えてください。",
                "Give facts in place of the praise.",
            ),
            spans,
        )

    def _flattering(self, line: PreparedLine, words: list[Span]) -> list[Span]:
        """The words that affirm the partner within their sentence."""
        flattering = []
        starts = [start for start, _ in line.sentences]
        for number, inside in groupby(words, key=lambda word: bisect_right(starts, word[0]) - 1):
            start, end = line.sentences[max(number, 0)]
            flattering += self._evaluations.flattering(line.masked, start, end, list(inside))
        return flattering


#: Length of the evidence for a line without a hit.
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
        #: All possible results, by marker, vocabulary and style.
        self._answers: dict[tuple[int | None, ...], tuple[Tone, Status, _Said]] = {
            (tone.marker, tone.vocab, tone.style): (tone, tone.status, _tone_texts(tone, rules))
            for tone in tones
        }

    def __call__(self, line: PreparedLine) -> tuple[Check, Tone]:
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
        return finding(line, "tone", status, *said, spans), tone


def _style(rule: Exclaiming | Endings | None) -> Callable[[PreparedLine], int | None]:
    """The function that scores the style, 0 or 1; `None` without a style rule."""
    if isinstance(rule, Endings):
        endings, least = EndingSearch(rule.endings, rule.particles), rule.at_least
        return lambda line: 1 if endings.reaches(line.masked, least) else 0
    if isinstance(rule, Exclaiming):
        search, most = re.compile(f"[{re.escape(rule.marks)}]").search, rule.max_sentences
        return lambda line: 1 if line.count <= most and search(line.masked) else 0
    return lambda line: None


def _tone_texts(tone: Tone, rules: ToneRules) -> _Said:
    parts = (
        (tone.marker, "語尾", "marker words"),
        (tone.vocab, "語彙", "vocabulary"),
        (tone.style, "文体", "style"),
    )
    lacking = [(ja, en) for part, ja, en in parts if part == 0]
    cues = [cue.text for cue in (*rules.markers, *rules.vocabulary)]
    return (
        (
            f"口調スコアが{tone.score}です（足りないもの: {'・'.join(ja for ja, _ in lacking)}）。",
            f"The tone score is {tone.score}: none of the character's "
            f"{' or '.join(en for _, en in lacking)} is there.",
        ),
        (
            f"このキャラクターらしい言い方にしてください（例: {quoted(cues, 'ja')}）。",
            f"Say it as this character would, e.g. with {quoted(cues, 'en')}.",
        ),
    )


def foreign_trait(character: Character, foreign: str) -> _Said:
    """Reason and suggestion that name the most foreign trait of the line."""
    voice = character.voice
    assert voice is not None
    group, _, name = foreign.partition(":")
    own = max(voice.register_.items(), key=lambda item: item[1][0], default=("plain", (1, 0)))[0]
    ends = "・".join(f"〜{e}" for e in typical(voice.endings, 3))
    if group in ("register", "ending", "length"):
        manner = (
            ("丁寧な文末（です・ます）", "polite endings")
            if own == "polite"
            else (
                "くだけた文末",
                "casual endings",
            )
        )
        return (
            (
                f"文末が{character.name}の話し方と違います。",
                "The sentence endings are not the character's.",
            ),
            (
                f"文末だけを{manner[0]}（{ends}）に直し、内容と提案はそのまま残してください。",
                f"Change the endings only, to {manner[1]} ({ends}); keep content and proposal.",
            ),
        )
    return (
        (
            f"「{name}」は{character.name}の言い方ではありません。",
            f"{quoted([name], 'en')} is not the character's way.",
        ),
        (
            f"「{name}」だけを言い換え、内容と提案はそのまま残してください。",
            f"Put {quoted([name], 'en')} another way; keep content and proposal.",
        ),
    )
