"""Counts of an utterance and of a speaker so far, and the features of a direction made of them.

Power is relative: every feature is a difference of the two sides, so that what A has over B is
what B lacks before A. Intimacy is mostly mutual, the task wholly.
"""

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

__all__ = [
    "COUNTS",
    "FEATURES",
    "Feature",
    "SpeakerFeatures",
    "UtteranceFeatures",
    "utterance_features",
    "values",
]


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


FEATURES: dict[str, tuple[Feature, ...]] = {
    "Power": (
        Feature(
            "polite",
            1,
            ("polite", "plain"),
            ("相手のほうが丁寧", "自分のほうが丁寧"),
            ("the other speaks more politely", "speaks more politely than the other"),
        ),
        Feature(
            "honorific",
            1,
            ("honorific",),
            ("相手のほうが敬語を多く使う", "自分のほうが敬語を多く使う"),
            ("the other uses more honorifics", "uses more honorifics than the other"),
        ),
        Feature(
            "direct",
            1,
            ("direct",),
            ("指示・助言・評価が相手より多い", "相手からの指示・助言・評価が多い"),
            ("directs, advises, judges more", "is directed, advised, judged"),
        ),
        Feature(
            "defer",
            1,
            ("defer", "comply"),
            (
                "相手のほうがへりくだる (許可・謝罪・教わる・承知)",
                "自分のほうがへりくだる (許可・謝罪・教わる・承知)",
            ),
            (
                "the other defers (leave, apology, learning, complying)",
                "defers (leave, apology, learning, complying)",
            ),
        ),
        Feature(
            "address",
            1,
            ("addresses",),
            ("相手から目上の呼び方をされる", "相手を目上の呼び方で呼ぶ"),
            ("is addressed as the higher", "addresses the other as the higher"),
        ),
    ),
    "Intimacy": (
        Feature(
            "polite",
            -1,
            ("polite", "plain"),
            ("です・ますで話す", "くだけた文末で話す"),
            ("polite endings", "plain endings"),
        ),
        Feature(
            "honorific",
            -1,
            ("honorific",),
            ("敬語が多い", "敬語が少ない"),
            ("many honorifics", "few honorifics"),
        ),
        Feature(
            "casual",
            1,
            ("casual",),
            ("くだけた助詞・縮約・感動詞が多い", "くだけた言い方が少ない"),
            ("relaxed particles and contractions", "few relaxed forms"),
        ),
        Feature(
            "laughter",
            1,
            ("laughter",),
            ("笑い・遊びがある", "笑いが少ない"),
            ("laughter and play", "little laughter"),
        ),
        Feature(
            "close",
            1,
            ("close",),
            ("自己開示・感情・気づかい・共有の話がある", "自己開示や気づかいが少ない"),
            ("disclosure, feelings, care, shared things", "little disclosure or care"),
        ),
        Feature(
            "near",
            1,
            ("addresses",),
            ("近しい呼び方をする", "距離のある呼び方をする"),
            ("addresses the other as one near", "addresses the other from a distance"),
        ),
        Feature(
            "stranger",
            -1,
            ("stranger",),
            ("初対面・接客の言い方がある", "初対面・接客の言い方が少ない"),
            ("phrases of strangers or service", "few phrases of strangers or service"),
        ),
        Feature(
            "defer",
            -1,
            ("defer",),
            ("かしこまった謝罪・感謝・伺いが多い", "かしこまった言い方が少ない"),
            ("formal apology, thanks, asking leave", "little formal deference"),
        ),
        Feature(
            "hostile",
            -1,
            ("hostile",),
            ("突き放す言い方がある", "突き放す言い方が少ない"),
            ("words that push away", "few words that push away"),
        ),
    ),
    "TaskOriented": (
        Feature(
            "work",
            1,
            ("work",),
            ("用件の言葉・数字・期限が多い", "用件の言葉が少ない"),
            ("words of work, figures, deadlines", "few words of work"),
        ),
        Feature(
            "act",
            1,
            ("direct", "comply", "defer"),
            ("依頼・指示・承知・謝意のやりとりがある", "依頼・指示が少ない"),
            ("requests, instructions, complying, thanks", "few requests or instructions"),
        ),
        Feature(
            "leisure",
            -1,
            ("leisure",),
            ("趣味・食べ物・季節などの話が多い", "趣味などの話が少ない"),
            ("hobbies, food, seasons", "little of hobbies"),
        ),
        Feature(
            "warm",
            -1,
            ("laughter", "close"),
            ("笑い・感情・私的な話が多い", "笑い・感情・私的な話が少ない"),
            ("laughter, feelings, private things", "little laughter or feeling"),
        ),
    ),
}


def values(dimension: str, own: dict[str, float], other: dict[str, float]) -> list[float]:
    """The features of the direction from `own` to `other`, in the order of `FEATURES`.

    own, other: traits of the two sides (`SpeakerFeatures.traits`).
    """
    if dimension == "Power":
        # Who serves or does not know the other speaks politely whoever is above.
        rank = 1 - SERVICE * max(own["stranger"], other["stranger"])
        return [
            rank * (other["polite"] - own["polite"]),
            rank * (other["honorific"] - own["honorific"]),
            own["direct"] - other["direct"],
            rank * (_defers(other) - _defers(own)),
            other["look_up"] - own["look_up"],
        ]
    if dimension == "Intimacy":
        return [OWN * own[f.name] + (1 - OWN) * other[f.name] for f in FEATURES["Intimacy"]]
    both = {name: (own[name] + other[name]) / 2 for name in own}
    return [
        both["work"],
        (both["direct"] + both["comply"] + both["defer"]) / 3,
        both["leisure"],
        (both["laughter"] + both["close"]) / 2,
    ]


def _defers(side: dict[str, float]) -> float:
    return side["defer"] + 0.5 * side["comply"]
