"""The speech estimator: a linear model over cues, updated after each line of a dialogue."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nlargest, nsmallest
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from naisei.lang import say
from naisei.models.embedders.unigram import FastEmbedder
from naisei.relationship.speech.features import (
    CONTENT,
    CONTENTS,
    OF,
    TRAITS,
    Side,
    UtteranceCues,
    utterance_cues,
    values,
)
from naisei.relationship.vector import DIMENSIONS, HIGH, LOW, RelationVector, away_from_zero


@dataclass(frozen=True, slots=True)
class Sign:
    """One trait's contribution. share: in scale points. much: above the average (Power: above the
    partner) or below. lines: the latest (line index, matched text)."""

    dimension: str
    feature: str
    share: float
    much: bool
    lines: tuple[tuple[int, tuple[str, ...]], ...] = ()

    @property
    def words(self) -> str:
        """Describe the trait in the user's language."""
        trait = CONTENTS[self.dimension] if self.feature == CONTENT else TRAITS[self.feature]
        if self.dimension == "Power":
            if self.much:
                return say(f"{trait.ja}が相手より多い", f"{trait.en}: more than the other")
            return say(f"{trait.ja}が相手より少ない", f"{trait.en}: less than the other")
        if self.much:
            return say(f"{trait.ja}が多い", f"{trait.en}: more than usual")
        return say(f"{trait.ja}が少ない", f"{trait.en}: less than usual")


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number of a direction, −3…3; NaN with a `reason` if undecided. score: the clipped sum,
    base + shares of signs + rest, even if it is too close to 0 to report; NaN with too little
    speech. For curves and means.
    """

    value: float
    reason: str = ""
    signs: tuple[Sign, ...] = ()
    score: float = math.nan
    base: float = 0.0

    @property
    def rest(self) -> float:
        """The contribution of unlisted traits and of clipping."""
        if math.isnan(self.score):
            return 0.0
        return self.score - self.base - sum(sign.share for sign in self.signs)

    @property
    def rounded(self) -> int | None:
        """The value rounded to an integer, halves away from 0; `None` for NaN."""
        if math.isnan(self.value):
            return None
        return max(LOW, min(HIGH, away_from_zero(self.value)))


@dataclass(frozen=True, slots=True)
class SpeechReading:
    """The stance of `src` toward `dst`, estimated from speech. estimates: dimension → estimate."""

    src: str
    dst: str
    estimates: dict[str, Estimate] = field(default_factory=dict)

    def __getitem__(self, dimension: str) -> Estimate:
        return self.estimates[dimension]

    @property
    def vector(self) -> RelationVector | None:
        """The integer vector; `None` unless all three numbers are known."""
        found = {name: self.estimates[name].rounded for name in DIMENSIONS}
        if any(value is None for value in found.values()):
            return None
        return RelationVector.model_validate(found)

    def to_json(self) -> dict[str, Any]:
        """Convert to dimension → value, rounded, reason, and signs with their lines; NaN becomes
        `null`."""
        return {
            name: {
                "value": None if math.isnan(one.value) else round(one.value, 3),
                "rounded": one.rounded,
                "reason": one.reason,
                "base": round(one.base, 3),
                "rest": round(one.rest, 3),
                "signs": [
                    {
                        "feature": sign.feature,
                        "share": round(sign.share, 3),
                        "words": sign.words,
                        "lines": [{"line": at, "heard": list(words)} for at, words in sign.lines],
                    }
                    for sign in one.signs
                ],
            }
            for name, one in self.estimates.items()
        }


class Coefficients(BaseModel):
    """A linear model per dimension: value = base + Σ coefficient · (trait − centre).

    bases: dimension → value of an average dialogue; Power has base and centres 0, so that the two
    directions are negatives of each other. bands: values below are not reported. content:
    dimension → weights of a line's vector (`fast`), in thousandths of a point. fitted_on: the
    training data.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    bases: dict[str, float]
    bands: dict[str, float]
    coefficients: dict[str, dict[str, float]]
    centres: dict[str, dict[str, float]]
    content: dict[str, list[int]]
    fitted_on: str = ""

    def contents(self, text: str) -> dict[str, float]:
        """Dimension → contribution of a line's content, in scale points."""
        vector = line_vector(text)
        # Integers times multiples of 2⁻²⁴: the sum is exact, hence the same on every processor.
        return {n: float(vector @ np.array(w)) / 1000 for n, w in self.content.items()}


@lru_cache(maxsize=4096)
def line_vector(text: str) -> npt.NDArray[np.float64]:
    """A line's `FastEmbedder` vector."""
    return FastEmbedder().embed([text]).astype(np.float64).reshape(-1)


@lru_cache(maxsize=4)
def load_coefficients(version: str = "speech.v3") -> Coefficients:
    """The bundled coefficients of this version."""
    path = files("naisei.relationship.speech") / "coefficients" / f"{version}.json"
    return Coefficients.model_validate(json.loads(path.read_text(encoding="utf-8")))


#: Minimum number of a speaker's Japanese characters for an estimate.
LEAST = 8
#: Minimum share of Japanese letters.
_JAPANESE = 0.5
#: Maximum number of signs in an explanation, and their minimum share.
_SIGNS = 4
_LEAST_SHARE = 0.05
#: Maximum number of lines cited for a trait and for content, and of characters per line.
_LINES, _CITED, _SNIPPET = 4, 2, 14


class SpeechEstimator:
    """A running estimate over a dialogue between two speakers.

    Args:
        speakers: the two names or ids used in `add`.
        names: speaker → display name, if different; used for address terms.
    """

    def __init__(
        self,
        speakers: tuple[str, str],
        *,
        names: dict[str, str] | None = None,
        weights: Coefficients | None = None,
    ) -> None:
        if speakers[0] == speakers[1]:
            raise ValueError(f"two speakers are needed, not {speakers[0]!r} twice")
        self.speakers = speakers
        self.names = {s: (names or {}).get(s, s) for s in speakers}
        self._weights = load_coefficients() if weights is None else weights
        self._sides = {s: Side() for s in speakers}
        self._at = 0

    def add(self, speaker: str, text: str) -> None:
        """Add a line. Raises `KeyError` for an unknown speaker."""
        other = self._other(speaker)
        cues = utterance_cues(text, self.names[speaker], self.names[other])
        if self._sides[other].gave_order and "yes" in cues.words:
            cues = UtteranceCues(
                {**cues.counts, "comply": cues.counts.get("comply", 0.0) + 1},
                {**cues.words, "comply": cues.words.get("comply", ()) + cues.words["yes"]},
            )
        self._sides[speaker].add(self._at, text, cues, self._weights.contents(text))
        self._at += 1

    def reading(self, src: str) -> SpeechReading:
        """The reading of `src` toward the other, from all lines so far."""
        dst = self._other(src)
        own, other = self._sides[src], self._sides[dst]
        found: dict[str, Estimate] = {}
        for name in DIMENSIONS:
            sides = (own, other) if name != "Intimacy" else (own,)
            reason = _too_little(self.names[src], sides)
            found[name] = Estimate(math.nan, reason) if reason else self._estimate(name, own, other)
        return SpeechReading(src, dst, found)

    def side(self, speaker: str) -> Side:
        """The counts of a speaker."""
        return self._sides[speaker]

    def _estimate(self, dimension: str, own: Side, other: Side) -> Estimate:
        weights, centres = self._weights.coefficients[dimension], self._weights.centres[dimension]
        lead = {
            name: value - centres[name]
            for name, value in zip(OF[dimension], values(dimension, own, other), strict=True)
        }
        shares = {name: weights[name] * lead[name] for name in lead}
        base = self._weights.bases[dimension]
        largest = sorted(shares, key=lambda name: -abs(shares[name]))[:_SIGNS]
        signs = tuple(
            Sign(dimension, n, shares[n], lead[n] > 0, _lines(dimension, n, lead[n], own, other))
            for n in largest
            if abs(shares[n]) >= _LEAST_SHARE
        )
        score = min(float(HIGH), max(float(LOW), base + math.fsum(shares.values())))
        if abs(score) < self._weights.bands[dimension]:
            why = say(
                "言葉からは読み取れません (手がかりが弱いか、食い違う)",
                "cannot be read from the words (cues are weak, or contradict one another)",
            )
            return Estimate(math.nan, why, signs, score, base)
        return Estimate(score, "", signs, score, base)

    def _other(self, speaker: str) -> str:
        first, second = self.speakers
        return {first: second, second: first}[speaker]


def _lines(
    dimension: str, name: str, lead: float, own: Side, other: Side
) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """The lines that show a trait, or its opposite if the trait is lacking; for Power, from the
    side with more."""
    if name == CONTENT:
        most = nlargest if lead > 0 else nsmallest
        lines = most(_CITED, own.lines, key=lambda line: line[2][dimension])
        return tuple(sorted((at, (text[:_SNIPPET],)) for at, text, _ in lines))
    sides = [own, other] if dimension != "Power" else [own if lead > 0 else other]
    cue = name if lead > 0 or dimension == "Power" else TRAITS[name].lack
    cue = "addresses" if cue in ("near", "look_up") else cue
    found = [ground for side in sides for ground in side.grounds.get(cue, ())]
    return tuple(sorted(found))[-_LINES:]


def _too_little(name: str, sides: Sequence[Side]) -> str:
    """Why the lines of `sides` are insufficient; "" if they suffice."""
    letters = sum(side.sums["letters"] for side in sides)
    japanese = sum(side.sums["japanese"] for side in sides)
    if letters and japanese < _JAPANESE * letters:
        return say(
            "モデルなしで読めるのは日本語だけで、この会話は半分以上がほかの言語です。"
            "モデルに読ませれば、どの言語でも読めます",
            "without a model only Japanese is read, and most of this talk is in another language; "
            "a model reads any language",
        )
    if any(side.sums["japanese"] < LEAST for side in sides):
        return say("まだ発話が少なすぎます", "too little has been said yet")
    return ""


def course(
    lines: Iterable[tuple[str, str]],
    speakers: tuple[str, str],
    *,
    names: dict[str, str] | None = None,
    weights: Coefficients | None = None,
) -> list[tuple[SpeechReading, SpeechReading]]:
    """Estimate both directions after each (speaker, text), from all lines so far."""
    state = SpeechEstimator(speakers, names=names, weights=weights)
    found = []
    for speaker, text in lines:
        state.add(speaker, text)
        found.append((state.reading(speakers[0]), state.reading(speakers[1])))
    return found


def estimate(
    lines: Iterable[tuple[str, str]],
    speakers: tuple[str, str],
    *,
    names: dict[str, str] | None = None,
    weights: Coefficients | None = None,
) -> tuple[SpeechReading, SpeechReading]:
    """Estimate both directions after a whole dialogue: first → second, second → first."""
    state = SpeechEstimator(speakers, names=names, weights=weights)
    for speaker, text in lines:
        state.add(speaker, text)
    return state.reading(speakers[0]), state.reading(speakers[1])
