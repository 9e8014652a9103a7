"""What one utterance, and one side of a dialogue so far, gives away, counted."""

from __future__ import annotations

import math
import re
from collections import deque
from dataclasses import dataclass
from functools import lru_cache

from naisei.japanese.directives import deference, directives
from naisei.japanese.morph import normalise
from naisei.japanese.politeness import FORMS, Level, addresses, honorifics, level
from naisei.japanese.speech import (
    Sentence,
    casual,
    closeness,
    distance,
    laughter,
    leisure,
    spoken,
    work,
)

__all__ = ["COUNTS", "SpeakerFeatures", "UtteranceFeatures", "utterance_features"]


#: What is counted in every utterance, in the order of `UtteranceFeatures.counts`.
COUNTS = (
    "sentences",
    "polite",
    "plain",
    "honorific",
    "direct",
    "defer",
    "comply",
    "casual",
    "laughter",
    "close",
    "stranger",
    "hostile",
    "work",
    "leisure",
    "addresses",
    "looked_up",
    "nearness",
    "japanese",
    "letters",
)
_AT = {name: at for at, name in enumerate(COUNTS)}
_LETTER = re.compile(r"[^\W\d_]")
_KANA = re.compile(r"[\u3041-\u30ff\u3400-\u9fff々]")
_SNIPPET = 14


@dataclass(frozen=True, slots=True)
class UtteranceFeatures:
    """counts: by `COUNTS`, weighted by strength where a cue has one; japanese, letters: numbers
    of characters. cues: count → the words it was heard in."""

    counts: tuple[float, ...]
    cues: dict[str, tuple[str, ...]]


@lru_cache(maxsize=4096)
def utterance_features(text: str, by: str = "", to: str = "") -> UtteranceFeatures:
    """Count an utterance of `by` to `to` (display names, for the address terms)."""
    counts = [0.0] * len(COUNTS)
    cues: dict[str, list[str]] = {}

    def note(count: str, words: str, strength: float = 1.0) -> None:
        counts[_AT[count]] += strength
        cues.setdefault(count, []).append(words)

    for found in laughter(normalise(text)):
        note("laughter", found.text)
    for sentence in spoken(text):
        counts[_AT["sentences"]] += 1
        if (how := level(sentence)) is not Level.NONE:
            note(how.value, _end(sentence))
        for found in honorifics(sentence):
            note("honorific", found.text)
        for found in directives(sentence):
            if found.strength:
                note("direct", found.text, found.strength)
        for found in deference(sentence):
            note("comply" if found.cue == "comply" else "defer", found.text, found.strength)
        for found in casual(sentence):
            note("casual", found.text)
        for found in closeness(sentence):
            note("close", found.text)
        for found in distance(sentence):
            note(found.cue, found.text)
        for found in work(sentence):
            note("work", found.text)
        for found in leisure(sentence):
            note("leisure", found.text)
        for form, words in addresses(sentence.text, to=to, by=by):
            note("addresses", words)
            counts[_AT["looked_up"]] += FORMS[form].deference
            counts[_AT["nearness"]] += FORMS[form].closeness
    counts[_AT["japanese"]] = float(len(_KANA.findall(text)))
    counts[_AT["letters"]] = float(len(_LETTER.findall(text)))
    return UtteranceFeatures(tuple(counts), {k: tuple(v) for k, v in cues.items()})


def _end(sentence: Sentence) -> str:
    """The end of a sentence, where its level shows, from a word on."""
    if len(sentence.text) <= _SNIPPET:
        return sentence.text
    kept = ""
    for word in reversed(sentence.words):
        if len(kept) + len(word.surface) >= _SNIPPET and kept:
            break
        kept = word.surface + kept
    return f"…{kept}"


#: Counts that become traits: the rate per sentence at which a trait is two thirds of its most.
_SCALES = {
    "honorific": 0.8,
    "direct": 0.3,
    "defer": 0.3,
    "comply": 0.3,
    "casual": 0.7,
    "laughter": 0.4,
    "close": 0.6,
    "stranger": 0.4,
    "hostile": 0.3,
    "work": 0.7,
    "leisure": 0.7,
}
_AT_tally = {name: at for at, name in enumerate(COUNTS)}
#: So many lines are kept as grounds for each count: the latest.
_LINES = 4


class SpeakerFeatures:
    """Sums of `UtteranceFeatures.counts` over one side, and the latest lines of each count.

    Adding a line takes constant time, so that a dialogue can be read turn by turn.
    """

    def __init__(self) -> None:
        self.sums = [0.0] * len(COUNTS)
        self.lines = 0
        self._traits: dict[str, float] | None = None
        self.grounds: dict[str, deque[tuple[int, tuple[str, ...]]]] = {}

    def add(self, at: int, heard: UtteranceFeatures) -> None:
        """Add the line at index `at` of the dialogue."""
        self.lines += 1
        self._traits = None
        self.sums = [a + b for a, b in zip(self.sums, heard.counts, strict=True)]
        for count, words in heard.cues.items():
            self.grounds.setdefault(count, deque(maxlen=_LINES)).append((at, words))

    def count(self, name: str) -> float:
        """The sum of one count."""
        return self.sums[_AT_tally[name]]

    def traits(self) -> dict[str, float]:
        """The side's traits, each shrunk toward the unremarkable while little has been said.

        polite: share of polite endings, 0–1. look_up: how the other is addressed, about −1…2
        (0.2 unknown); near: likewise, −1…1. All others: 0–1, saturating with the rate per
        sentence.
        """
        # Asked for once a direction.
        if self._traits is None:
            self._traits = self._computed()
        return self._traits

    def _computed(self) -> dict[str, float]:
        ended = self.count("polite") + self.count("plain")
        called = self.count("addresses")
        traits = {
            "polite": (self.count("polite") + 0.5) / (ended + 1),
            "look_up": (self.count("looked_up") + 0.1) / (called + 0.5),
            "near": self.count("nearness") / (called + 0.5),
        }
        said = self.count("sentences") + 1
        for name, scale in _SCALES.items():
            traits[name] = 1 - math.exp(-self.count(name) / said / scale)
        return traits
