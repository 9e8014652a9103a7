"""Counts of an utterance and of a speaker so far, and the features of a direction made of them.

Power is relative: every feature is a difference of the two sides, so that what A has over B is
what B lacks before A. Intimacy and the task are mostly the speaker's own, and partly mutual.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from naisei.japanese.morph import normalise
from naisei.relationship.speech.attitude import attitudes, hesitates
from naisei.relationship.speech.directives import deference, directives
from naisei.relationship.speech.level import (
    Sentence,
    casual,
    closeness,
    distance,
    laughter,
    leisure,
    spoken,
    work,
)
from naisei.relationship.speech.politeness import FORMS, Level, addresses, honorifics, level

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
    "shut",
    "refuse",
    "insult",
    "offer",
    "past",
    "praise",
    "press",
    "judge",
    "ask",
    "answer",
    "hesitate",
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
    if hesitates(text):
        note("hesitate", "…")
    for at, sentence in enumerate(spoken(text)):
        counts[_AT["sentences"]] += 1
        if (how := level(sentence)) is not Level.NONE:
            note(how.value, _end(sentence))
        shown = attitudes(sentence)
        off = any(found.cue == "shut" for found in shown)
        for found in () if off else honorifics(sentence):
            note("honorific", found.text)
        for found in directives(sentence):
            if found.strength:
                note("direct", found.text, found.strength)
        # Polite words that shut the other out honour nobody.
        for found in () if off else deference(sentence):
            note("comply" if found.cue == "comply" else "defer", found.text, found.strength)
        for found in casual(sentence):
            note("casual", found.text)
        for found in closeness(sentence):
            note("close", found.text)
        for found in distance(sentence):
            note(found.cue, found.text)
        for found in work(sentence):
            note("work", found.text, found.strength)
        for found in leisure(sentence):
            note("leisure", found.text)
        for found in shown:
            # Yes is an answer where an utterance begins with it.
            if found.cue != "answer" or at == 0:
                note(found.cue, found.text)
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
    "shut": 0.2,
    "refuse": 0.4,
    "insult": 0.2,
    "offer": 0.3,
    "past": 0.3,
    "praise": 0.2,
    "press": 0.2,
    "judge": 0.2,
    "ask": 0.3,
    "answer": 0.3,
    "hesitate": 0.3,
}
#: Characters an utterance at which its length is as much as it can be.
_LONG = 50
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
        return self.sums[_AT[name]]

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
        traits["length"] = min(1.0, self.count("letters") / (self.lines + 1) / _LONG)
        return traits


#: How much of a direction's intimacy is the speaker's own manner; the rest is the other's.
OWN = 0.65
#: How much less a difference of politeness tells of power where strangers' phrases are heard.
SERVICE = 0.7


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature. sign: the one its coefficient must have (+1 raises the dimension).

    counts: the counts of `heard` it rests on. ja, en: how it is said, for a high value and for
    a low one.
    """

    name: str
    sign: int
    counts: tuple[str, ...]
    ja: tuple[str, str]
    en: tuple[str, str]


def _features() -> dict[str, tuple[Feature, ...]]:
    text = (files("naisei.relationship.speech") / "features.toml").read_text(encoding="utf-8")
    return {
        dimension: tuple(
            Feature(
                str(row["name"]),
                int(row["sign"]),
                tuple(row["counts"]),
                (row["ja"][0], row["ja"][1]),
                (row["en"][0], row["en"][1]),
            )
            for row in rows
        )
        for dimension, rows in tomllib.loads(text).items()
    }


#: Dimension → its features, from `features.toml`.
FEATURES = _features()


def values(dimension: str, own: dict[str, float], other: dict[str, float]) -> list[float]:
    """The features of the direction from `own` to `other`, in the order of `FEATURES`.

    own, other: traits of the two sides (`SpeakerFeatures.traits`).
    """
    of = {"Power": _power, "Intimacy": _intimacy, "TaskOriented": _task}[dimension](own, other)
    return [of[f.name] for f in FEATURES[dimension]]


def _power(own: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    # Who serves or does not know the other speaks politely whoever is above.
    rank = 1 - SERVICE * max(own["stranger"], other["stranger"])
    lead = {name: own[name] - other[name] for name in own}
    return {
        "polite": -rank * lead["polite"],
        "honorific": -rank * lead["honorific"],
        "direct": lead["direct"],
        "defer": -rank * (lead["defer"] + 0.5 * lead["comply"]),
        "address": -lead["look_up"],
        "shut": lead["shut"] + 0.3 * lead["refuse"],
        "rough": lead["insult"],
        "press": lead["press"],
        "judge": lead["judge"],
        "answer": -lead["answer"],
        "ask": -lead["ask"],
        "hesitate": -lead["hesitate"],
        "length": lead["length"],
    }


def _intimacy(own: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    mixed = {name: OWN * own[name] + (1 - OWN) * other[name] for name in own}
    # Rough words are play where both talk plainly and neither shuts the other out.
    plain = (1 - own["polite"]) * (1 - other["polite"])
    play = plain * (1 - max(own["shut"], other["shut"], own["hostile"], other["hostile"]))
    return mixed | {
        "praise": mixed["praise"] * (1 - own["defer"]),
        "tease": play * (own["insult"] + other["insult"]),
    }


def _task(own: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    mixed = {name: OWN * own[name] + (1 - OWN) * other[name] for name in own}
    return mixed | {
        "act": (mixed["direct"] + mixed["comply"] + mixed["defer"]) / 3,
        "warm": (mixed["laughter"] + mixed["close"] + mixed["offer"]) / 3,
        "press": mixed["press"] + mixed["shut"],
    }
