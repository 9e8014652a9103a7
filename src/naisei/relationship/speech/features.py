"""Cue counts per utterance and speaker, and the features of a direction computed from them.

For Power, each feature is the difference between the two speakers. For Intimacy and TaskOriented,
it is a weighted mean of both, mostly the speaker's own.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict, deque
from dataclasses import dataclass, field
from functools import lru_cache

from naisei.japanese.morph import normalise
from naisei.relationship.speech.cues import begs, cues, hesitates
from naisei.relationship.speech.level import Sentence, casual, japanese_sentences, laughter
from naisei.relationship.speech.politeness import FORMS, Level, addresses, honorifics, level

_LETTER = re.compile(r"[^\W\d_]")
_KANA = re.compile(r"[\u3041-\u30ff\u3400-\u9fff々]")
_SNIPPET = 14


@dataclass(frozen=True, slots=True)
class UtteranceCues:
    """Cues of an utterance. counts: cue → sum of strengths; also `japanese` and `letters`, numbers
    of characters. words: cue → matched text."""

    counts: dict[str, float]
    words: dict[str, tuple[str, ...]]


@lru_cache(maxsize=4096)
def utterance_cues(text: str, by: str = "", to: str = "") -> UtteranceCues:
    """Count the cues of an utterance by `by` to `to` (display names, for address terms)."""
    counts: dict[str, float] = defaultdict(float)
    words: dict[str, list[str]] = {}

    def note(cue: str, matched: str, strength: float = 1.0) -> None:
        counts[cue] += strength
        words.setdefault(cue, []).append(matched)

    for found in laughter(normalise(text)):
        note("laughter", found.text)
    if hesitates(text):
        note("hesitate", "…")
    begging = begs(text)
    for at, sentence in enumerate(japanese_sentences(text)):
        counts["sentences"] += 1
        if (how := level(sentence)) is not Level.NONE:
            note(how.value, _end(sentence))
        acts = cues(sentence, begging=begging)
        for found in acts:
            # Only a leading "yes" is an answer.
            if found.cue != "yes" or at == 0:
                note(found.cue, found.text, found.strength)
        # Honorifics in a rejection do not show respect.
        if not any(found.cue == "shut" for found in acts):
            for found in honorifics(sentence):
                note("honorific", found.text)
        for found in casual(sentence):
            note("casual", found.text)
        for form, matched in addresses(sentence.text, to=to, by=by):
            note("addresses", matched)
            counts["look_up"] += FORMS[form].deference
            counts["near"] += FORMS[form].closeness
    counts["japanese"] = float(len(_KANA.findall(text)))
    counts["letters"] = float(len(_LETTER.findall(text)))
    return UtteranceCues(dict(counts), {cue: tuple(matched) for cue, matched in words.items()})


def _end(sentence: Sentence) -> str:
    """The end of a sentence, which shows its politeness, starting at a token."""
    if len(sentence.text) <= _SNIPPET:
        return sentence.text
    tail = ""
    for word in reversed(sentence.words):
        if len(tail) + len(word.surface) >= _SNIPPET and tail:
            break
        tail = word.surface + tail
    return f"…{tail}"


@dataclass(frozen=True, slots=True)
class Trait:
    """A trait of speech. ja, en: display names. scale: rate per sentence at which the trait reaches
    63 % of its maximum. lack: the opposite cue."""

    name: str
    ja: str
    en: str
    scale: float = 0.3
    lack: str = ""


#: The trait computed from sentence vectors by a dimension's weights.
CONTENT = "content"
TRAITS = {
    trait.name: trait
    for trait in (
        Trait("polite", "です・ますの文末", "polite endings", lack="plain"),
        Trait("honorific", "敬語", "honorifics", 0.8),
        Trait("near", "近しい呼び方", "familiar address"),
        Trait("look_up", "目上の呼び方", "respectful address"),
        Trait("length", "話す量", "length"),
        Trait("command", "指示・命令", "commands"),
        Trait("request", "「〜てください」", "requests"),
        Trait("plead", "頼み込むことば", "pleading"),
        Trait("evaluation", "評価・注意", "evaluation"),
        Trait("deciding", "決める・断ることば", "deciding"),
        Trait("grant", "許すことば", "permission"),
        Trait("comply", "指示への承知", "compliance"),
        Trait("shut", "突き放すことば", "rejection", 0.2),
        Trait("hostile", "責める・拒むことば", "hostile words"),
        Trait("hesitate", "言いよどみ", "hesitation"),
        Trait("stranger", "初対面・接客のことば", "phrases between strangers", 0.4),
        Trait("question", "質問", "questions"),
        Trait("casual", "くだけた言い方", "casual forms", 0.7),
        Trait("laughter", "笑い", "laughter", 0.4),
    )
}
#: The content trait of each dimension.
CONTENTS = {
    "Intimacy": Trait(CONTENT, "打ち解けた話", "familiar talk"),
    "TaskOriented": Trait(CONTENT, "用件の話", "business"),
}
#: Dimension → its traits, in the order of the coefficients.
OF: dict[str, tuple[str, ...]] = {
    "Power": (
        *("polite", "look_up", "length", "command", "request", "plead", "evaluation"),
        *("deciding", "grant", "comply", "shut", "hesitate", "stranger", "question"),
    ),
    "Intimacy": (
        *("polite", "honorific", "near", "casual", "laughter", "shut", "hostile", "question"),
        CONTENT,
    ),
    "TaskOriented": (
        *("polite", "casual", "laughter", "command", "request", "comply", "question", "deciding"),
        CONTENT,
    ),
}
#: Number of characters per utterance at which the length saturates.
_LONG = 50
#: Number of latest lines stored per cue as evidence.
_LINES = 4
#: Half-life of recent counts, in the speaker's lines.
HALF = 3.0
_FADING = 0.5 ** (1 / HALF)


@dataclass(slots=True)
class Side:
    """Running counts of one speaker. sums: over all lines. recent: with exponential decay.
    gave_order: whether the latest line contains an order or a judgement. Adding a line takes
    constant time."""

    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    recent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    grounds: dict[str, deque[tuple[int, tuple[str, ...]]]] = field(default_factory=dict)
    lines: list[tuple[int, str, dict[str, float]]] = field(default_factory=list)
    gave_order: bool = False

    def add(self, at: int, text: str, cues: UtteranceCues, contents: dict[str, float]) -> None:
        """Add line `at` of the dialogue. contents: dimension → content contribution."""
        counts = {**cues.counts, "lines": 1.0, **{f"{CONTENT} {n}": v for n, v in contents.items()}}
        for cue in self.recent:
            self.recent[cue] *= _FADING
        for cue, count in counts.items():
            self.sums[cue] += count
            self.recent[cue] += count
        for cue, words in cues.words.items():
            self.grounds.setdefault(cue, deque(maxlen=_LINES)).append((at, words))
        self.lines.append((at, text, contents))
        # A "yes" to an order is compliance.
        self.gave_order = any(cue in cues.words for cue in ("command", "request", "evaluation"))

    def traits(self, dimension: str = "Power") -> dict[str, float]:
        """The traits for a dimension, shrunk toward neutral values for few lines.

        polite: share of polite endings, 0–1. look_up, near: deference (about −1…2) and closeness
        (−1…1) of address terms. length: of utterances, 0–1. content: in scale points. All others:
        0–1, saturating with the rate per sentence.
        """
        sums = self.recent if dimension == "TaskOriented" else self.sums
        sentences = sums["sentences"] + 1
        out = {
            name: 1 - math.exp(-sums[name] / sentences / trait.scale)
            for name, trait in TRAITS.items()
        }
        ended = sums["polite"] + sums["plain"]
        out["polite"] = (sums["polite"] + 0.5) / (ended + 1)
        out["look_up"] = (sums["look_up"] + 0.1) / (sums["addresses"] + 0.5)
        out["near"] = sums["near"] / (sums["addresses"] + 0.5)
        out["length"] = min(1.0, sums["letters"] / (sums["lines"] + 1) / _LONG)
        out[CONTENT] = sums[f"{CONTENT} {dimension}"] / (sums["lines"] + 0.5)
        return out


#: Weight of the speaker's own traits; the rest is the partner's.
OWN = 0.65


def values(dimension: str, own: Side, other: Side) -> list[float]:
    """The features of the direction from `own` to `other`, in the order of `OF`."""
    mine, theirs = own.traits(dimension), other.traits(dimension)
    if dimension == "Power":
        return [mine[name] - theirs[name] for name in OF[dimension]]
    return [OWN * mine[name] + (1 - OWN) * theirs[name] for name in OF[dimension]]
