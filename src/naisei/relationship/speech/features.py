"""Counts of an utterance and of a speaker so far, and the traits of a direction made of them.

Power is relative: each trait counts as the difference of the two sides. Intimacy and the task are
mostly the speaker's own, and partly mutual.
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
    """Counts of an utterance. counts: of each cue, weighted by strength where it has one; japanese,
    letters: numbers of characters. words: cue → matched words."""

    counts: dict[str, float]
    words: dict[str, tuple[str, ...]]


@lru_cache(maxsize=4096)
def utterance_cues(text: str, by: str = "", to: str = "") -> UtteranceCues:
    """Count an utterance of `by` to `to` (display names, for the address terms)."""
    counts: dict[str, float] = defaultdict(float)
    words: dict[str, list[str]] = {}

    def note(cue: str, said: str, strength: float = 1.0) -> None:
        counts[cue] += strength
        words.setdefault(cue, []).append(said)

    for found in laughter(normalise(text)):
        note("laughter", found.text)
    if hesitates(text):
        note("hesitate", "…")
    begging = begs(text)
    for at, sentence in enumerate(japanese_sentences(text)):
        counts["sentences"] += 1
        if (how := level(sentence)) is not Level.NONE:
            note(how.value, _end(sentence))
        shown = cues(sentence, begging=begging)
        for found in shown:
            # A leading yes is an answer.
            if found.cue != "yes" or at == 0:
                note(found.cue, found.text, found.strength)
        # Polite words that shut the other out honour nobody.
        if not any(found.cue == "shut" for found in shown):
            for found in honorifics(sentence):
                note("honorific", found.text)
        for found in casual(sentence):
            note("casual", found.text)
        for form, said in addresses(sentence.text, to=to, by=by):
            note("addresses", said)
            counts["look_up"] += FORMS[form].deference
            counts["near"] += FORMS[form].closeness
    counts["japanese"] = float(len(_KANA.findall(text)))
    counts["letters"] = float(len(_LETTER.findall(text)))
    return UtteranceCues(dict(counts), {cue: tuple(said) for cue, said in words.items()})


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


@dataclass(frozen=True, slots=True)
class Trait:
    """A trait of speech. ja, en: its name. scale: rate per sentence that gives two thirds of the
    maximum. lack: the opposite cue."""

    name: str
    ja: str
    en: str
    scale: float = 0.3
    lack: str = ""


#: The content of the lines: their vectors against weights of a dimension.
CONTENT = "content"
TRAITS = {
    trait.name: trait
    for trait in (
        Trait("polite", "です・ますの文末", "polite endings", lack="plain"),
        Trait("honorific", "敬語", "honorifics", 0.8),
        Trait("near", "近しい呼び方", "names of somebody near"),
        Trait("look_up", "目上の呼び方", "names of somebody above"),
        Trait("length", "話す量", "length"),
        Trait("command", "指示・命令", "commands"),
        Trait("request", "「〜てください」", "requests"),
        Trait("plead", "頼み込むことば", "begging"),
        Trait("evaluation", "評価・注意", "judging"),
        Trait("deciding", "決める・断ることば", "deciding"),
        Trait("grant", "許すことば", "leave given"),
        Trait("comply", "指示への承知", "obeying"),
        Trait("shut", "突き放すことば", "shutting out", 0.2),
        Trait("hostile", "責める・拒むことば", "hostile words"),
        Trait("hesitate", "言いよどみ", "faltering"),
        Trait("stranger", "初対面・接客のことば", "phrases of strangers", 0.4),
        Trait("question", "質問", "questions"),
        Trait("casual", "くだけた言い方", "relaxed forms", 0.7),
        Trait("laughter", "笑い", "laughter", 0.4),
    )
}
#: Names of the content trait by dimension.
CONTENTS = {
    "Intimacy": Trait(CONTENT, "打ち解けた話", "familiar talk"),
    "TaskOriented": Trait(CONTENT, "用件の話", "business"),
}
#: The traits of each dimension, in the order of its coefficients.
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
#: Characters per utterance at which the length saturates.
_LONG = 50
#: Number of latest lines stored per cue as evidence.
_LINES = 4
#: Half-life in own lines of the content trait.
HALF = 3.0
_FADING = 0.5 ** (1 / HALF)


@dataclass(slots=True)
class Side:
    """Running counts of one side: sums over all lines, and over the latest.

    Adding a line takes constant time, so that a dialogue can be read turn by turn.
    """

    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    recent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    grounds: dict[str, deque[tuple[int, tuple[str, ...]]]] = field(default_factory=dict)
    lines: list[tuple[int, str, dict[str, float]]] = field(default_factory=list)
    told: bool = False

    def add(self, at: int, text: str, said: UtteranceCues, contents: dict[str, float]) -> None:
        """Add the line at index `at` of the dialogue. contents: dimension → its content."""
        counts = {**said.counts, "lines": 1.0, **{f"{CONTENT} {n}": v for n, v in contents.items()}}
        for cue in self.recent:
            self.recent[cue] *= _FADING
        for cue, count in counts.items():
            self.sums[cue] += count
            self.recent[cue] += count
        for cue, words in said.words.items():
            self.grounds.setdefault(cue, deque(maxlen=_LINES)).append((at, words))
        self.lines.append((at, text, contents))
        # A yes after an order is compliance.
        self.told = any(cue in said.words for cue in ("command", "request", "evaluation"))

    def traits(self, dimension: str = "Power") -> dict[str, float]:
        """The traits for a dimension, each shrunk toward the unremarkable while little was said.

        polite: share of polite endings, 0–1. look_up: how the other is called, about −1…2, 0.2
        where unknown; near: likewise, −1…1. length: of an utterance, 0–1. content: in points of
        the scale. All others: 0–1, saturating with the rate per sentence.
        """
        sums = self.recent if dimension == "TaskOriented" else self.sums
        said = sums["sentences"] + 1
        out = {
            name: 1 - math.exp(-sums[name] / said / trait.scale) for name, trait in TRAITS.items()
        }
        ended = sums["polite"] + sums["plain"]
        out["polite"] = (sums["polite"] + 0.5) / (ended + 1)
        out["look_up"] = (sums["look_up"] + 0.1) / (sums["addresses"] + 0.5)
        out["near"] = sums["near"] / (sums["addresses"] + 0.5)
        out["length"] = min(1.0, sums["letters"] / (sums["lines"] + 1) / _LONG)
        out[CONTENT] = sums[f"{CONTENT} {dimension}"] / (sums["lines"] + 0.5)
        return out


#: Weight of the speaker's own manner; the rest is the other's.
OWN = 0.65


def values(dimension: str, own: Side, other: Side) -> list[float]:
    """The features of the direction from `own` to `other`, in the order of `OF`."""
    mine, theirs = own.traits(dimension), other.traits(dimension)
    if dimension == "Power":
        return [mine[name] - theirs[name] for name in OF[dimension]]
    return [OWN * mine[name] + (1 - OWN) * theirs[name] for name in OF[dimension]]
